// Contract: section 6.6.
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { call } from '../support/api.ts';
import { fakeClock } from '../support/clock.ts';
import { startTestInstances } from '../support/instances.ts';
import type { Variables } from '../support/process.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { test } from '../support/test.ts';

type Start = (t: TestContext, env: Variables) => Promise<readonly TestService[]>;

const startAlone: Start = async (t, env) => [
  await startTestService(t, { env, clock: fakeClock(Date.now()) }),
];

const startShared: Start = async (t, env) => (await startTestInstances(t, 2, env)).services;

for (const [kind, start] of Object.entries({ SQLite: startAlone, 'PostgreSQL and Redis': startShared })) {
  test(`${kind}: a ban that begins is one line of one instance`, async (t) => {
    const services = await start(t, { BAN_AFTER: '3', BAN_SECONDS: '300' });
    const key = await services[0]?.issueKey({ account: 'shop', limits: { perMinute: 1, perDay: 9 } });
    for (let calls = 0; calls < 6; calls++)
      for (const { url } of services) await call(url, '/v1/pets', { key });
    const lines = () => services.flatMap(({ log }) => log.filter(({ msg }) => msg === 'ban begins'));
    await until(() => lines().length > 0);
    const [{ time, until: end, ...line } = {}, ...others] = lines();
    assert.deepEqual(line, { level: 40, keyId: 1, account: 'shop', count: 1, msg: 'ban begins' });
    assert.deepEqual(others, []);
    const left = Date.parse(String(end)) - new Date(time as number).getTime();
    assert.ok(left > 200_000 && left <= 300_000, `${left}`);
  });
}
