import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { TLSSocket } from 'node:tls';
import { promisify } from 'node:util';
import { Webhook } from 'standardwebhooks';
import { program } from '../../../test/support/servers.ts';
import { until } from '../../../test/support/shared-counting.ts';
import { temporaryFolder } from '../../../test/support/temporary.ts';
import { test } from '../../../test/support/test.ts';
import { isPublicAddress } from './addresses.ts';
import { Sender, signMessage } from './send.ts';

const SECRETS = [1, 2].map((n) => `whsec_${Buffer.alloc(32, n).toString('base64')}`);
const clock = () => ({ unix: Date.now(), monotonic: performance.now() });
const LOCAL = [{ address: '127.0.0.1', family: 4 }] as const;

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

async function send(port: number, settings: Partial<ConstructorParameters<typeof Sender>[0]> = {}) {
  const sender = new Sender({
    clock,
    lookup: async () => LOCAL,
    isAllowed: () => true,
    allowPrivate: true,
    attemptTime: 1_000,
    ...settings,
  });
  const url = `http://shop.example:${port}/hook`;
  const sent = await sender.send({ webhookId: 1, url, id: 'e1', body: '{}', secrets: SECRETS });
  assert.ok(sent !== undefined);
  const { durationMs, ...outcome } = sent;
  assert.ok(Number.isInteger(durationMs));
  return outcome;
}

function flood(socket: Socket, head: string, chunk: string) {
  socket.write(head);
  const more = () => {
    while (!socket.destroyed && socket.write(chunk));
  };
  socket.on('drain', more);
  more();
}

const TAKEN = { status: 'succeeded', httpStatus: 204 };
const NO_HTTP = { status: 'failed', failure: 'invalid_answer' };

const INTERIM = 'HTTP/1.1 103 Early Hints\r\nlink: </a.css>\r\n\r\n';

const ANSWERS: [string, (socket: Socket) => void, object][] = [
  ['204', (s) => s.end('HTTP/1.1 204 x\r\n\r\n'), TAKEN],
  ['410', (s) => s.end('HTTP/1.1 410 x\r\n\r\n'), { status: 'failed', failure: 'status', httpStatus: 410 }],
  [
    '429 with Retry-After',
    (s) => s.end('HTTP/1.1 429 x\r\nretry-after: 7\r\n\r\n'),
    { status: 'failed', failure: 'status', httpStatus: 429, retryAfter: 7_000 },
  ],
  [
    'a redirect, which is not followed',
    (s) => s.end('HTTP/1.1 302 x\r\nlocation: http://127.0.0.1:1/\r\n\r\n'),
    { status: 'failed', failure: 'redirect', httpStatus: 302 },
  ],
  ['a hang', () => undefined, { status: 'failed', failure: 'timeout' }],
  [
    'a part of the headers',
    (s) => void s.write('HTTP/1.1 200 x\r\nx: '),
    { status: 'failed', failure: 'timeout' },
  ],
  ['a reset', (s) => s.resetAndDestroy(), { status: 'failed', failure: 'connection_failed' }],
  ['a close', (s) => s.end(), { status: 'failed', failure: 'connection_failed' }],
  [
    'a close after the headers',
    (s) => s.end('HTTP/1.1 200 x\r\ncontent-length: 9\r\n\r\n'),
    { status: 'succeeded', httpStatus: 200 },
  ],
  [
    'a close within the status',
    (s) => s.end('HTTP/1.1 20'),
    { status: 'failed', failure: 'connection_failed' },
  ],
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
  ['endless 1xx', (s) => flood(s, INTERIM, INTERIM.repeat(100)), NO_HTTP],
  [
    'a switch of the protocol',
    (s) => s.end('HTTP/1.1 101 x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n'),
    NO_HTTP,
  ],
  [
    '10 GB of answer, which is cut',
    (s) => flood(s, 'HTTP/1.1 200 x\r\ncontent-length: 10000000000\r\n\r\n', 'a'.repeat(65_536)),
    { status: 'succeeded', httpStatus: 200 },
  ],
];

for (const [name, answer, outcome] of ANSWERS)
  test(`an endpoint answers with ${name}`, async (t) => {
    assert.deepEqual(await send(await serve(t, answer)), outcome);
  });

test('an endpoint that takes no connection fails by its connection, one without a name by its name', async () => {
  const closed = createServer();
  await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve));
  const { port } = closed.address() as AddressInfo;
  await new Promise((resolve) => closed.close(resolve));
  assert.deepEqual(await send(port), { status: 'failed', failure: 'connection_failed' });
  const lookup = () => Promise.reject(new Error('ENOTFOUND'));
  assert.deepEqual(await send(port, { lookup }), { status: 'failed', failure: 'name_not_resolved' });
  const silent = () => new Promise<never>(() => undefined);
  assert.deepEqual(await send(port, { lookup: silent, attemptTime: 50 }), {
    status: 'failed',
    failure: 'timeout',
  });
});

test('what ends a handshake of TLS is a failure of TLS', async (t) => {
  for (const answer of [
    (socket: Socket) => socket.end('HTTP/1.1 400 x\r\n\r\n'),
    (socket: Socket) => socket.end(),
    (socket: Socket) => socket.resetAndDestroy(),
  ]) {
    const outcome = await heldSender({ lookup: async () => LOCAL }).attempt(
      await serve(t, answer),
      1,
      'https',
    );
    assert.ok(outcome !== undefined && 'failure' in outcome);
    assert.equal(outcome.failure, 'tls_failed');
  }
});

/** A sender whose name server answers when the test says so. */
function heldSender(settings: Partial<ConstructorParameters<typeof Sender>[0]> = {}) {
  const held: PromiseWithResolvers<void>[] = [];
  const lookup = async () => {
    const gate = Promise.withResolvers<void>();
    held.push(gate);
    await gate.promise;
    return LOCAL;
  };
  const sender = new Sender({ clock, lookup, isAllowed: () => true, allowPrivate: true, ...settings });
  const attempt = (port: number, webhookId = 1, scheme = 'http') =>
    sender.send({
      webhookId,
      url: `${scheme}://shop.example:${port}/hook`,
      id: 'e1',
      body: '{}',
      secrets: SECRETS,
    });
  return { sender, attempt, release: () => held.forEach(({ resolve }) => resolve()) };
}

test('what is withdrawn before it leaves is not sent; what has left goes on; other webhooks stay', async (t) => {
  const received: Socket[] = [];
  const port = await serve(t, (socket) => received.push(socket));
  const { sender, attempt, release } = heldSender();
  const left = attempt(port);
  release();
  await until(() => received.length === 1);
  const [waiting, other] = [attempt(port), attempt(port, 2)];
  await sender.withdraw(1);
  assert.equal(await waiting, undefined);
  release();
  await until(() => received.length === 2);
  for (const socket of received) socket.end('HTTP/1.1 204 x\r\n\r\n');
  assert.equal((await left)?.status, 'succeeded');
  assert.equal((await other)?.status, 'succeeded');
});

test('what is withdrawn while it connects, or waits for its turn at an address, is not sent and gives up its turn', async (t) => {
  let connections = 0;
  // It never answers the hello of TLS.
  const silent = createServer((socket) => {
    connections++;
    socket.on('error', () => undefined);
    t.after(() => socket.destroy());
  });
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  t.after(() => silent.close());
  const { port } = silent.address() as AddressInfo;
  const { sender, attempt } = heldSender({ lookup: async () => LOCAL });
  const connecting = Array.from({ length: 20 }, () => attempt(port, 1, 'https'));
  await until(() => connections === 20);
  const waiting = [attempt(port, 1, 'https'), attempt(port, 2, 'https')];
  await sender.withdraw(1);
  assert.deepEqual(new Set(await Promise.all([...connecting, waiting[0]])), new Set([undefined]));
  await until(() => connections === 21);
  await sender.withdraw(2);
  assert.equal(await waiting[1], undefined);
});

test('a name that changes after the check is not looked up again', async (t) => {
  const port = await serve(t, (socket) => socket.end('HTTP/1.1 204 x\r\n\r\n'));
  let calls = 0;
  const lookup = async () => (calls++ === 0 ? LOCAL : [{ address: '127.0.0.2', family: 4 as const }]);
  assert.deepEqual(await send(port, { lookup }), { status: 'succeeded', httpStatus: 204 });
  assert.equal(calls, 1);
});

test('nothing connects to an address that is not public', async (t) => {
  let connected = false;
  const port = await serve(t, () => (connected = true));
  assert.deepEqual(await send(port, { isAllowed: isPublicAddress }), {
    status: 'failed',
    failure: 'address_not_public',
  });
  assert.equal(connected, false);
});

test('both secrets of a rotation sign', () => {
  const headers = signMessage({ id: 'e1', body: '{}', secrets: SECRETS }, Date.now());
  for (const secret of SECRETS) assert.deepEqual(new Webhook(secret).verify('{}', headers), {});
});

test('over TLS the name of the URL goes with the connection, and its certificate must hold for it, whatever the environment says', async (t) => {
  const folder = temporaryFolder(t);
  const [keyFile, certFile] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')];
  const subject = ['-subj', '/CN=shop.example', '-addext', 'subjectAltName=DNS:shop.example'];
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1'];
  const files = ['-keyout', keyFile, '-out', certFile];
  execFileSync(program('openssl', 'openssl'), ['req', '-x509', ...kind, ...subject, ...files], {
    stdio: 'pipe',
  });
  const ca = readFileSync(certFile, 'utf8');
  const names: unknown[] = [];
  const server = createTlsServer({ key: readFileSync(keyFile), cert: ca }, (request, response) => {
    names.push([(request.socket as TLSSocket).servername, request.headers.host]);
    response.writeHead(204).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const sendTo = async (host: string, trusted: { readonly ca?: string }) => {
    const settings = {
      clock,
      lookup: async () => LOCAL,
      isAllowed: () => true,
      allowPrivate: true,
      ...trusted,
    };
    const url = `https://${host}:${port}/hook`;
    return new Sender(settings).send({ webhookId: 1, url, id: 'e1', body: '{}', secrets: SECRETS });
  };
  const result = async (...args: Parameters<typeof sendTo>) => {
    const outcome = await sendTo(...args);
    return outcome !== undefined && 'failure' in outcome ? outcome.failure : outcome?.status;
  };
  assert.equal(await result('shop.example', { ca }), 'succeeded');
  assert.equal(await result('shop.example', {}), 'tls_failed');
  assert.equal(await result('other.example', { ca }), 'tls_failed');
  assert.deepEqual(names, [['shop.example', `shop.example:${port}`]]);

  // In a process whose environment turns the check of certificates off.
  const script = `
    const { Sender } = await import(${JSON.stringify(import.meta.resolve('./send.ts'))});
    const clock = () => ({ unix: Date.now(), monotonic: performance.now() });
    const lookup = async () => ${JSON.stringify(LOCAL)};
    const sender = new Sender({ clock, lookup, isAllowed: () => true, allowPrivate: true, attemptTime: 30_000 });
    const url = 'https://shop.example:${port}/hook';
    const { failure } = await sender.send({ url, id: 'e1', body: '{}', secrets: ${JSON.stringify(SECRETS)} });
    process.stdout.write(failure ?? 'succeeded');`;
  const env = { NODE_TLS_REJECT_UNAUTHORIZED: '0' };
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
    env,
  });
  assert.equal(stdout, 'tls_failed');
});
