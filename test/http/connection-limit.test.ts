// How many connections one client address may have. Contract: section 7.2.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { pino } from 'pino';
import { limitConnections } from '../../src/http/connection-limit.ts';
import { HTTP_LIMITS } from '../../src/http/server.ts';
import { answerRequests, createServer, NO_FIELDS, octets } from 'direct-http';
import { call } from '../support/api.ts';
import { startTestService } from '../support/service.ts';

test('connections of one address beyond the limit are closed at once', async (t) => {
  const service = await startTestService(t, { env: { MAX_CONNECTIONS_PER_ADDRESS: '3' } });
  const port = Number(new URL(service.url).port);
  const open = async () => {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    return socket;
  };
  const sockets = [await open(), await open(), await open()];
  await once((await open()).resume(), 'close');
  sockets[0]?.destroy();
  // Its place is free as soon as the service has seen it close.
  for (let status = 0; status !== 200; ) {
    status = await call(service.url, '/healthz').then(
      (answer) => answer.status,
      () => 0,
    );
  }
  assert.equal(service.log.filter(({ limit }) => limit === 3).length, 1);
});

/** Whether the service answers on this connection. Otherwise it closes it. */
function isAnswered(socket: Socket): Promise<boolean> {
  socket.write('GET /healthz HTTP/1.1\r\nHost: a.example\r\n\r\n');
  return new Promise((resolve) => {
    socket.once('data', () => resolve(true));
    socket.once('close', () => resolve(false));
  });
}

test('each client address has a limit of its own', async (t) => {
  const service = await startTestService(t, { env: { MAX_CONNECTIONS_PER_ADDRESS: '2' } });
  const port = Number(new URL(service.url).port);
  const open = (localAddress: string) => {
    const socket = connect({ port, host: '127.0.0.1', localAddress }).on('error', () => undefined);
    t.after(() => socket.destroy());
    return isAnswered(socket);
  };
  const answered: boolean[] = [];
  for (const end of [2, 2, 2, 3, 3, 3]) answered.push(await open(`127.0.0.${end}`));
  assert.deepEqual(answered, [true, true, false, true, true, false]);
});

test('a limit that is reached again is logged again only after half has left', async (t) => {
  const service = await startTestService(t, { env: { MAX_CONNECTIONS_PER_ADDRESS: '4' } });
  const port = Number(new URL(service.url).port);
  const sockets: Socket[] = [];
  t.after(() => sockets.forEach((socket) => socket.destroy()));
  /** Opens connections until the service closes one. */
  const fill = async () => {
    for (;;) {
      const socket = connect(port, '127.0.0.1').on('error', () => undefined);
      if (!(await isAnswered(socket))) return;
      sockets.push(socket);
    }
  };
  const lines = async (leaving: number) => {
    await fill();
    const count = service.log.filter(({ limit }) => limit === 4).length;
    for (const socket of sockets.splice(0, leaving)) await once(socket.destroy(), 'close');
    return count;
  };
  assert.deepEqual([await lines(1), await lines(2), await lines(0)], [1, 1, 2]);
});

test('a client that resets its connection before it is accepted affects nobody', async (t) => {
  const service = await startTestService(t);
  const port = Number(new URL(service.url).port);
  await Promise.all(
    Array.from({ length: 100 }, async () => {
      const socket = connect(port, '127.0.0.1');
      socket.once('connect', () => socket.resetAndDestroy());
      await once(socket, 'close');
    }),
  );
  assert.equal((await call(service.url, '/healthz')).status, 200);
});

test('of connections of one address that arrive at once, all but 16 wait to be read', async (t) => {
  const server = createServer({});
  let requests = 0;
  const connections = answerRequests(server, HTTP_LIMITS, {
    handle(_, response) {
      requests++;
      response.send(200, NO_FIELDS, octets('hi'));
    },
    interrupt: () => false,
  });
  limitConnections(server, 1_000, { trusted: [], log: pino({ level: 'silent' }), connections });
  server.listen({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  t.after(() => server.close().closeAllConnections());
  const arriving = 300;
  let accepted = 0;
  let read = 0;
  server.on('connection', () => {
    if (++accepted === arriving) read = requests;
  });
  const { port } = server.address() as AddressInfo;
  await Promise.all(
    Array.from({ length: arriving }, async () => {
      assert.ok(await isAnswered(connect(port, '127.0.0.1')));
    }),
  );
  assert.equal(requests, arriving);
  assert.ok(read <= 16, `${read} were read`);
});

test('connections of a trusted proxy have no limit', async (t) => {
  const env = { MAX_CONNECTIONS_PER_ADDRESS: '1', TRUST_PROXY: '127.0.0.1' };
  const service = await startTestService(t, { env });
  const sockets = [1, 2, 3].map(() => connect(Number(new URL(service.url).port), '127.0.0.1'));
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  assert.equal((await call(service.url, '/healthz')).status, 200);
  for (const socket of sockets) socket.destroy();
});
