import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import type { Server } from '../src/server.ts';
import { fields, NO_FIELDS, octets } from '../src/text.ts';
import { NodeResponse } from '../src/response.ts';
import { onRequest, raw } from './support.ts';

const HEADERS = ['Content-Type', 'text/plain; charset=utf-8', 'X-Request-Id', 'a-1', 'ETag', '"x"'];

/** What a server that answers so gives to these bytes, without the time; and how many of Node's responses it took. */
async function answer(
  t: TestContext,
  bytes: string,
  listen: (server: Server) => void,
): Promise<{ text: string; nodeResponses: number }> {
  let nodeResponses = 0;
  class Counted<R extends IncomingMessage> extends NodeResponse<R> {
    constructor(request: R) {
      super(request);
      nodeResponses++;
    }
  }
  const server: Server = createServer({ IncomingMessage, ServerResponse: Counted });
  listen(server);
  server.listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const text = await raw(`http://127.0.0.1:${port}`, bytes);
  server.closeAllConnections();
  return { text: text.replaceAll(/^Date: .* GMT$/gm, 'Date: now'), nodeResponses };
}

const HOST = 'Host: a.example\r\n';

const CLOSE = `${HOST}Connection: close\r\n`;

/** What is asked, and for how many of the requests Node must make a response. */
const REQUESTS = {
  'a GET that closes': [`GET / HTTP/1.1\r\n${CLOSE}\r\n`, 1],
  'two GETs on one connection': [`GET / HTTP/1.1\r\n${HOST}\r\nGET / HTTP/1.1\r\n${CLOSE}\r\n`, 1],
  'HTTP/1.0': ['GET / HTTP/1.0\r\n\r\n', 1],
  'HTTP/1.0 that stays': ['GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\nGET / HTTP/1.0\r\n\r\n', 2],
  'a HEAD': [`HEAD / HTTP/1.1\r\n${HOST}\r\nHEAD / HTTP/1.1\r\n${CLOSE}\r\n`, 2],
  'a POST': [`POST / HTTP/1.1\r\n${CLOSE}Content-Length: 2\r\n\r\nhi`, 1],
  'POSTs by length and by chunks': [
    `POST / HTTP/1.1\r\n${HOST}Content-Length: 2\r\n\r\nhi` +
      `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n` +
      `POST / HTTP/1.1\r\n${CLOSE}Content-Length: 2\r\n\r\nhi`,
    1,
  ],
} as const;

const REPLIES = {
  'a body': [200, 'plain'],
  'a body beyond ASCII': [200, 'Zoé'],
  'wide characters': [201, 'Žofie 🐈'],
  'a body of bytes': [404, Buffer.from([1, 2, 0xff])],
  'an empty body': [200, ''],
  'no body': [204, undefined],
  'no body, as known': [304, undefined],
  'its length only': [304, 'known'],
  'no body, as it moved': [308, undefined],
} as const;

const TIMES: Readonly<Record<string, (respond: () => void) => void>> = {
  'at once': (respond) => respond(),
  later: (respond) => setImmediate(() => setImmediate(respond)),
};

for (const [request, [bytes, unusual]] of Object.entries(REQUESTS)) {
  for (const [reply, [status, body]] of Object.entries(REPLIES)) {
    for (const [time, at] of Object.entries(TIMES)) {
      // RFC 9112, section 6.
      test(`${request}: ${reply} (${status}) ${time} as from Node`, async (t) => {
        const ours = await answer(t, bytes, (server) => {
          onRequest(server, (message, response) => {
            at(() =>
              response.send(status, fields(...HEADERS), typeof body === 'string' ? octets(body) : body),
            );
            message.resume();
          });
        });
        const theirs = await answer(t, bytes, (server) => {
          server.on('request', (message, response) => {
            const length = body === undefined ? [] : ['Content-Length', `${Buffer.byteLength(body)}`];
            response.writeHead(status, [...HEADERS, ...length]);
            response.end(message.method === 'HEAD' ? undefined : body);
            message.resume();
          });
        });
        assert.deepEqual(sorted(ours.text), sorted(theirs.text));
        assert.ok(ours.text.startsWith(`HTTP/1.1 ${status} `));
        const isUsual = typeof body === 'string' ? status < 300 : status === 204 || (status === 304 && !body);
        // HTTP/1.0 ends with an answer that has no length.
        const answers = ours.text.match(/HTTP\/1\.1 \d{3} /g)?.length ?? 0;
        if (isUsual) assert.equal(ours.nodeResponses, Math.min(unusual, answers));
        else assert.ok(ours.nodeResponses >= answers);
      });
    }
  }
}

// RFC 9112, section 9.6.
test('the last answer on a connection says so', async (t) => {
  const { text, nodeResponses } = await answer(t, `GET / HTTP/1.1\r\n${HOST}\r\n`, (server) => {
    onRequest(server, (_, response) => {
      response.shouldKeepAlive = false;
      response.send(200, NO_FIELDS, octets('hi'));
    });
  });
  assert.match(text, /\r\nConnection: close\r\n[^]*hi$/);
  assert.equal(nodeResponses, 1);
});

/** The lines in order of the alphabet: that of the fields in a head does not matter. */
function sorted(text: string): readonly string[] {
  return text.split('\r\n').toSorted();
}
