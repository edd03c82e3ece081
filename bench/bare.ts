import { createServer, type ServerResponse } from 'node:http';
import { argv } from 'node:process';
import { HTTP_LIMITS } from '../src/http/server.ts';
import { type Answer, kindOf, without } from './request.ts';

// The upper limit on this runtime: a server that sends the bytes of the service and does no work. It reads and parses
// bodies, because every server must. It uses the fast features of Node.js that the service uses: bodies encoded once,
// and no stream for a request without a body.
// Run as `node bare.ts PORT ANSWERS`; ANSWERS is JSON with an answer for each kind of request.

const [, , port, json] = argv;
const given = JSON.parse(json ?? '') as Readonly<Record<string, Answer>>;
const answers = Object.fromEntries(Object.entries(given).map(([kind, answer]) => [kind, answerWith(answer)]));

const { keepAliveTimeout } = HTTP_LIMITS;
const server = createServer({ keepAliveTimeout, optimizeEmptyRequests: true }, (request, response) => {
  const { method = '', url = '' } = request;
  const { [kindOf(method, url)]: answer = unknown } = answers;
  if (request.headers['content-type'] === undefined) {
    answer(response);
    return;
  }
  let received = '';
  request.setEncoding('utf8');
  request.on('data', (chunk: string) => {
    received += chunk;
  });
  request.on('end', () => {
    JSON.parse(received);
    answer(response);
  });
});
server.listen(Number(port), '127.0.0.1');

function unknown(response: ServerResponse): void {
  response.writeHead(405).end();
}

function answerWith({ status, headers, body }: Answer) {
  // Node.js adds these two, and Date, by itself.
  const fields = without(headers, ['connection', 'keep-alive']);
  const octets = Buffer.from(body).toString('latin1');
  return (response: ServerResponse) => {
    response.writeHead(status, fields);
    response.end(octets, 'latin1');
  };
}
