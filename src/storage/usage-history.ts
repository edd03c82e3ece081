// Contract: section 6.9.
import type { Environment } from '../domain/api-key.ts';
import { type Clock, DAY } from '../domain/clock.ts';
import { KEPT, type UsageBatch, type UsageCount, type UsageHistory } from '../domain/usage.ts';
import type { Value } from './sql.ts';
import type { Transaction } from './transaction.ts';
import type { Engine } from './engine.ts';
import type { Table } from './tables.ts';
import { addHours, ALL_KEYS, dayOf, keyList, KEYS_NAMED, named, USAGE_HOURS } from './usage-hours.ts';
import { usageCallers } from './usage-callers.ts';
import { usageReads } from './usage-reads.ts';
import { DAYS_A_WEEK } from './usage-spans.ts';

const COUNTS = [
  ['ok', 'integer'],
  ['client_error', 'integer'],
  ['refused', 'integer'],
  ['server_error', 'integer'],
] as const;

export const USAGE_DAYS = {
  name: 'usage_days',
  key: ['key_id', 'day', 'operation'],
  columns: [['key_id', 'integer'], ['day', 'integer'], ['operation', 'text'], ...COUNTS],
  assignsIds: false,
} as const satisfies Table;

/** All operations together. */
export const USAGE_WEEKS = {
  name: 'usage_weeks',
  key: ['key_id', 'week'],
  columns: [['key_id', 'integer'], ['week', 'integer'], ...COUNTS],
  assignsIds: false,
} as const satisfies Table;

const USAGE_WRITERS = {
  name: 'usage_writers',
  key: ['writer'],
  columns: [
    ['writer', 'text'],
    ['sequence', 'integer'],
    ['written_at', 'integer'],
  ],
  assignsIds: false,
} as const satisfies Table;

export const TABLES = [USAGE_HOURS, USAGE_DAYS, USAGE_WEEKS, USAGE_WRITERS];

/** Returns a row if the batch is new. One statement, because the same batch may be written twice at once. */
const WRITTEN = `INSERT INTO usage_writers (writer, sequence, written_at) VALUES ($1, $2, $3)
  ON CONFLICT (writer) DO UPDATE SET sequence = excluded.sequence, written_at = excluded.written_at
  WHERE usage_writers.sequence < excluded.sequence RETURNING 1`;

const addTo = ({ name, key }: Table) => `ON CONFLICT (${key.join(', ')}) DO UPDATE SET
  ok = ${name}.ok + excluded.ok, client_error = ${name}.client_error + excluded.client_error,
  refused = ${name}.refused + excluded.refused, server_error = ${name}.server_error + excluded.server_error`;

const ADD_TO_DAY = addTo(USAGE_DAYS);
const ADD_TO_WEEK = addTo(USAGE_WEEKS);

/** Adds the counts of a batch, unless it has been added before. */
async function addUsage(
  transaction: Transaction,
  { writer, sequence, counts }: UsageBatch,
  environment: Environment,
  now: number,
): Promise<void> {
  const isNew = (await transaction.query(WRITTEN, [writer, sequence, now])).length > 0;
  if (!isNew) return;
  const keyId = ALL_KEYS[environment];
  const all = [...counts, ...counts.map((count) => Object.assign({}, count, { keyId }))];
  const days = summed(all, ({ keyId: id, hour, operation }) => [id, dayOf(hour), operation]);
  await transaction.insert(USAGE_DAYS, days, ADD_TO_DAY);
  const weeks = summed(counts, ({ keyId: id, hour }) => [id, Math.floor(dayOf(hour) / DAYS_A_WEEK)]);
  await transaction.insert(USAGE_WEEKS, weeks, ADD_TO_WEEK);
  await addHours(transaction, all);
}

/**
 * One row for each primary key, because a statement of PostgreSQL changes a row once. In an order that is the same in all
 * instances, so that no two wait for each other's rows.
 */
function summed(
  counts: readonly UsageCount[],
  keyOf: (count: UsageCount) => readonly Value[],
): readonly (readonly Value[])[] {
  const sums = new Map<string, { readonly key: readonly Value[]; readonly sum: number[] }>();
  for (const count of counts) {
    const key = keyOf(count);
    const name = key.join(' ');
    const its = sums.get(name);
    if (its === undefined) sums.set(name, { key, sum: [...count.counts] });
    else
      for (const [index, number] of count.counts.entries()) its.sum[index] = Number(its.sum[index]) + number;
  }
  return [...sums].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, { key, sum }]) => key.concat(sum));
}

const PRUNE = [
  [USAGE_HOURS, 'day'],
  [USAGE_DAYS, 'day'],
  [USAGE_WEEKS, 'week'],
] as const;

/** Deletes the rows of these keys, at most KEYS_NAMED, that are no longer kept. */
async function pruneUsage(transaction: Transaction, keyIds: readonly number[], now: number): Promise<void> {
  const firstDay = Math.floor((now - KEPT.day) / DAY);
  const first = {
    usage_hours: Math.floor((now - KEPT.hour) / DAY),
    usage_days: firstDay,
    usage_weeks: Math.floor(firstDay / DAYS_A_WEEK),
  };
  for (const [{ name }, column] of PRUNE)
    await transaction.query(`DELETE FROM ${name} WHERE ${column} < $1 AND key_id IN (${keyList(2)})`, [
      first[name],
      ...named(keyIds),
    ]);
  await transaction.query('DELETE FROM usage_writers WHERE written_at < $1', [now - DAY]);
}

export const WRITES = { add: addUsage, prune: pruneUsage };

/** Old rows are deleted only if at least this many of the last 30 days have usage. */
const DAYS_OF_USE = 7n;

const DAYS_USED = 'SELECT count(DISTINCT day) FROM usage_days WHERE key_id = $1 AND day > $2 AND day <= $3';

const TOTALS = Object.values(ALL_KEYS);

/** The keys whose old rows one call deletes. The first call of a round also deletes those of all keys together. */
const NEXT_KEYS = `SELECT id FROM keys WHERE id > $1 ORDER BY id LIMIT ${KEYS_NAMED - TOTALS.length}`;

export function open(
  engine: Engine,
  { clock, environment }: { readonly clock: Clock; readonly environment: Environment },
): UsageHistory {
  /** The last key whose old rows were deleted. */
  let pruned = 0;
  return {
    ...usageReads(engine, environment),
    ...usageCallers(engine, { clock, environment }),
    add: (batch) => engine.write(addUsage, batch, environment, Math.floor(clock().unix)),
    async prune() {
      const now = Math.floor(clock().unix);
      const today = Math.floor(now / DAY);
      // A clock that is far ahead would find every row too old. Usage on seven days shows that this clock is right.
      const used = await engine.read<[bigint]>(DAYS_USED, [ALL_KEYS[environment], today - 30, today]);
      if ((used[0]?.[0] ?? 0n) < DAYS_OF_USE) return;
      const keys = await engine.read<[bigint]>(NEXT_KEYS, [pruned]);
      const ids = keys.map(([id]) => Number(id));
      await engine.write(pruneUsage, [...(pruned === 0 ? TOTALS : []), ...ids], now);
      // Then it begins again.
      pruned = ids.at(-1) ?? 0;
    },
  };
}
