// A request ends, whenever its client goes away or its body breaks. Contract: section 4.3.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Client } from 'pg';
import { call } from '../support/api.ts';
import { migratedPostgres } from '../support/migrated-postgres.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { test } from '../support/test.ts';

const ENDS: Readonly<Record<string, (socket: Socket) => Promise<unknown>>> = {
  'the client goes away': async (socket) => socket.destroy(),
  'its body breaks': async (socket) => {
    socket.write('zz\r\n');
    // The refusal.
    await once(socket, 'data');
  },
};

for (const [what, end] of Object.entries(ENDS))
  test(`no request stays in flight when ${what} while its key is looked up`, async (t) => {
    let service: TestService | undefined;
    // Before the database is dropped.
    t.after(() => service?.stop());
    const databaseUrl = await migratedPostgres(t);
    service = await startTestService(t, { databaseUrl, env: { METRICS_PORT: '0' } });
    const key = await service.issueKey();
    const locker = new Client({ connectionString: databaseUrl });
    await locker.connect();
    await locker.query('BEGIN; LOCK TABLE keys IN ACCESS EXCLUSIVE MODE');
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
    socket.write(
      `POST /v1/pets HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`,
    );
    const isWaiting = `SELECT FROM pg_locks WHERE relation = 'keys'::regclass AND NOT granted`;
    while ((await locker.query(isWaiting)).rowCount === 0);
    await end(socket);
    // The service has seen it when it answers others.
    for (let times = 0; times < 5; times++) await call(service.url, '/healthz');
    await locker.query('COMMIT');
    await locker.end();
    const { metricsUrl = '' } = service;
    const inFlight = async () =>
      /^petstore_requests_in_flight (\d+)$/m.exec((await call(metricsUrl, '/metrics')).text)?.[1];
    for (let looks = 0; looks < 1_000 && (await inFlight()) !== '0'; looks++);
    assert.equal(await inFlight(), '0');
  });
