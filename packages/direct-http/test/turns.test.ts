// Which connection has a turn of the event loop.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, IncomingMessage } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { test, type TestContext } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { NodeResponse, type ResponseWriter } from '../src/response.ts';
import { NO_FIELDS, octets } from '../src/text.ts';
import { answerRequests, type Server } from '../src/main.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const GET = 'GET / HTTP/1.1\r\nHost: a.example\r\n\r\n';
const HI = octets('hi');

/** Connections that go on, or end, in one turn. */
const A_TURN = 64;

/** Times in milliseconds, short enough to be waited for. */
const TIMES = { sendTimeout: 100, lingerTimeout: 100, checkingInterval: 200 };

async function listen(t: TestContext, handle: (socket: Socket, response: ResponseWriter) => void) {
  const server: Server = createServer({ IncomingMessage, ServerResponse: NodeResponse });
  const connections = answerRequests(server, TIMES, {
    handle: ({ socket }, response) => handle(socket, response),
    interrupt: () => false,
  });
  server.listen({ port: 0, host: '127.0.0.1', backlog: 511 });
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const clients = new Set<Socket>();
  t.after(() => {
    for (const client of clients) client.destroy();
    server.close();
    server.closeAllConnections();
  });
  const open = () => {
    const client = connect(port, '127.0.0.1').resume();
    client.on('error', () => undefined);
    clients.add(client);
    return client;
  };
  return { server, connections, open };
}

/** Counts the turns of the event loop until the test is over. */
function countTurns(t: TestContext): { readonly count: number } {
  const turns = { count: 0 };
  let isOver = false;
  const tick = () => {
    turns.count++;
    if (!isOver) setImmediate(tick);
  };
  setImmediate(tick);
  t.after(() => (isOver = true));
  return turns;
}

test('pipelined requests of many connections are handled in turns, 64 in each', async (t) => {
  const connections = 3 * A_TURN;
  const requests = 5;
  const first: ResponseWriter[] = [];
  const handled = new Map<Socket, number>();
  const inTurns: number[] = [];
  const turns = countTurns(t);
  const { open } = await listen(t, (socket, response) => {
    const count = (handled.get(socket) ?? 0) + 1;
    handled.set(socket, count);
    // The first answers wait until every connection is there.
    if (count === 1) return void first.push(response);
    inTurns[turns.count] = (inTurns[turns.count] ?? 0) + 1;
    // No connection gets ahead of another one.
    if (count === 3) assert.ok(Math.min(...handled.values()) >= 2);
    response.send(200, NO_FIELDS, HI);
  });
  for (let i = 0; i < connections; i++) open().write(GET.repeat(requests));
  while (first.length < connections) await nextTurn();
  for (const response of first) response.send(200, NO_FIELDS, HI);
  while ([...handled.values()].some((count) => count < requests)) await nextTurn();
  assert.equal(Math.max(...inTurns.filter(Boolean)), A_TURN);
});

/** A connection with requests that wait for their turns, and how many were handled. */
async function withWaitingRequests(t: TestContext) {
  let count = 0;
  const handled = () => count;
  const { server, open } = await listen(t, (_, response) => {
    count++;
    response.send(200, NO_FIELDS, HI);
  });
  open().write(GET.repeat(1_500));
  while (handled() === 0) await nextTurn();
  return { server, open, handled };
}

test('connections that arrive together are accepted before waiting requests go on', async (t) => {
  const { server, open, handled } = await withWaitingRequests(t);
  const before = { first: 0, last: 0 };
  let accepted = 0;
  const last = new Promise<void>((resolve) => {
    server.on('connection', () => {
      accepted++;
      if (accepted === 1) before.first = handled();
      if (accepted < 300) return;
      before.last = handled();
      resolve();
    });
  });
  for (let i = 0; i < 300; i++) open();
  await last;
  // The turn in which the first one was accepted may have begun before.
  assert.ok(before.last - before.first <= 1, `${before.last - before.first} requests went on`);
  const after = handled();
  for (let turn = 0; turn < 10; turn++) await nextTurn();
  assert.ok(handled() - after >= 5, 'requests go on as soon as nobody connects');
});

test('clients that connect all the time do not stop the others', async (t) => {
  const { server, open, handled } = await withWaitingRequests(t);
  const begun = handled();
  const flooded = new Promise<void>((resolve) => {
    let accepted = 0;
    server.on('connection', () => {
      // A few more always wait to be accepted.
      if (++accepted < 1_200) open().end();
      else resolve();
    });
  });
  for (let i = 0; i < 5; i++) open().end();
  await flooded;
  assert.ok(handled() > begun);
});

test('connections that take nothing are closed over several turns', async (t) => {
  const count = 4 * A_TURN;
  const turns = countTurns(t);
  const closed: number[] = [];
  const responses: ResponseWriter[] = [];
  const { server, connections, open } = await listen(t, (socket, response) => {
    // The answer stays in the service, as if the client took nothing. `cork` would not do: Node's response undoes it.
    Object.assign(socket, { _write: () => undefined, _writev: null });
    responses.push(response);
  });
  server.on('connection', (socket) => socket.on('close', () => closed.push(turns.count)));
  for (let i = 0; i < count; i++) open().write(GET);
  while (responses.length < count) await nextTurn();
  for (const response of responses) response.send(200, NO_FIELDS, HI);
  assert.equal(connections.isBusy, true);
  while (closed.length < count) await nextTurn();
  const inTurns = Map.groupBy(closed, (turn) => turn);
  // The first check and the first turn after it can share a round of the event loop.
  assert.ok([...inTurns.values()].every(({ length }) => length <= 2 * A_TURN));
  // Not at the next check, which would be thousands of turns later.
  assert.ok(Math.max(...closed) - Math.min(...closed) < 100);
  assert.equal(connections.isBusy, false);
});

test('a connection that ended is forgotten', async (t) => {
  const { server, open } = await listen(t, (_, response) => {
    response.shouldKeepAlive = false;
    response.send(200, NO_FIELDS, HI);
  });
  const sockets: WeakRef<Socket>[] = [];
  server.on('connection', (socket) => void sockets.push(new WeakRef(socket)));
  for (let i = 0; i < 10; i++) {
    const client = open();
    client.write(GET);
    await once(client, 'close');
  }
  while (sockets.some((socket) => socket.deref() !== undefined)) {
    await nextTurn();
    collectGarbage();
  }
});
