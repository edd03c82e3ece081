// A standby takes over from PostgreSQL (docs/guarantees.md). Contract: sections 3 and 4.
import assert from 'node:assert/strict';
import { startCatalogueLoad } from '../support/catalogue-load.ts';
import { call } from '../support/api.ts';
import { ask, startPostgres, startStandby } from '../support/postgres.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { test } from '../support/test.ts';

test('with a synchronous standby, every 201 outlives the server, and none is given without the standby', async (t) => {
  let service: TestService | undefined;
  // Before the database goes.
  t.after(() => service?.stop());
  const primary = await startPostgres();
  t.after(() => primary.stop());
  const standby = await startStandby(t, primary);
  await ask(primary, `ALTER SYSTEM SET synchronous_standby_names = '*'`);
  await ask(primary, 'SELECT pg_reload_conf()');
  const proxy = await startTcpProxy(t, primary.url);
  const pool = { connectTimeout: 500, statementTimeout: 500 };
  service = await startTestService(t, { databaseUrl: proxy.url, pool });
  const { url } = service;
  const variables = { DATABASE_URL: standby.url };
  const load = startCatalogueLoad({ url, key: await service.issueKey(), variables, prefix: 'failover' });
  const isReady = async () => (await call(url, '/readyz')).status === 200;
  const creates = async () => {
    const enough = load.created() + 50;
    await until(async () => load.created() >= enough && (await isReady()));
  };
  await creates();
  await standby.kill();
  // Those whose commits the standby has already.
  await load.answered();
  const refused = load.refused();
  const created = load.created();
  await until(() => load.refused() >= refused + 20);
  assert.equal(load.created(), created);
  await standby.restart();
  await creates();
  await primary.kill();
  await until(async () => !(await isReady()));
  await ask(standby, 'SELECT pg_promote()');
  proxy.moveTo(standby.url);
  await creates();
  await load.finish();
});
