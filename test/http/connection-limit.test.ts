// How many connections one client address may have. Contract: section 7.2.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
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

test('connections of a trusted proxy have no limit', async (t) => {
  const env = { MAX_CONNECTIONS_PER_ADDRESS: '1', TRUST_PROXY: '127.0.0.1' };
  const service = await startTestService(t, { env });
  const sockets = [1, 2, 3].map(() => connect(Number(new URL(service.url).port), '127.0.0.1'));
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  assert.equal((await call(service.url, '/healthz')).status, 200);
  for (const socket of sockets) socket.destroy();
});
