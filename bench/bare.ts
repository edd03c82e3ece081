import { createServer, type ServerResponse } from 'node:http';
import { argv } from 'node:process';
import { HTTP_LIMITS } from '../src/http/server.ts';
import { type Answer, without } from './request.ts';

// The upper limit on this runtime: a server that sends the bytes of the service and does no work. It reads and parses
// bodies, because every server must. It uses the fast features of Node.js that the service uses: bodies encoded once,
// and no stream for a request without a body.
// Run as `node bare.ts PORT ANSWERS`; ANSWERS is JSON with one answer for each method.

const [, , port, json] = argv;
const { GET, POST } = JSON.parse(json ?? '') as Readonly<Partial<Record<'GET' | 'POST', Answer>>>;

const { keepAliveTimeout } = HTTP_LIMITS;
const server = createServer({ keepAliveTimeout, optimizeEmptyRequests: true }, (request, response) => {
  if (request.method === 'GET') {
    answerGet(response);
    return;
  }
  let received = '';
  request.setEncoding('utf8');
  request.on('data', (chunk: string) => {
    received += chunk;
  });
  request.on('end', () => {
    JSON.parse(received);
    answerPost(response);
  });
});
const answerGet = answerWith(GET);
const answerPost = answerWith(POST);
server.listen(Number(port), '127.0.0.1');

function answerWith(answer: Answer = { status: 405, headers: [], body: '' }) {
  const { status, headers, body } = answer;
  // Node.js adds these two, and Date, by itself.
  const fields = without(headers, ['connection', 'keep-alive']);
  const octets = Buffer.from(body).toString('latin1');
  return (response: ServerResponse) => {
    response.writeHead(status, fields);
    response.end(octets, 'latin1');
  };
}
