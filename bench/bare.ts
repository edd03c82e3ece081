import { createServer, type ServerResponse } from 'node:http';
import { argv } from 'node:process';
import { HTTP_LIMITS } from '../src/http/server.ts';
import { type Answer, without } from './request.ts';

// The limit on this runtime: gives the service's own answer, byte for byte, with no work at all. A body is read and
// parsed, for no server could do without. Run as `node bare.ts PORT ANSWER`, the answer in JSON.

const [, , port, json] = argv;
const { status, headers, body } = JSON.parse(json ?? '') as Answer;
const fields = without(headers, ['connection', 'keep-alive']);

const server = createServer({ keepAliveTimeout: HTTP_LIMITS.keepAliveTimeout }, (request, response) => {
  if (request.method === 'GET') {
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

function answer(response: ServerResponse): void {
  response.writeHead(status, fields);
  response.end(body);
}
