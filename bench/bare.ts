import { createServer, type ServerResponse } from 'node:http';
import { argv } from 'node:process';
import { HTTP_LIMITS } from '../src/http/server.ts';
import { type Answer, without } from './request.ts';

// The limit on this runtime: gives the service's own answers, byte for byte, with no work at all. A body is read and
// parsed, for no server could do without. What Node.js offers to be faster it uses as the service does: bodies whose
// octets are made once, and no stream for a request without a body.
// Run as `node bare.ts PORT ANSWERS`: in JSON, one for each method.

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
const answerGet = answering(GET);
const answerPost = answering(POST);
server.listen(Number(port), '127.0.0.1');

function answering(
  answer: Answer = { status: 405, headers: [], body: '' },
): (response: ServerResponse) => void {
  const { status, headers, body } = answer;
  // Node.js adds these two, and Date, by itself.
  const fields = without(headers, ['connection', 'keep-alive']);
  const octets = Buffer.from(body).toString('latin1');
  return (response) => {
    response.writeHead(status, fields);
    response.end(octets, 'latin1');
  };
}
