// Contract: sections 5 and 6.6.
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { PLANS } from '../../src/domain/plan.ts';
import { call } from '../support/api.ts';
import { fakeClock } from '../support/clock.ts';
import { startTestInstances } from '../support/instances.ts';
import { run, type Variables } from '../support/process.ts';
import { startTestService, temporaryDatabase, type TestService } from '../support/service.ts';
import { until } from '../support/shared-counting.ts';
import { newKey, newApiKey } from '../storage/fixture.ts';
import { changeAccount, ROOT, addKey, createAccount } from '../support/store.ts';
import { test } from '../support/test.ts';

const EVENTS = new Set<unknown>([
  'ban begins',
  'ban lifted',
  'key revoked',
  'key rotated',
  'key scopes changed',
  'plan changed',
  'account renamed',
  'account suspended',
  'account resumed',
]);

/** The lines about bans and changes, without their times. */
const changesIn = ({ log }: Pick<TestService, 'log'>) =>
  log
    .filter(({ msg }) => EVENTS.has(msg))
    .map((line) => Object.fromEntries(Object.entries(line).filter(([name]) => name !== 'time')));

const logs = (service: TestService, count: number) => until(() => changesIn(service).length >= count);

const [INFO, WARN] = [30, 40];

type Start = (
  t: TestContext,
  env?: Variables,
) => Promise<{ readonly service: TestService; readonly variables: Variables }>;

const startAlone: Start = async (t, env = {}) => {
  const variables = { ...env, DATABASE_URL: temporaryDatabase(t) };
  return {
    service: await startTestService(t, {
      env,
      databaseUrl: variables.DATABASE_URL,
      clock: fakeClock(Date.now()),
    }),
    variables,
  };
};

const startShared: Start = async (t, env = {}) => {
  const { services, variables } = await startTestInstances(t, 1, env);
  const [service] = services;
  assert.ok(service !== undefined);
  return { service, variables: { ...env, ...variables } };
};

for (const [kind, start] of Object.entries({ SQLite: startAlone, 'PostgreSQL and Redis': startShared })) {
  test(`${kind}: a changed, a rotated and a revoked key and a new plan are one log line each`, async (t) => {
    const { service } = await start(t);
    const { accounts, keys } = service.store;
    const { id } = await createAccount(accounts, 'shop', 'free', PLANS.free);
    const key = await addKey(keys, newKey(id));
    for (const _ of [1, 2]) await keys.setScopes(ROOT, key.id, ['pets:read']);
    await keys.rotate(ROOT, { id: key.id, key: newApiKey(), grace: 0 });
    await keys.revoke(ROOT, key.id);
    // These change nothing.
    await keys.revoke(ROOT, key.id);
    await changeAccount(accounts, id, { plan: 'free', limits: PLANS.free });
    await changeAccount(accounts, id, { plan: 'enterprise', limits: { perMinute: 5, perDay: 50 } });
    await changeAccount(accounts, id, { plan: 'enterprise', limits: { perMinute: 5, perDay: 50 } });
    await keys.revoke(ROOT, key.id + 1);
    await logs(service, 5);
    assert.deepEqual(changesIn(service), [
      { level: INFO, keyId: key.id, account: 'shop', msg: 'key scopes changed' },
      { level: INFO, keyId: key.id, account: 'shop', msg: 'key rotated' },
      { level: INFO, keyId: key.id, account: 'shop', msg: 'key revoked' },
      { level: INFO, account: 'shop', plan: 'enterprise', msg: 'plan changed' },
      { level: INFO, keyId: key.id + 1, account: 'shop', msg: 'key revoked' },
    ]);
  });

  test(`${kind}: a renamed, a suspended and a resumed account are one log line each`, async (t) => {
    const { service } = await start(t);
    const { accounts } = service.store;
    const { id } = await createAccount(accounts, 'shop', 'pro', PLANS.pro);
    await changeAccount(accounts, id, { suspended: false });
    for (const _ of [1, 2]) await changeAccount(accounts, id, { name: 'Pet shop' });
    await logs(service, 1);
    for (const _ of [1, 2]) await changeAccount(accounts, id, { suspended: true });
    for (const _ of [1, 2]) await changeAccount(accounts, id, { suspended: false });
    await logs(service, 3);
    assert.deepEqual(changesIn(service), [
      { level: INFO, account: 'Pet shop', plan: 'pro', msg: 'account renamed' },
      { level: INFO, account: 'Pet shop', plan: 'pro', msg: 'account suspended' },
      { level: INFO, account: 'Pet shop', plan: 'pro', msg: 'account resumed' },
    ]);
  });

  test(`${kind}: a ban that begins and a lifted ban are one log line each`, async (t) => {
    const { service, variables } = await start(t, { BAN_AFTER: '3', BAN_SECONDS: '300' });
    const key = await service.issueKey({ account: 'shop', limits: { perMinute: 1, perDay: 9 } });
    for (let calls = 0; calls < 6; calls++) await call(service.url, '/v1/pets', { key });
    await logs(service, 1);
    const lifted = await run(['bans', 'lift', '1'], variables);
    assert.equal(lifted.code, 0, lifted.stderr);
    await logs(service, 2);
    const [{ until: end, ...began } = {} as Record<string, unknown>, ...rest] = changesIn(service);
    assert.deepEqual(began, { level: WARN, keyId: 1, account: 'shop', count: 1, msg: 'ban begins' });
    const left = Date.parse(String(end)) - Date.now();
    assert.ok(left > 200_000 && left <= 300_000, `${left}`);
    assert.deepEqual(rest, [{ level: INFO, keyId: 1, account: 'shop', msg: 'ban lifted' }]);
  });
}

test('of several instances one logs a change', async (t) => {
  const { services } = await startTestInstances(t, 3);
  const [first] = services;
  assert.ok(first !== undefined);
  await first.issueKey({ account: 'shop' });
  await first.store.keys.revoke(ROOT, 1);
  const all = () => services.flatMap(changesIn);
  await until(() => all().length > 0);
  assert.deepEqual(await first.store.notices.take(), []);
  assert.deepEqual(all(), [{ level: INFO, keyId: 1, account: 'shop', msg: 'key revoked' }]);
});

test('a change that was made while no service ran is logged after the start', async (t) => {
  const databaseUrl = temporaryDatabase(t);
  const variables = { DATABASE_URL: databaseUrl };
  const plan = ['--account', 'shop', '--plan', 'pro'];
  assert.equal((await run(['migrate'], variables)).code, 0);
  assert.equal((await run(['keys', 'create', ...plan], variables)).code, 0);
  assert.equal((await run(['keys', 'revoke', '1'], variables)).code, 0);
  const service = await startTestService(t, { databaseUrl });
  await logs(service, 1);
  assert.deepEqual(changesIn(service), [{ level: INFO, keyId: 1, account: 'shop', msg: 'key revoked' }]);
});
