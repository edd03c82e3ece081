import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { fields, namesAndValues } from '../../src/http/fields.ts';
import { octets } from '../../src/http/octets.ts';
import { FieldsResponse } from '../../src/http/response.ts';
import { raw } from '../support/api.ts';

const HEADERS = ['Content-Type', 'text/plain; charset=utf-8', 'X-Request-Id', 'a-1', 'ETag', '"x"'];

/** What a server that answers so gives to these bytes: its lines in order of the alphabet. */
async function answer(
  t: TestContext,
  bytes: string,
  respond: (response: FieldsResponse, request: IncomingMessage) => void,
): Promise<readonly string[]> {
  const server = createServer({ IncomingMessage, ServerResponse: FieldsResponse }, (request, response) => {
    // It could be another second at the next answer.
    response.sendDate = false;
    respond(response, request);
    request.resume();
  });
  server.listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const received = await raw(`http://127.0.0.1:${port}`, bytes);
  server.closeAllConnections();
  return received.split('\r\n').toSorted();
}

const HOST = 'Host: a.example\r\n';

const REQUESTS = {
  'a GET that closes': `GET / HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`,
  'two GETs on one connection': `GET / HTTP/1.1\r\n${HOST}\r\nGET / HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`,
  'HTTP/1.0': 'GET / HTTP/1.0\r\n\r\n',
  'HTTP/1.0 that stays': `GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\nGET / HTTP/1.0\r\n\r\n`,
  'a HEAD': `HEAD / HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`,
  'a POST': `POST / HTTP/1.1\r\n${HOST}Content-Length: 2\r\nConnection: close\r\n\r\nhi`,
};

const REPLIES = {
  'a body': [200, 'plain'],
  'a body beyond ASCII': [200, 'Zoé'],
  'a body of wide characters': [201, 'Žofie 🐈'],
  'a body of bytes': [404, Buffer.from([1, 2, 0xff])],
  'an empty body': [200, ''],
  'no body': [204, undefined],
  'no body, for it is known': [304, undefined],
} as const;

for (const [request, bytes] of Object.entries(REQUESTS)) {
  for (const [reply, [status, body]] of Object.entries(REPLIES)) {
    test(`RFC 9112 §6: ${request} gets ${reply} (${status}) as Node itself would write it`, async (t) => {
      const ours = await answer(t, bytes, (response) => {
        response.send(status, fields(...HEADERS), typeof body === 'string' ? octets(body) : body);
      });
      const theirs = await answer(t, bytes, (response, { method }) => {
        const length = body === undefined ? [] : ['Content-Length', `${Buffer.byteLength(body)}`];
        response.writeHead(status, [...HEADERS, ...length]);
        response.end(method === 'HEAD' ? undefined : body);
      });
      assert.deepEqual(ours, theirs);
      assert.ok(ours.some((line) => line.includes(`HTTP/1.1 ${status} `)));
    });
  }
}

test('RFC 9110 §5.5: a value that could end its line makes no field', () => {
  for (const value of ['a\r\nX-Evil: 1', 'a\nb', 'a\0', 'Ž'])
    assert.throws(() => fields('X-A', value), TypeError);
});

test('the names and values of fields come back as they were given', () => {
  assert.deepEqual(namesAndValues(fields(...HEADERS, 'Link', '<a>; rel="next"')), [
    ...HEADERS,
    'Link',
    '<a>; rel="next"',
  ]);
  assert.deepEqual(namesAndValues(''), []);
});
