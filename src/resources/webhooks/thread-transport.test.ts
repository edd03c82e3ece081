// Contract: section 13. The threads and sockets are real.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { test, type TestContext } from 'node:test';
import { Worker } from 'node:worker_threads';
import { startEndpoint } from '../../../test/support/endpoint.ts';
import { startNameServer } from '../../../test/support/name-server.ts';
import { until } from '../../../test/support/until.ts';
import { startSendingThread, ThreadTransport } from './thread-transport.ts';

const REQUEST = {
  webhookId: 1,
  address: { address: '127.0.0.1', family: 4 },
  id: 'e1',
  body: '{}',
  secrets: [`whsec_${Buffer.alloc(32, 1).toString('base64')}`],
  at: 0,
  time: 60_000,
} as const;

const TAKEN = { status: 204, retryAfter: undefined };

/** A transport whose threads are started by `start`, and those threads. */
function open(t: TestContext, start = () => startSendingThread({ allowPrivate: true })) {
  const threads: Worker[] = [];
  const logged: string[] = [];
  const transport = new ThreadTransport(
    () => {
      const thread = start();
      threads.push(thread);
      return thread;
    },
    { warn: (...line: readonly unknown[]) => void logged.push(String(line[1])) },
  );
  t.after(() => transport.close());
  const post = (url: string, body = '{}', webhookId = 1) =>
    transport.post({ ...REQUEST, url, body, webhookId });
  return { transport, threads, logged, post };
}

/** A server that takes connections, and answers nothing. */
async function startSilent(t: TestContext) {
  const sockets = new Set<Socket>();
  const requests: string[] = [];
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    socket.once('data', (data) => requests.push(data.toString()));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, sockets, requests };
}

test('the thread starts with the first call, speaks to name servers and endpoints, and ends with the transport', async (t) => {
  const { address } = await startNameServer(t, () => ['127.0.0.1']);
  const { transport, threads, post } = open(t, () =>
    startSendingThread({ allowPrivate: false, nameServers: [address] }),
  );
  await transport.withdraw(1);
  const before = threads.length;
  assert.equal(before, 0);
  assert.deepEqual(await transport.lookUp('shop.example', 1), { failure: 'address_not_public' });
  const endpoint = await startEndpoint(t);
  assert.deepEqual(await post(endpoint.url), TAKEN);
  assert.equal(endpoint.received[0]?.headers['webhook-id'], 'e1');
  const [thread] = threads;
  assert.ok(thread !== undefined && threads.length === 1);
  const ended = once(thread, 'exit');
  const silent = await startSilent(t);
  const hanging = post(`http://127.0.0.1:${silent.port}/`);
  await until(() => silent.requests.length === 1);
  await transport.close();
  await ended;
  assert.equal(await hanging, undefined);
  assert.equal(await post(endpoint.url), undefined);
  assert.equal(threads.length, 1);
});

test('a withdrawal is confirmed by the thread: what connects does not leave, what has left goes on', async (t) => {
  const { transport, post } = open(t);
  const silent = await startSilent(t);
  const held = Promise.withResolvers<number>();
  const endpoint = await startEndpoint(t, () => held.promise);
  const left = post(endpoint.url);
  await until(() => endpoint.received.length === 1);
  // It never answers the hello of TLS.
  let hasEnded = false;
  const connecting = post(`https://127.0.0.1:${silent.port}/`).finally(() => (hasEnded = true));
  await until(() => silent.sockets.size === 1);
  await transport.withdraw(1);
  assert.ok(hasEnded);
  assert.equal(await connecting, undefined);
  held.resolve(204);
  assert.deepEqual(await left, TAKEN);
});

test('a thread that runs out of memory is started again: what it had has failed, and deliveries go on', async (t) => {
  const limits = { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2 };
  const { threads, logged, post } = open(t, () => startSendingThread({ allowPrivate: true }, limits));
  const silent = await startSilent(t);
  const body = JSON.stringify('a'.repeat(400_000));
  const crowd = Array.from({ length: 100 }, () => post(`http://127.0.0.1:${silent.port}/`, body));
  for (const answer of await Promise.all(crowd)) assert.deepEqual(answer, { failure: 'connection_failed' });
  assert.deepEqual(logged, ['the thread that sends webhooks ended: it is started again']);
  const endpoint = await startEndpoint(t);
  assert.deepEqual(await post(endpoint.url), TAKEN);
  assert.equal(threads.length, 2);
});

test('a look-up is made again when its thread ends, and a thread that cannot start is tried again', async (t) => {
  const { address, asked } = await startNameServer(t, () => (asked.length < 3 ? undefined : ['8.8.8.8']));
  let starts = 0;
  const { transport, threads } = open(t, () => {
    if (starts++ === 0) throw new Error('No memory for a thread.');
    return startSendingThread({ allowPrivate: false, nameServers: [address] });
  });
  const found = transport.lookUp('shop.example', 1);
  await until(() => asked.length === 2);
  await threads[0]?.terminate();
  assert.deepEqual(await found, { address: { address: '8.8.8.8', family: 4 } });
  assert.equal(starts, 3);
});

test('a thread that ends at once is started a few times only, and a look-up ends', async (t) => {
  const { transport, threads } = open(t, () => new Worker('process.exit(1)', { eval: true }));
  assert.deepEqual(await transport.lookUp('shop.example', 1), { failure: 'name_not_resolved' });
  assert.ok(threads.length > 1 && threads.length <= 6, `${threads.length}`);
});

test('a thread that does not turn any more is ended, so that a withdrawal is sure', async (t) => {
  let starts = 0;
  const { transport, threads, post } = open(t, () =>
    starts++ === 0 ? new Worker('for (;;);', { eval: true }) : startSendingThread({ allowPrivate: true }),
  );
  const endpoint = await startEndpoint(t);
  const sent = post(endpoint.url);
  await transport.withdraw(1);
  assert.deepEqual(await sent, { failure: 'connection_failed' });
  assert.deepEqual(await post(endpoint.url), TAKEN);
  assert.equal(threads.length, 2);
  assert.equal(endpoint.received.length, 1);
});
