// What /metrics says. Contract: section 1.
import assert from 'node:assert/strict';
import { MINUTE, HOUR } from '../../src/domain/clock.ts';

import { RequestCounts } from '../../src/observability/request-metrics.ts';
import { call } from '../support/api.ts';
import { startSharedService } from '../support/instances.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { test } from '../support/test.ts';

const env = { METRICS_PORT: '0' };

/** The values of all series, by name and labels. */
async function metricsOf(service: TestService): Promise<ReadonlyMap<string, number>> {
  const url = service.log.find(({ msg }) => msg === 'metrics')?.['url'];
  return valuesIn(await (await fetch(String(url))).text());
}

function valuesIn(text: string): ReadonlyMap<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const space = line.lastIndexOf(' ');
      return [line.slice(0, space), Number(line.slice(space + 1))];
    }),
  );
}

test('requests are counted by method, route, status, code and plan', async (t) => {
  const service = await startTestService(t, { env });
  const key = await service.issueKey({ limits: { perMinute: 3, perDay: 9 } });
  await call(service.url, '/v1/pets', { key });
  await call(service.url, '/v1/pets', { key, method: 'HEAD' });
  await call(service.url, '/v1/pets/7', { key });
  await call(service.url, '/v1/pets', { key });
  await call(service.url, '/v1/pets', { key });
  await call(service.url, '/v1/pets');
  await call(service.url, '/v1/pets', { method: 'PURGE' });
  await call(service.url, '/v1/pets', { method: 'MOVE' });
  await call(service.url, '/v1/pets/7', { method: 'PATCH' });
  await call(service.url, '/v1/store/orders/7', { method: 'DELETE' });
  const requests = [...(await metricsOf(service))].filter(([series]) =>
    series.startsWith('petstore_requests_total'),
  );
  const list = 'route="/v1/pets",status=';
  assert.deepEqual(Object.fromEntries(requests), {
    [`petstore_requests_total{method="GET",${list}"200",plan="enterprise"}`]: 1,
    [`petstore_requests_total{method="HEAD",${list}"200",plan="enterprise"}`]: 1,
    'petstore_requests_total{method="GET",route="/v1/pets/{petId}",status="404",code="not_found",plan="enterprise"}': 1,
    [`petstore_requests_total{method="GET",${list}"429",code="rate_limit_exceeded",plan="enterprise"}`]: 2,
    [`petstore_requests_total{method="GET",${list}"401",code="unauthorized"}`]: 1,
    [`petstore_requests_total{method="other",${list}"401",code="unauthorized"}`]: 2,
    'petstore_requests_total{method="PATCH",route="/v1/pets/{petId}",status="401",code="unauthorized"}': 1,
    'petstore_requests_total{method="DELETE",route="/v1/store/orders/{orderId}",status="401",code="unauthorized"}': 1,
  });
});

test('requests to deprecated operations are counted, and the accounts that send them', async (t) => {
  const service = await startTestService(t, { env });
  const { usageHistory, keys } = service.store;
  const deprecated = async (name: string) =>
    (await metricsOf(service)).get(`petstore_deprecated_${name}{operation="getPet"}`);
  await until(async () => (await deprecated('accounts')) === 0);
  for (const account of ['acme', 'acme', 'shop']) {
    const key = await service.issueKey({ account });
    await call(service.url, '/v1/pets/7', { key });
    await call(service.url, '/v1/pets/7', { key, method: 'HEAD' });
    await call(service.url, '/v1/pets', { key });
  }
  await call(service.url, '/v1/pets/7');
  const hour = Math.floor(service.clock().unix / HOUR);
  const counts = (await keys.listAll()).map(({ id: keyId }) => ({
    hour,
    keyId,
    operation: 'getPet',
    counts: [2, 0, 0, 0] as const,
  }));
  await usageHistory.add({ writer: 'test', sequence: 1, counts });
  assert.equal(await deprecated('requests_total'), 6);
  assert.equal(await deprecated('accounts'), 0);
  await service.passTime(10 * MINUTE);
  await until(async () => (await deprecated('accounts')) === 2);
});

test('durations are counted by method and route, in buckets up to each bound', () => {
  const counts = new RequestCounts();
  for (const seconds of [0.0004, 0.0005, 0.003, 7])
    counts.observe('GET', '/v1/pets', 200, undefined, 'free', seconds);
  counts.observe('POST', '/v1/pets', 201, undefined, 'pro', 0.02);
  const metrics = valuesIn(counts.text());
  const of = (part: string, method: string) =>
    metrics.get(`petstore_request_duration_seconds_${part}method="${method}",route="/v1/pets"}`);
  const buckets = (method: string) =>
    ['0.0005', '0.001', '0.0025', '0.005', '0.01', '0.025', '0.05', '0.1', '0.5', '1', '5', '+Inf'].map(
      (bound) => of(`bucket{le="${bound}",`, method),
    );
  assert.deepEqual(buckets('GET'), [2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3, 4]);
  assert.deepEqual(buckets('POST'), [0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1]);
  assert.deepEqual([of('count{', 'GET'), of('sum{', 'GET')], [4, 0.0004 + 0.0005 + 0.003 + 7]);
});

test('connections to PostgreSQL are counted, in use and waited for', async (t) => {
  const service = await startSharedService(t, { env: { ...env, DATABASE_CONNECTIONS: '2' } });
  const load = async () => {
    const metrics = await metricsOf(service);
    return ['connections_in_use', 'waiting'].map((name) => metrics.get(`petstore_postgres_${name}`));
  };
  const { database } = service.store;
  const [first, second] = [await database.snapshot(), await database.snapshot()];
  assert.equal((await load())[0], 2);
  const third = database.snapshot();
  assert.ok(Number((await load())[1]) >= 1);
  await first[Symbol.asyncDispose]();
  await (await third)[Symbol.asyncDispose]();
  await second[Symbol.asyncDispose]();
  // Leaves an idle connection in the pool.
  await service.store.ping();
  // The service itself may be using one for a moment.
  await until(async () => String(await load()) === '0,0');
});

test('the time that Redis takes to answer is measured', async (t) => {
  const service = await startSharedService(t, { env });
  await until(
    async () => Number((await metricsOf(service)).get('petstore_redis_heartbeat_seconds_count')) > 1,
  );
});

test('only stores that are used have metrics', async (t) => {
  const service = await startTestService(t, { env });
  const names = [...(await metricsOf(service)).keys()];
  assert.deepEqual(
    names.filter((name) => /^petstore_(?:postgres|redis|shared)/.test(name)),
    [],
  );
  assert.ok(names.includes('nodejs_eventloop_lag_p99_seconds'));
});
