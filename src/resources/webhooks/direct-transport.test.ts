// Contract: section 13.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { createServer } from 'node:net';
import type { TestContext } from 'node:test';
import type { SecureVersion, TLSSocket } from 'node:tls';
import { promisify } from 'node:util';
import { Webhook } from 'standardwebhooks';
import { makeCertificate, startOpenssl, writeGroup } from '../../../test/support/openssl.ts';
import { until } from '../../../test/support/until.ts';
import { test } from '../../../test/support/test.ts';
import { DirectTransport } from './direct-transport.ts';
import { signMessage } from './message.ts';
import type { TransportSettings } from './transport.ts';

const SECRETS = [1, 2].map((n) => `whsec_${Buffer.alloc(32, n).toString('base64')}`);
const clock = () => ({ unix: Date.now(), monotonic: performance.now() });
const LOCAL = { address: '127.0.0.1', family: 4 } as const;

async function serve(t: TestContext, answer: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('data', () => answer(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

function openTransport(t: TestContext, settings: Partial<TransportSettings> = {}) {
  const transport = new DirectTransport({ clock, allowPrivate: true, ...settings });
  t.after(() => transport.close());
  const post = (url: string, { webhookId = 1, time = 60_000 } = {}) =>
    transport.post({
      webhookId,
      url,
      address: LOCAL,
      id: 'e1',
      body: '{}',
      secrets: SECRETS,
      at: Date.now(),
      time,
    });
  return { transport, post };
}

const urlAt = (port: number, scheme = 'http') => `${scheme}://shop.example:${port}/hook`;

function flood(socket: Socket, head: string, chunk: string) {
  socket.write(head);
  const more = () => {
    while (!socket.destroyed && socket.write(chunk));
  };
  socket.on('drain', more);
  more();
}

const TAKEN = { status: 204, retryAfter: undefined };
const NO_HTTP = { failure: 'invalid_answer' };

const INTERIM = 'HTTP/1.1 103 Early Hints\r\nlink: </a.css>\r\n\r\n';

const ANSWERS: [string, (socket: Socket) => void, object, time?: number][] = [
  ['204', (s) => s.end('HTTP/1.1 204 x\r\n\r\n'), TAKEN],
  ['410', (s) => s.end('HTTP/1.1 410 x\r\n\r\n'), { status: 410, retryAfter: undefined }],
  [
    '429 with Retry-After',
    (s) => s.end('HTTP/1.1 429 x\r\nretry-after: 7\r\n\r\n'),
    { status: 429, retryAfter: 7_000 },
  ],
  [
    'a redirect, which is not followed',
    (s) => s.end('HTTP/1.1 302 x\r\nlocation: http://127.0.0.1:1/\r\n\r\n'),
    { status: 302, retryAfter: undefined },
  ],
  ['a hang', () => undefined, { failure: 'timeout' }, 100],
  ['a part of the headers', (s) => void s.write('HTTP/1.1 200 x\r\nx: '), { failure: 'timeout' }, 100],
  ['a reset', (s) => s.resetAndDestroy(), { failure: 'connection_failed' }],
  ['a close', (s) => s.end(), { failure: 'connection_failed' }],
  [
    'a close after the headers',
    (s) => s.end('HTTP/1.1 200 x\r\ncontent-length: 9\r\n\r\n'),
    { status: 200, retryAfter: undefined },
  ],
  ['a close within the status', (s) => s.end('HTTP/1.1 20'), { failure: 'connection_failed' }],
  ['another protocol', (s) => s.end('SSH-2.0-OpenSSH_10.0\r\n'), NO_HTTP],
  ['the hello of TLS', (s) => s.end(Buffer.from('160301000100', 'hex')), NO_HTTP],
  ['a body alone', (s) => s.end('<html>ok</html>'), NO_HTTP],
  ['a version that there is not', (s) => s.end('HTTP/9.9 204 x\r\n\r\n'), NO_HTTP],
  ['a header without a colon', (s) => s.end('HTTP/1.1 204 x\r\nno colon\r\n\r\n'), NO_HTTP],
  ['two lengths', (s) => s.end('HTTP/1.1 200 x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n'), NO_HTTP],
  ['endless headers', (s) => flood(s, 'HTTP/1.1 200 x\r\n', `x: ${'a'.repeat(1_000)}\r\n`), NO_HTTP],
  ['an endless reason', (s) => flood(s, 'HTTP/1.1 200 ', 'a'.repeat(1_000)), NO_HTTP],
  ['an unasked 100', (s) => s.end('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 x\r\n\r\n'), TAKEN],
  ['unasked 1xx', (s) => s.end(`${INTERIM.repeat(10)}HTTP/1.1 204 x\r\n\r\n`), TAKEN],
  ['eleven 1xx', (s) => s.end(`${INTERIM.repeat(11)}HTTP/1.1 204 x\r\n\r\n`), NO_HTTP],
  ['endless 1xx', (s) => flood(s, INTERIM, INTERIM.repeat(100)), NO_HTTP],
  [
    'headers of nearly 64 KiB',
    (s) => s.end(`HTTP/1.1 200 x\r\nx: ${'a'.repeat(65_000)}\r\n\r\n`),
    { status: 200, retryAfter: undefined },
  ],
  ['headers beyond 64 KiB', (s) => s.end(`HTTP/1.1 200 x\r\nx: ${'a'.repeat(66_000)}\r\n\r\n`), NO_HTTP],
  ['a reason beyond 64 KiB', (s) => s.end(`HTTP/1.1 200 ${'a'.repeat(66_000)}\r\n\r\n`), NO_HTTP],
  [
    'ten 1xx with headers of 7 KB',
    (s) => s.end(`${`HTTP/1.1 103 x\r\nx: ${'a'.repeat(7_000)}\r\n\r\n`.repeat(10)}HTTP/1.1 204 x\r\n\r\n`),
    NO_HTTP,
  ],
  [
    'ten 1xx with reasons of 7 KB',
    (s) => s.end(`${`HTTP/1.1 103 ${'a'.repeat(7_000)}\r\n\r\n`.repeat(10)}HTTP/1.1 204 x\r\n\r\n`),
    NO_HTTP,
  ],
  [
    'a small head and a large body',
    (s) => s.end(`HTTP/1.1 200 x\r\n\r\n${'a'.repeat(600_000)}`),
    { status: 200, retryAfter: undefined },
  ],
  [
    'a switch of the protocol',
    (s) => s.end('HTTP/1.1 101 x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n'),
    NO_HTTP,
  ],
  [
    '10 GB of answer, which is cut',
    (s) => flood(s, 'HTTP/1.1 200 x\r\ncontent-length: 10000000000\r\n\r\n', 'a'.repeat(65_536)),
    { status: 200, retryAfter: undefined },
  ],
];

for (const [name, answer, expected, time] of ANSWERS)
  test(`an endpoint answers with ${name}`, async (t) => {
    const { post } = openTransport(t);
    const url = urlAt(await serve(t, answer));
    assert.deepEqual(await post(url, { ...(time !== undefined && { time }) }), expected);
  });

test('an endpoint that takes no connection fails by its connection', async (t) => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  const { post } = openTransport(t);
  assert.deepEqual(await post(urlAt(port)), { failure: 'connection_failed' });
});

test('what ends a handshake of TLS is a failure of TLS', async (t) => {
  const { post } = openTransport(t);
  for (const answer of [
    (socket: Socket) => socket.end('HTTP/1.1 400 x\r\n\r\n'),
    (socket: Socket) => socket.end(),
    (socket: Socket) => socket.resetAndDestroy(),
  ])
    assert.deepEqual(await post(urlAt(await serve(t, answer), 'https')), { failure: 'tls_failed' });
});

test('what is withdrawn while it connects is not sent; what has left goes on; other webhooks stay', async (t) => {
  const received: Socket[] = [];
  const port = await serve(t, (socket) => received.push(socket));
  const { transport, post } = openTransport(t);
  const left = post(urlAt(port));
  await until(() => received.length === 1);
  const [connecting, other] = [post(urlAt(port)), post(urlAt(port), { webhookId: 2 })];
  await transport.withdraw(1);
  assert.equal(await connecting, undefined);
  await until(() => received.length === 2);
  for (const socket of received) socket.end('HTTP/1.1 204 x\r\n\r\n');
  assert.deepEqual(await left, TAKEN);
  assert.deepEqual(await other, TAKEN);
});

test('both secrets of a rotation sign', () => {
  const headers = signMessage({ id: 'e1', body: '{}', secrets: SECRETS }, Date.now());
  for (const secret of SECRETS) assert.deepEqual(new Webhook(secret).verify('{}', headers), {});
});

test('over TLS the name of the URL goes with the connection, and its certificate must hold for it, whatever the environment says', async (t) => {
  const { keyFile, certificateFile } = makeCertificate(t);
  const ca = readFileSync(certificateFile, 'utf8');
  const names: unknown[] = [];
  const startServer = async (maxVersion: SecureVersion) => {
    const options = { key: readFileSync(keyFile), cert: ca, maxVersion };
    const server = createTlsServer(options, (request, response) => {
      const socket = request.socket as TLSSocket;
      names.push([socket.getProtocol(), socket.servername, request.headers.host]);
      response.writeHead(204).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.after(() => {
      server.closeAllConnections();
      server.close();
    });
    return (server.address() as AddressInfo).port;
  };
  const trusting = openTransport(t, { ca });
  const older = await startServer('TLSv1.2');
  assert.deepEqual(await trusting.post(urlAt(older, 'https')), TAKEN);
  const port = await startServer('TLSv1.3');
  assert.deepEqual(await trusting.post(urlAt(port, 'https')), TAKEN);
  assert.deepEqual(await openTransport(t).post(urlAt(port, 'https')), { failure: 'tls_failed' });
  assert.deepEqual(await trusting.post(`https://other.example:${port}/hook`), { failure: 'tls_failed' });
  assert.deepEqual(names, [
    ['TLSv1.2', 'shop.example', `shop.example:${older}`],
    ['TLSv1.3', 'shop.example', `shop.example:${port}`],
  ]);

  // In a process whose environment turns the check of certificates off.
  const script = `
    const { DirectTransport } = await import(${JSON.stringify(import.meta.resolve('./direct-transport.ts'))});
    const clock = () => ({ unix: Date.now(), monotonic: performance.now() });
    const request = ${JSON.stringify({ webhookId: 1, url: urlAt(port, 'https'), address: LOCAL, id: 'e1', body: '{}', secrets: SECRETS, time: 60_000 })};
    const answer = await new DirectTransport({ clock, allowPrivate: true }).post(request);
    process.stdout.write(answer.failure ?? 'succeeded');`;
  const env = { NODE_TLS_REJECT_UNAUTHORIZED: '0' };
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
    env,
  });
  assert.equal(stdout, 'tls_failed');
});

const REFUSED_HANDSHAKES: Readonly<Record<string, (t: TestContext) => string[]>> = {
  'a group of 10,000 bits': (t) => ['-tls1_2', '-cipher', 'DHE', '-dhparam', writeGroup(t, 10_000)],
  'the key of the certificate for the exchange': () => ['-tls1_2', '-cipher', 'kRSA'],
  'a group of finite fields in TLS 1.3': () => ['-tls1_3', '-groups', 'ffdhe8192'],
  'TLS 1.1': () => ['-tls1_1', '-cipher', 'ALL:@SECLEVEL=0'],
};

for (const [name, choose] of Object.entries(REFUSED_HANDSHAKES))
  test(`a handshake with ${name} is refused`, async (t) => {
    const { port, ca } = await startOpenssl(t, choose(t));
    const { post } = openTransport(t, { ca });
    assert.deepEqual(await post(urlAt(port, 'https')), { failure: 'tls_failed' });
  });

test('an endpoint that sends and sends within TLS, where nobody sees its bytes, sends no answer', async (t) => {
  const { port, ca } = await startOpenssl(t, ['-tls1_3', '-num_tickets', '10000']);
  const { post } = openTransport(t, { ca });
  assert.deepEqual(await post(urlAt(port, 'https')), { failure: 'invalid_answer' });
});

test('an endpoint begins no new handshake on a connection', async (t) => {
  const { keyFile, certificateFile } = makeCertificate(t);
  const ca = readFileSync(certificateFile, 'utf8');
  const ends: string[] = [];
  const options = { key: readFileSync(keyFile), cert: ca, maxVersion: 'TLSv1.2' } as const;
  const server = createTlsServer(options);
  server.on('secureConnection', (socket: TLSSocket) =>
    socket.renegotiate({}, (error) => void ends.push(error === null ? 'done' : 'refused')),
  );
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { post } = openTransport(t, { ca });
  const answer = await post(urlAt((server.address() as AddressInfo).port, 'https'), { time: 2_000 });
  assert.deepEqual([answer, ends], [{ failure: 'connection_failed' }, []]);
});
