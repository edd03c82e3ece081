// Contract: section 4.
import assert from 'node:assert/strict';
import { after, type TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { assertError, assertRateHeaders, call } from '../support/api.ts';
import { startCatalogueLoad } from '../support/catalogue-load.ts';
import { issueKey } from '../support/instances.ts';
import { startPostgres } from '../support/postgres.ts';
import { startServiceProcess } from '../support/process.ts';
import { startForFile, test } from '../support/test.ts';

/** How soon everything must work again once PostgreSQL does, in milliseconds. */
const RECOVERY = 120_000;

const server = await startForFile(async () => {
  const started = await startPostgres();
  after(() => started.stop());
  return started;
});

/** A service over the server of this file, under load. */
async function startLoadedService(t: TestContext, account: string) {
  const variables = { DATABASE_URL: server.url, PORT: '0' };
  const { key } = await issueKey(variables, { account });
  const service = await startServiceProcess(t, { ...variables, LOG_LEVEL: 'info' });
  const load = startCatalogueLoad({ url: service.url, key, variables, prefix: account });
  const readiness = async () => (await call(service.url, '/readyz')).status;
  return {
    url: service.url,
    load,
    readiness,
    /** Until `count` more creates are answered. */
    async creates(count: number) {
      for (const enough = load.created() + count; load.created() < enough; ) await wait(5);
    },
    async refusals(count: number) {
      for (const enough = load.refused() + count; load.refused() < enough; ) await wait(5);
    },
    /** How long it takes from now until creates are answered and the service says that it is ready. Milliseconds. */
    async recovery() {
      const begin = performance.now();
      const createdBefore = load.created();
      while (load.created() === createdBefore || (await readiness()) !== 200) {
        assert.ok(performance.now() - begin < RECOVERY, 'it does not recover');
        await wait(10);
      }
      t.diagnostic(`recovered after ${Math.round(performance.now() - begin)} ms`);
    },
    /** What the promises of all requests come to. */
    async finish() {
      await load.finish();
      assert.equal(service.child.exitCode, null, 'the service lives');
      t.diagnostic(`${load.created()} created, ${load.refused()} × 503`);
    },
  };
}

test('a PostgreSQL restart under load gives 503, loses nothing and repeats nothing', async (t) => {
  const service = await startLoadedService(t, 'killed');
  for (let round = 0; round < 3; round++) {
    await service.creates(100);
    await server.kill();
    await service.refusals(50);
    assert.equal(await service.readiness(), 503);
    await server.restart();
    await service.recovery();
  }
  await service.finish();
});

test('callers whose counters cannot be loaded get 503 with Error body and headers', async (t) => {
  const variables = { DATABASE_URL: server.url, PORT: '0' };
  const { key } = await issueKey(variables, { account: 'stranger' });
  const service = await startServiceProcess(t, { ...variables, LOG_LEVEL: 'info' });
  await server.kill();
  try {
    for (const caller of [key, undefined, key.replace(/.$/, 'x')]) {
      const answer = await call(service.url, '/v1/pets', { key: caller });
      assertError(answer, 'unavailable');
      assertRateHeaders(answer);
      assert.match(answer.headers.get('retry-after') ?? '', /^\d+$/);
    }
    assert.equal((await call(service.url, '/healthz')).status, 200);
  } finally {
    await server.restart();
  }
});
