// Contract: section 6.9.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY } from '../../src/domain/clock.ts';
import { PLANS } from '../../src/domain/plan.ts';
import { HOUR, LENGTH, type UsageInterval } from '../../src/domain/usage.ts';
import { newKey } from './fixture.ts';
import { sqliteFixture } from './sqlite-fixture.ts';

/** Intervals of a long range, and how many of them one turn may read at most. */
const LONG = { hour: { count: 24 * 30, each: 24 }, day: { count: 400, each: 14 } } as const;

for (const interval of ['hour', 'day'] as const satisfies readonly UsageInterval[]) {
  const { count, each } = LONG[interval];
  const length = LENGTH[interval];

  test(`a long range by the ${interval} is read once, and requests run in between`, async (t) => {
    const { store, clock } = await sqliteFixture(t);
    const { accounts, usageHistory } = store;
    const { id } = await accounts.createAccount('shelter', 'free', PLANS.free);
    const { id: keyId } = await accounts.addKey(newKey(id));
    const end = Math.floor(clock().unix / DAY) * DAY + 7 * HOUR;
    const first = Math.ceil((end - count * length) / length) * length;
    const starts = Array.from({ length: count }, (_, index) => first + index * length);
    const counts = starts.map((start) => ({
      hour: start / HOUR,
      keyId,
      operation: 'listPets',
      counts: [1, 0, 0, 0] as const,
    }));
    await usageHistory.add({ writer: 'one', sequence: 1, counts });
    let turns = 0;
    let isRead = false;
    const nextTurn = () => {
      turns++;
      if (!isRead) setImmediate(nextTurn);
    };
    setImmediate(nextTurn);
    const range = { interval, from: end - count * length, to: end };
    const rows = await usageHistory.ofAccount(id, { ...range, limit: 1_000 });
    isRead = true;
    assert.deepEqual(
      rows.map(({ start, ok }) => [start, ok]),
      starts.map((start) => [start, 1]),
    );
    assert.ok(turns >= count / each, `${turns} turns`);
  });
}
