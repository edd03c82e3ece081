// Contract: section 13. The sockets are real.
import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { createServer } from 'node:net';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { until } from '../../../test/support/until.ts';
import { test } from '../../../test/support/test.ts';
import { chooseAddress } from './addresses.ts';
import { DirectTransport } from './direct-transport.ts';
import { type Message, Sender } from './sender.ts';
import type { Transport } from './transport.ts';

const SECRETS = [`whsec_${Buffer.alloc(32, 1).toString('base64')}`];
const clock = () => ({ unix: Date.now(), monotonic: performance.now() });

/** A server that answers each connection as `answer` does, and the requests of each that are under way. */
async function serve(t: TestContext, answer: (socket: Socket, path: string) => void) {
  const underWay: string[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', (data) => {
      const [, path = ''] = /^POST (\S+)/.exec(data.toString()) ?? [];
      underWay.push(path);
      socket.once('close', () => underWay.splice(underWay.indexOf(path), 1));
      answer(socket, path);
    });
    t.after(() => socket.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const count = (path: string) => underWay.filter((each) => each === path).length;
  return { port, underWay, count };
}

const reply = (text: string) => (socket: Socket) => void socket.end(`HTTP/1.1 ${text}\r\n\r\n`);

interface Options {
  readonly addresses?: readonly string[];
  readonly allowPrivate?: boolean;
  readonly post?: (post: Transport['post']) => Transport['post'];
  readonly lookUp?: Transport['lookUp'];
}

/** A sender whose names all lead to this machine. */
function openSender(t: TestContext, { addresses = ['127.0.0.1'], ...options }: Options = {}) {
  const { allowPrivate = true } = options;
  const transport: Transport = new DirectTransport({ clock, allowPrivate });
  const found = addresses.map((address) => ({ address, family: 4 as const }));
  transport.lookUp = options.lookUp ?? (async () => chooseAddress(found, { allowPrivate }));
  if (options.post !== undefined) transport.post = options.post(transport.post.bind(transport));
  const sender = new Sender({ clock, transport, allowPrivate });
  t.after(() => sender.close());
  const send = (url: string, message: Partial<Message> = {}) =>
    sender.send({
      webhookId: 1,
      accountId: 1,
      url,
      id: 'e1',
      body: '{}',
      secrets: SECRETS,
      isTest: false,
      ...message,
    });
  return { sender, send };
}

const OUTCOMES: readonly (readonly [string, object])[] = [
  ['204 x', { status: 'succeeded', httpStatus: 204 }],
  ['410 x', { status: 'failed', failure: 'status', httpStatus: 410 }],
  ['429 x\r\nretry-after: 7', { status: 'failed', failure: 'status', httpStatus: 429, retryAfter: 7_000 }],
  ['302 x\r\nlocation: http://127.0.0.1:1/', { status: 'failed', failure: 'redirect', httpStatus: 302 }],
  ['20', { status: 'failed', failure: 'invalid_answer' }],
];

test('2xx is success, all else a failure, and a redirect is not followed', async (t) => {
  for (const [text, expected] of OUTCOMES) {
    const { port } = await serve(t, reply(text));
    const sent = await openSender(t).send(`http://shop.example:${port}/`);
    assert.ok(sent !== undefined);
    const { durationMs, sentAt, ...outcome } = sent;
    assert.deepEqual(outcome, expected, text);
    assert.ok(Number.isInteger(durationMs) && Number.isInteger(sentAt));
  }
});

test('nothing connects to an address that is not public, or by a URL that is refused', async (t) => {
  const { port, underWay } = await serve(t, reply('204 x'));
  const { send } = openSender(t, { allowPrivate: false, addresses: ['8.8.8.8', '127.0.0.1'] });
  const failureOf = async (url: string) => {
    const outcome = await send(url);
    return outcome !== undefined && 'failure' in outcome ? outcome.failure : outcome;
  };
  assert.equal(await failureOf(`https://shop.example:${port}/`), 'address_not_public');
  assert.equal(await failureOf(`https://127.0.0.1:${port}/`), 'address_not_public');
  assert.equal(await failureOf(`https://localhost:${port}/`), 'address_not_public');
  assert.equal(await failureOf(`http://shop.example:${port}/`), 'url_refused');
  assert.deepEqual(underWay, []);
});

test('a name is looked up once for an attempt, and the connection goes to that address', async (t) => {
  const { port } = await serve(t, reply('204 x'));
  let calls = 0;
  const lookUp: Transport['lookUp'] = async () => ({
    address: { address: calls++ === 0 ? '127.0.0.1' : '127.0.0.2', family: 4 },
  });
  const outcome = await openSender(t, { lookUp }).send(`http://shop.example:${port}/`);
  assert.equal(outcome?.status, 'succeeded');
  assert.equal(calls, 1);
});

test('what is withdrawn while its name is looked up is not sent; other webhooks stay', async (t) => {
  const { port, underWay } = await serve(t, reply('204 x'));
  const held = Promise.withResolvers<Awaited<ReturnType<Transport['lookUp']>>>();
  const { sender, send } = openSender(t, { lookUp: () => held.promise });
  const waiting = send(`http://shop.example:${port}/`);
  const other = send(`http://shop.example:${port}/`, { webhookId: 2 });
  await setImmediate();
  await sender.withdraw(1);
  assert.equal(await waiting, undefined);
  held.resolve({ address: { address: '127.0.0.1', family: 4 } });
  assert.equal((await other)?.status, 'succeeded');
  assert.deepEqual(
    underWay.filter((path) => path !== '/'),
    [],
  );
});

test('an address gets at most 20 at once; a crowd of one account leaves room for another; nothing that is withdrawn leaves', async (t) => {
  const held: Socket[] = [];
  const { port, underWay, count } = await serve(t, (socket) => held.push(socket));
  const { sender, send } = openSender(t);
  const crowd = Array.from({ length: 20 }, () => send(`http://shop.example:${port}/crowd`));
  await until(() => count('/crowd') === 15);
  const others = [2, 3].flatMap((accountId) =>
    Array.from({ length: 5 }, () =>
      send(`http://shop.example:${port}/${accountId}`, { accountId, webhookId: accountId }),
    ),
  );
  await until(() => underWay.length === 20);
  assert.equal(count('/2'), 5);
  // Those of the crowd that wait for a turn, and those of one that waits for its first.
  await sender.withdraw(1);
  await sender.withdraw(3);
  for (let left = held.splice(0); left.length > 0; left = held.splice(0)) {
    for (const socket of left) socket.end('HTTP/1.1 204 x\r\n\r\n');
    await until(() => underWay.length === 0 || held.length > 0);
  }
  const outcomes = (await Promise.all([...crowd, ...others])).map((outcome) => outcome?.status);
  assert.deepEqual(outcomes, [
    ...Array.from({ length: 15 }, () => 'succeeded'),
    ...Array.from({ length: 5 }, () => undefined),
    ...Array.from({ length: 5 }, () => 'succeeded'),
    ...Array.from({ length: 5 }, () => undefined),
  ]);
});

test('while another account waits at an address, an account gets a quarter of it', async (t) => {
  const held: { readonly socket: Socket; readonly path: string }[] = [];
  const { port, underWay, count } = await serve(t, (socket, path) => held.push({ socket, path }));
  const { send } = openSender(t);
  const url = (path: string) => `http://shop.example:${port}${path}`;
  const sent = Array.from({ length: 20 }, () => send(url('/crowd')));
  await until(() => count('/crowd') === 15);
  sent.push(...Array.from({ length: 10 }, () => send(url('/2'), { accountId: 2, webhookId: 2 })));
  await until(() => underWay.length === 20);
  for (let left = 15; left > 5; left--) {
    held
      .splice(
        held.findIndex(({ path }) => path === '/crowd'),
        1,
      )[0]
      ?.socket.end('HTTP/1.1 204 x\r\n\r\n');
    await until(() => count('/crowd') === left - 1);
    assert.equal(count('/2'), 5);
  }
  for (let ended = 0; ended < sent.length - 10; ) {
    for (const { socket } of held.splice(0)) {
      ended++;
      socket.end('HTTP/1.1 204 x\r\n\r\n');
    }
    await setImmediate();
  }
  for (const outcome of await Promise.all(sent)) assert.equal(outcome?.status, 'succeeded');
});

test('an account begins at most 20 attempts within any second, in the order in which they came', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const begun: string[] = [];
  const { send } = openSender(t, {
    post: () => async (request) => {
      begun.push(request.id);
      return { status: 204, retryAfter: undefined };
    },
  });
  /** The attempts that begin while `milliseconds` pass. */
  const pass = async (milliseconds: number) => {
    t.mock.timers.tick(milliseconds);
    for (let turn = 0; turn < 10; turn++) await setImmediate();
    return begun.splice(0);
  };
  const ids = Array.from({ length: 45 }, (_, number) => `e${number}`);
  const all = ids.map((id) => send('http://127.0.0.1:1/', { id }));
  const other = send('http://127.0.0.1:1/', { id: 'other', accountId: 2, webhookId: 2 });
  const first = await pass(0);
  // Another account waits for none of those that are left.
  assert.ok(first.includes('other'));
  assert.deepEqual(
    first.filter((id) => id !== 'other'),
    ids.slice(0, 20),
  );
  assert.deepEqual(await pass(999), []);
  assert.deepEqual(await pass(1), ids.slice(20, 40));
  assert.deepEqual(await pass(999), []);
  assert.deepEqual(await pass(1), ids.slice(40));
  for (const outcome of await Promise.all([...all, other])) assert.equal(outcome?.status, 'succeeded');
});

test('what waits for the budget of its account is withdrawn', async (t) => {
  const { port } = await serve(t, reply('204 x'));
  const { sender, send } = openSender(t);
  const all = Array.from({ length: 30 }, () => send(`http://127.0.0.1:${port}/`));
  const waiting = all.slice(20);
  await setImmediate();
  await sender.withdraw(1);
  for (const outcome of await Promise.all(waiting)) assert.equal(outcome, undefined);
});

test('a test that gets no turn fails within its time; an event waits on', async (t) => {
  const held: Socket[] = [];
  const { port, underWay } = await serve(t, (socket) => held.push(socket));
  const { send } = openSender(t, {
    // They keep their turns for longer than a test waits.
    post: (post) => (request) => post({ ...request, time: 60_000 }),
  });
  const url = `http://shop.example:${port}/`;
  const crowd = Array.from({ length: 15 }, () => send(url));
  await until(() => underWay.length === 15);
  const event = send(url);
  const { status, failure } = (await send(url, { isTest: true })) as { status: string; failure?: string };
  assert.deepEqual([status, failure], ['failed', 'timeout']);
  held.forEach((socket) => socket.end('HTTP/1.1 204 x\r\n\r\n'));
  await until(() => held.length === 16);
  held.at(-1)?.end('HTTP/1.1 204 x\r\n\r\n');
  for (const outcome of await Promise.all([...crowd, event])) assert.equal(outcome?.status, 'succeeded');
});
