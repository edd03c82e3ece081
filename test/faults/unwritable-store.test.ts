// Contract: sections 1 and 4. A database that can be read and no longer written, while nobody sends a request.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { Client } from 'pg';
import { call } from '../support/api.ts';
import { onPostgres } from '../support/databases.ts';
import { issueKey } from '../support/instances.ts';
import { newDatabase } from '../support/new-database.ts';
import { run, runJson, startServiceProcess, waitFor } from '../support/process.ts';
import { startTestService } from '../support/service.ts';
import { smallDisk } from '../support/small-disk.ts';
import { test } from '../support/test.ts';
import { until } from '../support/until.ts';

const FAILED = 'writing to the database failed; the service tries again';
const AGAIN = 'writing to the database succeeds again';

/** Waits until the metric has this value and the service is ready. */
async function untilWritable(url: string, metricsUrl: string | undefined, value: 0 | 1): Promise<void> {
  assert.ok(metricsUrl);
  const line = `\npetstore_database_writable ${value}\n`;
  await until(async () => (await (await fetch(metricsUrl)).text()).includes(line));
  assert.equal((await fetch(`${url}/readyz`)).status, 200);
}

test('on a full disk a metric and a line say that nothing can be written, and later that it can', async (t) => {
  const disk = smallDisk(t);
  const file = join(disk.folder, 'petstore.db');
  newDatabase(file);
  const service = await startTestService(t, { databaseUrl: `sqlite:${file}`, env: { METRICS_PORT: '0' } });
  const isWritable = (value: 0 | 1) => untilWritable(service.url, service.metricsUrl, value);
  const isLogged = (message: string) => until(() => service.logText().includes(message));
  await isWritable(1);
  disk.fill();
  await isLogged(FAILED);
  await isWritable(0);
  disk.grow();
  await isLogged(AGAIN);
  await isWritable(1);
  assert.equal(service.logText().split(FAILED).length, 2, 'once');
});

test('while PostgreSQL is read-only, reads go on, and a metric and a line tell of it', async (t) => {
  const env = await onPostgres(t);
  const { key } = await issueKey(env, { plan: 'pro' });
  await run(['operators', 'create', 'billing', '--role', 'viewer'], env);
  const { token } = await runJson<{ token: string }>(['operators', 'token', 'billing'], env);
  const service = await startServiceProcess(t, { ...env, METRICS_PORT: '0', CONSOLE_PORT: '0' });
  const metrics = /"url":"([^"]+)","msg":"metrics"/.exec(service.stdout())?.[1];
  const admin = /"url":"([^"]+)","listener":"[^"]+","msg":"console"/.exec(service.stdout())?.[1] ?? '';
  const operator = new Client({ connectionString: env['DATABASE_URL'] });
  // The database is dropped under it if the test fails.
  operator.on('error', () => undefined);
  await operator.connect();
  const { rows } = await operator.query<{ name: string }>('SELECT quote_ident(current_database()) AS name');
  /** As after a failover: the sessions are gone, also that of the lock. */
  const setReadOnly = async (value: 'on' | 'off') => {
    await operator.query(
      `SET default_transaction_read_only = off; ALTER DATABASE ${rows[0]?.name} SET default_transaction_read_only = ${value}`,
    );
    await operator.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid()`);
  };
  // Counts that are not written yet.
  await call(service.url, '/v1/pets', { key });
  await call(service.url, '/v1/pets', { key: 'unknown' });
  await setReadOnly('on');
  await waitFor(service, ({ stdout }) => (stdout.includes(FAILED) ? true : undefined));
  assert.match(service.stdout(), /read-only transaction/);
  await until(async () => (await call(service.url, '/v1/pets', { key })).status === 200);
  await untilWritable(service.url, metrics, 0);
  const { health } = (await call(admin, '/admin/v1/overview', { key: token })).json;
  assert.deepEqual([health.database.isUp, health.database.isWritable], [true, false]);
  const refused = await call(service.url, '/v1/pets', { key, body: '{"name":"Rex","categoryId":7}' });
  assert.equal(refused.status, 503);
  await setReadOnly('off');
  await waitFor(service, ({ stdout }) => (stdout.includes(AGAIN) ? true : undefined));
  await untilWritable(service.url, metrics, 1);
  service.child.kill('SIGTERM');
  assert.equal((await service.ended).code, 0);
  await operator.end();
});
