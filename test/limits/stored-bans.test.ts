// What an operator reads of the bans in a database. Contract: section 6.7.
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { PLANS } from '../../src/domain/plan.ts';
import { newKey } from '../storage/fixture.ts';
import { STORES } from '../storage/stores.ts';
import { unixMilliseconds } from '../support/clock.ts';
import { countStatements } from '../support/statements.ts';
import { addKey, bannable, createAccount } from '../support/store.ts';
import { test } from '../support/test.ts';

/** More than two reads of the table. */
const MANY = 4_001;

const numbersTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1);

for (const [name, fresh] of STORES) {
  /** Keys 1 to `count` are banned. Only the statements after that count. */
  const prepare = async (t: TestContext, count: number) => {
    const { store, clock } = await fresh(t);
    const until = unixMilliseconds(clock) + 60_000;
    await store.limits.writeBanRecords(
      new Map(numbersTo(count).map((keyId) => [keyId, { refusals: [], ban: { until, count: 1 } }])),
    );
    const list = async (query: Parameters<typeof store.limits.listBans>[0]) =>
      (await store.limits.listBans(query)).map(({ keyId }) => keyId);
    return { ...store, list, statements: countStatements(t) };
  };

  test(`${name}: all bans are read, however many there are`, async (t) => {
    const { limits, list } = await prepare(t, MANY);
    const all = numbersTo(MANY);
    assert.deepEqual(await list({}), all);
    assert.deepEqual([...(await limits.readBanRecords()).keys()], all);
    assert.equal(await limits.countBans(), MANY);
    await assert.rejects(list({ signal: AbortSignal.abort() }), { name: 'AbortError' });
  });

  test(`${name}: a page of bans goes on behind a key, and takes one statement`, async (t) => {
    const { list, statements } = await prepare(t, 5);
    statements.take();
    assert.deepEqual(await list({ limit: 2 }), [1, 2]);
    assert.deepEqual(statements.take(), { statements: 1, rows: 2 });
    assert.deepEqual(await list({ after: 2, limit: 2 }), [3, 4]);
    assert.deepEqual(await list({ after: 4n, limit: 2 }), [5]);
    statements.take();
    assert.deepEqual(await list({}), [1, 2, 3, 4, 5]);
    assert.deepEqual(statements.take(), { statements: 1, rows: 5 });
  });

  test(`${name}: the bans of an account are those of its keys`, async (t) => {
    const { accounts, keys, list } = await prepare(t, 5);
    const [one, two] = [
      await createAccount(accounts, 'one', 'free', PLANS.free),
      await createAccount(accounts, 'two', 'free', PLANS.free),
    ];
    for (const { id } of [one, two, two, one, two]) await addKey(keys, newKey(id));
    assert.deepEqual(await list({ accountId: two.id }), [2, 3, 5]);
    assert.deepEqual(await list({ accountId: two.id, limit: 2 }), [2, 3]);
    assert.deepEqual(await list({ accountId: one.id, after: 1 }), [4]);
  });

  test(`${name}: the bans of some keys are looked up alone`, async (t) => {
    const { limits, statements } = await prepare(t, 5);
    statements.take();
    const found = await limits.findBans([4, 2, 9].map(bannable));
    assert.deepEqual(
      found.map(({ keyId }) => keyId),
      [4, 2],
    );
    assert.deepEqual(statements.take(), { statements: 1, rows: 2 });
    await limits.findBans([]);
    assert.deepEqual(statements.take(), { statements: 0, rows: 0 });
  });
}
