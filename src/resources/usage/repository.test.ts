// Contract: section 6.9.
import { STORES } from '../../../test/storage/stores.ts';
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { DAY, HOUR } from '../../domain/clock.ts';
import { type UsageCount, type UsageInterval } from '../../domain/usage.ts';
import { KEPT, LENGTH, type UsageQuery } from './rules.ts';
import { PLANS } from '../../domain/plan.ts';
import { newKey } from '../../../test/storage/fixture.ts';
import { test } from '../../../test/support/test.ts';
import { addKey, createAccount } from '../../../test/support/store.ts';

for (const [name, fresh] of STORES) {
  const prepare = async (t: TestContext) => {
    const fixture = await fresh(t);
    const { accounts, keys, usageHistory } = fixture.store;
    const account = await createAccount(accounts, 'shelter', 'free', PLANS.free);
    const key = await addKey(keys, newKey(account.id));
    const hour = Math.floor(fixture.clock().unix / HOUR);
    const count = (ofHour: number, counts: UsageCount['counts'], operation = 'listPets'): UsageCount => ({
      hour: ofHour,
      keyId: key.id,
      operation,
      counts,
    });
    const lastDay = { interval: 'hour', from: (hour - 24) * HOUR, to: (hour + 1) * HOUR } as const;
    const read = (query: UsageQuery) => usageHistory.ofAccount(account.id, { ...query, limit: 1_000 });
    return { ...fixture, accounts, keys, account, key, hour, count, usageHistory, lastDay, read };
  };

  test(`${name}: counts of several processes add up by hour and by day`, async (t) => {
    const { key, hour, count, usageHistory, another, lastDay, read } = await prepare(t);
    const other = await another();
    await usageHistory.add({ writer: 'one', sequence: 1, counts: [count(hour, [1, 2, 3, 4])] });
    await other.usageHistory.add({ writer: 'two', sequence: 1, counts: [count(hour, [10, 0, 0, 1])] });
    const sum = { operation: 'listPets', keyId: key.id, ok: 11, clientError: 2, refused: 3, serverError: 5 };
    assert.deepEqual(await read(lastDay), [{ start: hour * HOUR, ...sum }]);
    const day = Math.floor((hour * HOUR) / DAY) * DAY;
    const days = { interval: 'day', from: day, to: day + 1 } as const;
    assert.deepEqual(await read(days), [{ start: day, ...sum }]);
  });

  test(`${name}: a batch that is written twice counts once, also at once`, async (t) => {
    const { hour, count, usageHistory, another, lastDay, read } = await prepare(t);
    const batch = { writer: 'one', sequence: 1, counts: [count(hour, [1, 0, 0, 0])] };
    const other = await another();
    await Promise.all([usageHistory.add(batch), other.usageHistory.add(batch), usageHistory.add(batch)]);
    await usageHistory.add(batch);
    await usageHistory.add({ ...batch, sequence: 2 });
    assert.equal((await read(lastDay))[0]?.ok, 2);
  });

  test(`${name}: usage is read oldest first, of one account, and within the range`, async (t) => {
    const { accounts, keys, key, hour, count, usageHistory, read } = await prepare(t);
    const stranger = await createAccount(accounts, 'stranger', 'free', PLANS.free);
    const foreign = await addKey(keys, newKey(stranger.id));
    const counts = [
      count(hour, [1, 0, 0, 0]),
      count(hour - 1, [2, 0, 0, 0]),
      count(hour - 1, [3, 0, 0, 0], 'createPet'),
      count(hour - 2, [4, 0, 0, 0]),
      { ...count(hour - 1, [5, 0, 0, 0]), keyId: foreign.id },
    ];
    await usageHistory.add({ writer: 'one', sequence: 1, counts });
    const range = { interval: 'hour', from: (hour - 1) * HOUR, to: hour * HOUR } as const;
    const found = await read(range);
    assert.deepEqual(
      found.map(({ operation, keyId, ok }) => [operation, keyId, ok]),
      [
        ['createPet', key.id, 3],
        ['listPets', key.id, 2],
      ],
    );
  });

  test(`${name}: sums of a range are grouped, of one account or of all`, async (t) => {
    const { accounts, keys, account, key, hour, count, usageHistory } = await prepare(t);
    const label = 'price board';
    const second = await addKey(keys, newKey(account.id, { label }));
    const stranger = await createAccount(accounts, 'stranger', 'free', PLANS.free);
    const foreign = await addKey(keys, newKey(stranger.id));
    const counts = [
      count(hour, [1, 0, 0, 0]),
      { ...count(hour, [2, 0, 0, 1], 'createPet'), keyId: second.id },
      count(hour - 1, [3, 0, 0, 0]),
      { ...count(hour - 1, [0, 9, 9, 0]), keyId: foreign.id },
      count(hour - 2, [50, 0, 0, 0]),
    ];
    await usageHistory.add({ writer: 'one', sequence: 1, counts });
    const range = { interval: 'hour', from: (hour - 1) * HOUR, to: (hour + 1) * HOUR } as const;
    const mine = { ...range, accountId: account.id };
    const sum = (ok: number, clientError = 0, refused = 0, serverError = 0) => ({
      ok,
      clientError,
      refused,
      serverError,
    });
    const owner = { accountId: account.id, account: 'shelter' };
    const other = { accountId: stranger.id, account: 'stranger' };

    assert.deepEqual(await usageHistory.sums({ ...range, by: 'interval' }), [
      { start: (hour - 1) * HOUR, ...sum(3, 9, 9) },
      { start: hour * HOUR, ...sum(3, 0, 0, 1) },
    ]);
    assert.deepEqual(await usageHistory.sums({ ...mine, by: 'interval' }), [
      { start: (hour - 1) * HOUR, ...sum(3) },
      { start: hour * HOUR, ...sum(3, 0, 0, 1) },
    ]);
    assert.deepEqual(await usageHistory.sums({ ...range, by: 'operation' }), [
      { operation: 'listPets', ...sum(4, 9, 9) },
      { operation: 'createPet', ...sum(2, 0, 0, 1) },
    ]);
    assert.deepEqual(await usageHistory.sums({ ...mine, by: 'operation' }), [
      { operation: 'listPets', ...sum(4) },
      { operation: 'createPet', ...sum(2, 0, 0, 1) },
    ]);
    const ofKeys = [
      { keyId: key.id, label: undefined, ...owner, ...sum(4) },
      { keyId: second.id, label, ...owner, ...sum(2, 0, 0, 1) },
    ];
    assert.deepEqual(await usageHistory.sums({ ...mine, by: 'key' }), ofKeys);
    assert.deepEqual(await usageHistory.sums({ ...range, by: 'key' }), [
      { keyId: foreign.id, label: undefined, ...other, ...sum(0, 9, 9) },
      ...ofKeys,
    ]);
    assert.deepEqual(await usageHistory.sums({ ...mine, by: 'account' }), [{ ...owner, ...sum(6, 0, 0, 1) }]);
    assert.deepEqual(await usageHistory.sums({ ...range, by: 'account' }), [
      { ...other, ...sum(0, 9, 9) },
      { ...owner, ...sum(6, 0, 0, 1) },
    ]);
  });

  test(`${name}: sums of any range are those of its hours`, async (t) => {
    const { account, key, keys, hour, count, usageHistory } = await prepare(t);
    const second = await addKey(keys, newKey(account.id));
    const counts = Array.from({ length: 300 }, (_, index) => ({
      ...count(hour - index * 4, [index, 1, 0, 0], index % 3 === 0 ? 'getPet' : 'listPets'),
      keyId: index % 2 === 0 ? key.id : second.id,
    }));
    await usageHistory.add({ writer: 'one', sequence: 1, counts });
    const ranges = [
      [0, 1],
      [3, 40],
      [5, 24 * 20 + 7],
      [24 * 2 + 3, 24 * 32],
      [0, 24 * 50],
    ] as const;
    for (const [end, start] of ranges)
      for (const [interval, length] of Object.entries(LENGTH) as [UsageInterval, number][]) {
        const range = { interval, from: (hour - start) * HOUR, to: (hour - end) * HOUR };
        const inRange = counts.filter(({ hour: its }) => {
          const begin = Math.floor((its * HOUR) / length) * length;
          return begin >= range.from && begin < range.to;
        });
        const ofKey = (id: number) => inRange.filter(({ keyId }) => keyId === id);
        const total = (its: readonly UsageCount[]) => its.reduce((sum, { counts: [ok] }) => sum + ok, 0);
        for (const accountId of [undefined, account.id]) {
          const query = { ...range, accountId };
          for (const by of ['interval', 'operation', 'account'] as const) {
            const sums = await usageHistory.sums({ ...query, by });
            assert.equal(
              sums.reduce((sum, { ok }) => sum + ok, 0),
              total(inRange),
              `${by} ${start} ${end} ${interval}`,
            );
          }
          const byKey = await usageHistory.sums({ ...query, by: 'key' });
          for (const { id } of [key, second])
            assert.equal(byKey.find(({ keyId }) => keyId === id)?.ok ?? 0, total(ofKey(id)));
        }
      }
  });

  test(`${name}: the calls of one operation are summed, and the last ones are found`, async (t) => {
    const { account, key, hour, count, usageHistory } = await prepare(t);
    const day = Math.floor((hour * HOUR) / DAY);
    const counts = [
      count(hour, [1, 1, 1, 1], 'getPet'),
      count(hour - 48, [6, 0, 0, 0], 'getPet'),
      count(hour, [9, 0, 0, 0]),
    ];
    await usageHistory.add({ writer: 'one', sequence: 1, counts });
    const owner = { accountId: account.id, account: 'shelter' };
    const sum = { ok: 7, clientError: 1, refused: 1, serverError: 1 };
    const from = (day - 30) * DAY;
    const range = { interval: 'day', from, to: (hour + 1) * HOUR } as const;
    const getPet = { ...range, operation: 'getPet' };
    assert.deepEqual(await usageHistory.sums({ ...getPet, by: 'key' }), [
      { keyId: key.id, label: undefined, ...owner, ...sum },
    ]);
    assert.deepEqual(await usageHistory.sums({ ...getPet, by: 'account' }), [{ ...owner, ...sum }]);
    assert.deepEqual(await usageHistory.sums({ ...getPet, by: 'operation' }), [
      { operation: 'getPet', ...sum },
    ]);
    assert.equal((await usageHistory.sums({ ...getPet, by: 'interval' })).length, 2);
    assert.deepEqual(await usageHistory.sums({ ...range, operation: 'createPet', by: 'key' }), []);
    const lastCalls = (since: number, keyIds: readonly number[]) =>
      usageHistory.lastCalls('getPet', since, keyIds);
    assert.deepEqual(await lastCalls(from, [key.id, key.id + 1]), new Map([[key.id, hour * HOUR]]));
    assert.deepEqual(await lastCalls(from, []), new Map());
    assert.deepEqual(await lastCalls((day + 1) * DAY, [key.id]), new Map());
  });

  test(`${name}: hours are kept for 90 days, days for 25 months`, async (t) => {
    const { clock, account, hour, count, usageHistory, passTime, read } = await prepare(t);
    let sequence = 0;
    const add = (counts: readonly UsageCount[]) =>
      usageHistory.add({ writer: 'one', sequence: ++sequence, counts });
    /** The service is used on each day of a week. */
    const useForAWeek = async () => {
      const now = Math.floor(clock().unix / HOUR);
      await add(Array.from({ length: 7 }, (_, day) => count(now - 24 * day, [1, 0, 0, 0])));
    };
    await add([count(hour, [1, 0, 0, 0])]);
    const hours = { interval: 'hour', from: hour * HOUR, to: (hour + 1) * HOUR } as const;
    const days = { interval: 'day', from: hour * HOUR - DAY, to: (hour + 1) * HOUR } as const;
    await passTime(KEPT.hour);
    await useForAWeek();
    await usageHistory.prune();
    assert.equal((await read(hours)).length, 1);
    await passTime(DAY);
    // The first call went through all keys, and the second begins again.
    await usageHistory.prune();
    await usageHistory.prune();
    assert.deepEqual(await read(hours), []);
    assert.deepEqual(await usageHistory.sums({ ...hours, accountId: account.id, by: 'operation' }), []);
    assert.equal((await read(days)).length, 1);
    await passTime(KEPT.day - KEPT.hour);
    await useForAWeek();
    await usageHistory.prune();
    await usageHistory.prune();
    assert.deepEqual(await read(days), []);
    assert.deepEqual(await usageHistory.sums({ ...days, by: 'operation' }), []);
  });

  test(`${name}: one call deletes all old rows of its keys, however many`, async (t) => {
    const { clock, hour, count, usageHistory, passTime, read } = await prepare(t);
    const many = Array.from({ length: 11_000 }, (_, index) => count(hour, [1, 0, 0, 0], `operation${index}`));
    await usageHistory.add({ writer: 'one', sequence: 1, counts: many });
    await passTime(KEPT.hour + DAY);
    const now = Math.floor(clock().unix / HOUR);
    const week = Array.from({ length: 7 }, (_, day) => count(now - 24 * day, [1, 0, 0, 0]));
    await usageHistory.add({ writer: 'one', sequence: 2, counts: week });
    await usageHistory.prune();
    assert.deepEqual(await read({ interval: 'hour', from: hour * HOUR, to: (hour + 1) * HOUR }), []);
  });

  test(`${name}: a clock that jumps far ahead deletes no history`, async (t) => {
    const { clock, hour, count, usageHistory, passTime, read } = await prepare(t);
    await usageHistory.add({ writer: 'one', sequence: 1, counts: [count(hour, [1, 0, 0, 0])] });
    await passTime(10 * KEPT.day);
    const wrong = Math.floor(clock().unix / HOUR);
    const counts = Array.from({ length: 6 }, (_, day) => count(wrong - 24 * day, [1, 0, 0, 0]));
    await usageHistory.add({ writer: 'two', sequence: 1, counts });
    for (let calls = 0; calls < 3; calls++) await usageHistory.prune();
    for (const interval of ['hour', 'day'] as const) {
      const range = { interval, from: hour * HOUR - DAY, to: (hour + 1) * HOUR };
      assert.equal((await read(range)).length, 1);
    }
    // The rows of the wrong clock are still there, at the hours of that clock.
    const ahead = { interval: 'hour', from: wrong * HOUR, to: (wrong + 1) * HOUR } as const;
    assert.equal((await read(ahead)).length, 1);
  });
}
