// Changes on one connection. Contract: sections 3.9 and 3.10.
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import { test, type TestContext } from 'node:test';
import { call, raw } from '../support/api.ts';
import { startTestService } from '../support/service.ts';

const REX = '{"name":"Rex","categoryId":7}';

/** A service with animal 1, and a function that writes a request to it with this body. */
async function start(t: TestContext) {
  const service = await startTestService(t);
  const key = await service.issueKey();
  await call(service.url, '/v1/pets', { key, body: REX });
  const head = (method: string) =>
    `${method} /v1/pets/1 HTTP/1.1\r\nHost: a.example\r\nAuthorization: Bearer ${key}\r\n`;
  const request = (method: string, body = '') =>
    `${head(method)}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const last = `${head('GET')}Connection: close\r\n\r\n`;
  return { service, head, request, last };
}

/** The statuses of responses that follow one another. */
function statuses(responses: string): string[] {
  return [...responses.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status = '']) => status);
}

test('pipelined changes happen in their order, and a 204 ends at its header block', async (t) => {
  const { service, request, last } = await start(t);
  const answers = await raw(
    service.url,
    request('PATCH', '{"name":"A"}') +
      request('GET') +
      request('PATCH', '{"name":"B"}') +
      request('DELETE') +
      request('PATCH', '{"name":"C"}') +
      last,
  );
  assert.deepEqual(statuses(answers), ['200', '200', '200', '204', '404', '404']);
  assert.deepEqual(answers.match(/"name":"\w"/g), ['"name":"A"', '"name":"A"', '"name":"B"']);
  const [, afterDelete = ''] = answers.split('HTTP/1.1 204 ');
  assert.match(afterDelete, /^No Content\r\n(?:[^\r\n]+\r\n)+\r\nHTTP\/1\.1 404 /);
  assert.doesNotMatch(afterDelete.split('\r\n\r\n')[0] ?? '', /^(?:Content-|Transfer-Encoding)/im);
});

test('the connection goes on after a DELETE with a body, which deletes nothing', async (t) => {
  const { service, head, request, last } = await start(t);
  const chunked = `${head('DELETE')}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`;
  const answers = await raw(service.url, request('DELETE', '{}') + chunked + last);
  assert.deepEqual(statuses(answers), ['400', '400', '200']);
});

test('a DELETE with a body that arrives later is refused, and the connection goes on', async (t) => {
  const { service, head, last } = await start(t);
  const { port } = new URL(service.url);
  const client = connect(Number(port), '127.0.0.1');
  const answered = textOf(client);
  client.write(`${head('DELETE')}Content-Length: 40000\r\n\r\n`);
  // The service has read it before the body comes: another connection is answered.
  await call(service.url, '/healthz');
  client.write(' '.repeat(40_000) + last);
  assert.deepEqual(statuses(await answered), ['400', '200']);
});
