// Contract: sections 3.13 and 6.9.
import { STORES } from '../../../test/storage/stores.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY, HOUR } from '../../domain/clock.ts';
import { PLANS } from '../../domain/plan.ts';
import { OUTCOMES, type UsageCount, type UsageInterval, type UsageRowsBy } from '../../domain/usage.ts';
import { open, type UsageRepository } from './repository.ts';
import {
  LENGTH,
  placeOfSum,
  type SumPlace,
  type Usage,
  type UsageBy,
  type UsagePageQuery,
  type UsageSum,
  type UsageSumsQuery,
} from './rules.ts';
import type { Engine } from '../../storage/engine.ts';
import type { Sql } from '../../storage/sql.ts';
import { ACCOUNTS } from '../accounts/repository.ts';
import { KEYS } from '../keys/table.ts';
import type { Store } from '../repositories.ts';
import { KEYS_AT_ONCE } from './reads.ts';
import { USAGE_DAYS } from './table.ts';
import { newKey } from '../../../test/storage/fixture.ts';
import { addKey, createAccount } from '../../../test/support/store.ts';

const BY: readonly (UsageRowsBy | undefined)[] = [undefined, 'operation', 'key'];
const INTERVALS = ['hour', 'day'] as const satisfies readonly UsageInterval[];

/** Rows that one read gives at most. */
const MOST_ROWS = 1_000;

/** The names of `count` operations. */
const operations = (count: number) =>
  Array.from({ length: count }, (_, index) => `operation${String.fromCodePoint(97 + index)}`);

/** An account with keys, whose ids are returned. */
async function addAccount({ accounts, keys }: Store, name: string, most: number) {
  const { id } = await createAccount(accounts, name, 'free', PLANS.free);
  const keyIds: number[] = [];
  for (let count = 0; count < most; count++) keyIds.push((await addKey(keys, newKey(id))).id);
  return { id, keyIds };
}

/** All rows, page by page. `between` runs after each page. */
async function walk(
  history: Pick<UsageRepository, 'ofAccount'>,
  accountId: number,
  query: UsagePageQuery,
  between: () => Promise<void> = async () => undefined,
): Promise<readonly Usage[]> {
  const all: Usage[] = [];
  for (let after = query.after; ; after = all.at(-1)) {
    const page = await history.ofAccount(accountId, { ...query, after });
    assert.ok(page.length <= query.limit, `${page.length} rows`);
    all.push(...page);
    if (page.length < query.limit) return all;
    await between();
  }
}

const nameOf = ({ start, operation, keyId }: Usage) => `${start} ${operation} ${keyId}`;

/** The rows that these counts make, by their names, with the number of their requests. */
function requestsOf(counts: readonly UsageCount[], interval: UsageInterval, by: UsageRowsBy | undefined) {
  const sums = new Map<string, number>();
  for (const { hour, operation, keyId, counts: its } of counts) {
    const start = Math.floor((hour * HOUR) / LENGTH[interval]) * LENGTH[interval];
    const name = `${start} ${by === 'key' ? undefined : operation} ${by === 'operation' ? undefined : keyId}`;
    sums.set(name, (sums.get(name) ?? 0) + its.reduce((sum, count) => sum + count, 0));
  }
  return sums;
}

const requests = (usage: Usage) => OUTCOMES.reduce((sum, outcome) => sum + usage[outcome], 0);

for (const [name, fresh] of STORES) {
  test(`${name}: pages of usage have each row once, oldest first, and sums of keys or operations`, async (t) => {
    const { store, clock } = await fresh(t);
    const { usageHistory } = store;
    const { id, keyIds } = await addAccount(store, 'shelter', 3);
    const last = Math.floor(clock().unix / HOUR);
    const counts = Array.from({ length: 12 }, (_, ago) => last - 25 * ago).flatMap((hour, index) =>
      keyIds.flatMap((keyId, key) =>
        operations(1 + ((index + key) % 3)).map((operation): UsageCount => {
          return { hour, keyId, operation, counts: [1 + index, key, 0, 1] };
        }),
      ),
    );
    await usageHistory.add({ writer: 'one', sequence: 1, counts });
    const range = { from: (last - 300) * HOUR, to: (last + 1) * HOUR };
    for (const interval of INTERVALS)
      for (const by of BY)
        for (const limit of [1, 7, 100]) {
          const rows = await walk(usageHistory, id, { ...range, interval, by, limit });
          const about = `${interval} ${by} ${limit}`;
          assert.equal(new Set(rows.map(nameOf)).size, rows.length, about);
          assert.deepEqual(
            new Map(rows.map((usage) => [nameOf(usage), requests(usage)])),
            requestsOfRange(counts, { ...range, interval, by }),
            about,
          );
          const starts = rows.map(({ start }) => start);
          assert.deepEqual(
            starts,
            starts.toSorted((a, b) => a - b),
            about,
          );
        }
  });

  test(`${name}: the rows of an account add up many keys, and later pages go on where one ended`, async (t) => {
    const { store, clock } = await fresh(t);
    const { id, keyIds } = await addAccount(store, 'shelter', 100);
    const last = Math.floor(clock().unix / HOUR);
    const counts = [0, 30, 60].flatMap((ago) =>
      keyIds.flatMap((keyId) =>
        operations(1 + (keyId % 3)).map((operation): UsageCount => {
          return { hour: last - ago, keyId, operation, counts: [keyId, 0, 0, ago] };
        }),
      ),
    );
    await store.usageHistory.add({ writer: 'one', sequence: 1, counts });
    const range = { from: (last - 300) * HOUR, to: (last + 1) * HOUR };
    for (const interval of INTERVALS)
      for (const by of BY)
        for (const limit of by === 'operation' ? [1, 2, 100] : [70]) {
          const rows = await walk(store.usageHistory, id, { ...range, interval, by, limit });
          const about = `${interval} ${by} ${limit}`;
          assert.equal(new Set(rows.map(nameOf)).size, rows.length, about);
          const expected = requestsOfRange(counts, { ...range, interval, by });
          assert.deepEqual(new Map(rows.map((usage) => [nameOf(usage), requests(usage)])), expected, about);
        }
  });

  test(`${name}: a walk over usage has each row that was there, and none twice, while others add requests`, async (t) => {
    const { store, clock, another } = await fresh(t);
    const { usageHistory } = store;
    const other = await another();
    const { id, keyIds } = await addAccount(store, 'shelter', 3);
    const hour = Math.floor(clock().unix / HOUR);
    const names = operations(9);
    const count = (keyId: number, operation: string, ago = 0) =>
      ({ hour: hour - ago, keyId, operation, counts: [1, 0, 0, 0] }) as const;
    const before = [0, 1].flatMap((ago) =>
      keyIds.flatMap((keyId) =>
        names.filter((_, index) => index % 2 === 1).map((each) => count(keyId, each, ago)),
      ),
    );
    await usageHistory.add({ writer: 'one', sequence: 1, counts: before });
    let sequence = 0;
    // Rows that exist grow, and new ones come before and after the place of the walk.
    const addMore = () =>
      other.usageHistory.add({
        writer: 'two',
        sequence: ++sequence,
        counts: keyIds.flatMap((keyId) => [
          count(keyId, names[sequence % 9] ?? ''),
          count(keyId, names[8 - (sequence % 9)] ?? ''),
        ]),
      });
    for (const interval of INTERVALS)
      for (const by of BY) {
        const query = { interval, from: (hour - 30) * HOUR, to: (hour + 1) * HOUR, by, limit: 2 };
        const there = (await usageHistory.ofAccount(id, { ...query, limit: 1_000 })).map(nameOf);
        const walked = (await walk(usageHistory, id, query, addMore)).map(nameOf);
        assert.equal(new Set(walked).size, walked.length, `${interval} ${by}`);
        assert.deepEqual(
          there.filter((each) => !walked.includes(each)),
          [],
          `${interval} ${by}`,
        );
      }
  });

  test(`${name}: sums in pages are all sums, in their order`, async (t) => {
    const { store, clock } = await fresh(t);
    const { usageHistory } = store;
    const hour = Math.floor(clock().unix / HOUR);
    const counts: UsageCount[] = [];
    // Accounts with one key, and one with many: its keys are not next to each other.
    for (const account of ['a', 'b', 'c']) {
      const { keyIds } = await addAccount(store, account, account === 'b' ? 5 : 1);
      for (const [index, keyId] of keyIds.entries())
        for (let ago = 0; ago < 40; ago++)
          counts.push({
            hour: hour - 7 * ago,
            keyId,
            operation: operations(4)[(ago + index) % 4] ?? '',
            counts: [1, index, 0, 0],
          });
    }
    await usageHistory.add({ writer: 'one', sequence: 1, counts });
    for (const by of ['interval', 'operation', 'key', 'account'] as const satisfies readonly UsageBy[])
      for (const interval of INTERVALS) {
        const range = { interval, from: (hour - 200) * HOUR, to: (hour + 1) * HOUR, by };
        const all: readonly UsageSum[] = await usageHistory.sums(range);
        for (const limit of [1, 2, 1_000]) {
          const paged: UsageSum[] = [];
          for (let after: SumPlace | undefined; ; ) {
            const query: UsageSumsQuery = { ...range, limit, after };
            const page = await usageHistory.sums(query);
            paged.push(...page);
            const end = page.at(-1);
            if (page.length < limit || end === undefined) break;
            after = placeOfSum(end);
          }
          assert.deepEqual(paged, all, `${by} ${interval} ${limit}`);
        }
      }
  });

  test(`${name}: an account comes once, also with many unused keys between its used ones`, async (t) => {
    const { store, clock } = await fresh(t);
    const day = Math.floor(clock().unix / DAY);
    const keyIds = Array.from({ length: 3 * KEYS_AT_ONCE }, (_, index) => index + 1);
    const used = keyIds.filter((id) => id <= KEYS_AT_ONCE || id > 2 * KEYS_AT_ONCE);
    await store.database.fill(async (filling) => {
      await filling.insert(ACCOUNTS, [[1, 'shop', 'pro', null, null, 0, 'shop', null, null]]);
      await filling.insert(
        KEYS,
        keyIds.map((id) => [
          id,
          1,
          `hash ${id}`,
          'production',
          null,
          'pets:read',
          0,
          null,
          null,
          null,
          null,
          null,
        ]),
      );
      await filling.insert(
        USAGE_DAYS,
        used.map((id) => [id, day, 'getPet', 1, 0, 0, 0]),
      );
    });
    const sums = await store.usageHistory.sums({
      interval: 'day',
      from: day * DAY,
      to: (day + 1) * DAY,
      by: 'account',
    });
    assert.deepEqual(sums, [
      { accountId: 1, account: 'shop', ok: used.length, clientError: 0, refused: 0, serverError: 0 },
    ]);
  });

  test(`${name}: no read of a large history has many rows, and each is in a turn of its own, for many at once`, async (t) => {
    const { store, clock } = await fresh(t);
    const { id, keyIds } = await addAccount(store, 'shelter', 20);
    const end = (Math.floor(clock().unix / DAY) * DAY) / HOUR;
    for (const [index, hours] of [48, 24].entries())
      await store.usageHistory.add({
        writer: 'one',
        sequence: index + 1,
        counts: Array.from({ length: 24 }, (_, hour) => end - hours + hour).flatMap((hour) =>
          keyIds.flatMap((keyId) =>
            operations(21).map((operation) => ({ hour, keyId, operation, counts: [9, 9, 9, 9] as const })),
          ),
        ),
      });
    let turn = 0;
    let isOver = false;
    const nextTurn = () => {
      turn++;
      if (!isOver) setImmediate(nextTurn);
    };
    const turns: number[] = [];
    // The engine of the store, which also implements what `Store` does not show.
    const engine = store.database as Engine;
    const noting: Engine = {
      ...engine,
      async query(...statement: unknown[]) {
        turns.push(turn);
        const rows = await engine.query<never>(...(statement as [Sql]));
        const [{ sql }] = statement as [Sql];
        assert.ok(rows.length <= MOST_ROWS, `${rows.length} rows: ${sql}`);
        return rows;
      },
    };
    const history = open(noting, { environment: 'production' });
    setImmediate(nextTurn);
    t.after(() => (isOver = true));
    const range = { from: (end - 48) * HOUR, to: end * HOUR };
    const pages = await Promise.all(
      Array.from({ length: 30 }, (_, index) =>
        history.ofAccount(id, {
          ...range,
          interval: index % 5 === 4 ? 'day' : 'hour',
          by: BY[index % BY.length],
          limit: 500,
        }),
      ),
    );
    assert.ok(pages.every(({ length }) => length > 0 && length <= 500));
    for (const by of ['interval', 'operation', 'key', 'account'] as const)
      for (const interval of INTERVALS)
        for (const accountId of [undefined, id]) await history.sums({ ...range, interval, by, accountId });
    assert.ok(turns.length > 100, `${turns.length} reads`);
    assert.equal(new Set(turns).size, turns.length, 'two reads in one turn');
  });
}

function requestsOfRange(
  counts: readonly UsageCount[],
  { from, to, interval, by }: Omit<UsagePageQuery, 'limit'>,
): ReadonlyMap<string, number> {
  const isIn = ({ hour }: UsageCount) => {
    const start = Math.floor((hour * HOUR) / LENGTH[interval]) * LENGTH[interval];
    return start >= from && start < to;
  };
  return requestsOf(counts.filter(isIn), interval, by);
}
