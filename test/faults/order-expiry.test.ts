// Contract: section 3.12.
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import type { TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Client } from 'pg';
import { PLANS } from '../../src/domain/plan.ts';
import { DAY } from '../../src/domain/clock.ts';
import type { Store } from '../../src/resources/repositories.ts';
import { of } from '../storage/order-fixture.ts';
import { requireValue } from '../storage/fixture.ts';
import { postgresFixture } from '../storage/postgres-fixture.ts';
import { fakeClock } from '../support/clock.ts';
import { sharedServers } from '../support/instances.ts';
import { stopDatabaseClock } from '../support/postgres-clock.ts';
import { startTestService, temporaryDatabase, type TestService } from '../support/service.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { test } from '../support/test.ts';
import { CLIENT, createAccount, findOrCreateAccount } from '../support/store.ts';

const HOLD = 3 * DAY;
const REX = { name: 'Rex', categoryId: 7n, status: 'available' } as const;

/** Orders as many animals, for account 1. */
async function makeOrders(
  { accounts, pets, orders }: Pick<Store, 'accounts' | 'pets' | 'orders'>,
  count: number,
) {
  await findOrCreateAccount(accounts, 'shelter', 'free', PLANS.free);
  const made = [];
  while (made.length < count)
    made.push(
      requireValue(
        await orders.create(CLIENT, 1, { petId: requireValue(await pets.create(CLIENT, REX)).id }),
      ),
    );
  return made;
}

const pending = async ({ orders }: Pick<Store, 'orders'>) => {
  const { items } = await orders.list({ accountId: 1, limit: 100, status: 'pending' });
  return items.length;
};

/** What the log says about expiries that failed. */
const failures = ({ log }: TestService) =>
  log.map(({ msg }) => String(msg)).filter((msg) => msg.startsWith('the expiry of orders'));

/** Instances over one database, whose clock only the test moves. */
async function startInstances(t: TestContext, count: number) {
  const services: TestService[] = [];
  // Before the servers that they use: what is registered first runs first.
  t.after(() => Promise.all(services.map((service) => service.stop())));
  const env = await sharedServers(t);
  const { DATABASE_URL: url = '' } = env;
  const proxy = await startTcpProxy(t, url);
  const clock = fakeClock();
  const passTime = await stopDatabaseClock(url, clock().unix);
  while (services.length < count)
    services.push(
      await startTestService(t, {
        clock,
        env: { ...env, MAX_OPEN_ORDERS: '1000', DATABASE_URL: proxy.url },
      }),
    );
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  t.after(() => client.end());
  return { services, passTime, proxy, raw: async (sql: string) => (await client.query(sql)).rows };
}

test('three instances expire each order once, and log no failure', async (t) => {
  const { services, passTime, raw } = await startInstances(t, 3);
  const [first, ...others] = services;
  assert.ok(first !== undefined && others[1] !== undefined);
  const made = await makeOrders(first.store, 120);
  await raw(`CREATE TABLE expiries (id bigint);
    CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS
      'BEGIN INSERT INTO expiries VALUES (new.id); RETURN new; END';
    CREATE TRIGGER note AFTER UPDATE ON orders FOR EACH ROW EXECUTE FUNCTION note()`);
  await passTime(HOLD);
  while ((await pending(others[1].store)) > 0);
  const { states } = of(others[1].store);
  for (const each of made) assert.deepEqual(await states(each), ['available', 'expired']);
  for (const service of services) await service.stop();
  assert.deepEqual(await raw('SELECT count(*)::int, count(DISTINCT id)::int AS different FROM expiries'), [
    { count: 120, different: 120 },
  ]);
  assert.deepEqual(services.flatMap(failures), []);
});

test('a stop waits for the sweep that runs, and begins no other', async (t) => {
  const { services, passTime, proxy, raw } = await startInstances(t, 1);
  const [service] = services;
  assert.ok(service !== undefined);
  await makeOrders(service.store, 101);
  const held = proxy.holdAnswerTo('FOR UPDATE OF pets SKIP LOCKED');
  await passTime(HOLD);
  await held.given;
  let isOver = false;
  const stopped = service.stop().finally(() => (isOver = true));
  for (let turn = 0; turn < 100; turn++) await nextTurn();
  assert.equal(isOver, false);
  held.release();
  await stopped;
  assert.deepEqual(failures(service), []);
  const counts = 'SELECT status, count(*)::int FROM orders GROUP BY status ORDER BY status';
  assert.deepEqual(await raw(counts), [
    { status: 'expired', count: 100 },
    { status: 'pending', count: 1 },
  ]);
});

test('an expiry that fails is logged once, and done when the database is back', async (t) => {
  const databaseUrl = temporaryDatabase(t);
  const service = await startTestService(t, { databaseUrl });
  await createAccount(service.store.accounts, 'mine', 'free', { perMinute: 1, perDay: 1 });
  const [made] = await makeOrders(service.store, 1);
  assert.ok(made !== undefined);
  const { states } = of(service.store);
  const other = new DatabaseSync(databaseUrl.slice('sqlite:'.length));
  t.after(() => other.close());
  other.exec('BEGIN IMMEDIATE');
  await service.passTime(HOLD);
  // The writes wait by the clock of the service.
  const hurry = setInterval(() => service.clock.advance(50), 1);
  while (failures(service).length === 0) await nextTurn();
  clearInterval(hurry);
  assert.deepEqual(await states(made), ['pending', 'pending']);
  other.exec('ROLLBACK');
  while (failures(service).length === 1) await nextTurn();
  assert.deepEqual(await states(made), ['available', 'expired']);
  assert.deepEqual(failures(service), [
    'the expiry of orders failed; the service tries again',
    'the expiry of orders succeeds again',
  ]);
});

test('with SQLite, a clock that is set back does not lengthen an order', async (t) => {
  const { clock, store } = await startTestService(t);
  const [made] = await makeOrders(store, 1);
  assert.ok(made !== undefined);
  clock.jump(-30 * DAY);
  clock.advance(HOLD - 1_000);
  await store.orders.expireDue();
  assert.deepEqual(await of(store).states(made), ['pending', 'pending']);
  clock.advance(1_001);
  assert.deepEqual(await store.orders.complete(CLIENT, made.id, { accountId: 1 }), { error: 'conflict' });
  const [later] = await makeOrders(store, 1);
  assert.ok(later !== undefined);
  clock.jump(HOLD + 30 * DAY);
  await store.orders.expireDue();
  assert.deepEqual(await of(store).states(later), ['available', 'expired']);
});

test('with PostgreSQL, only the clock of the database decides when an order expires', async (t) => {
  const { store, another, passTime, clock } = await postgresFixture(t);
  const ahead = await another(fakeClock(clock().unix + 2 * HOLD));
  const [made] = await makeOrders(ahead, 1);
  assert.ok(made !== undefined);
  assert.equal(Date.parse(made.createdAt), Math.floor(clock().unix));
  await ahead.orders.expireDue();
  assert.deepEqual(await of(store).states(made), ['pending', 'pending']);
  await passTime(HOLD);
  assert.deepEqual(await ahead.orders.complete(CLIENT, made.id, { accountId: 1 }), { error: 'conflict' });
});
