// Contract: section 6.9.
import { DAY } from '../domain/clock.ts';
import type { Environment } from '../domain/api-key.ts';
import { HOUR, KEPT, type UsageBatch, type UsageHistory } from '../domain/usage.ts';
import type { Engine, StoreSettings, Transaction } from './engine.ts';
import type { Table } from './tables.ts';
import { ALL_KEYS, usageReads } from './usage-reads.ts';

const COUNTS = [
  ['operation', 'text'],
  ['ok', 'integer'],
  ['client_error', 'integer'],
  ['refused', 'integer'],
  ['server_error', 'integer'],
] as const;

const USAGE_HOURS = {
  name: 'usage_hours',
  key: ['key_id', 'hour', 'operation'],
  columns: [['key_id', 'integer'], ['hour', 'integer'], ...COUNTS],
  assignsIds: false,
} as const satisfies Table;

const USAGE_DAYS = {
  name: 'usage_days',
  key: ['key_id', 'day', 'operation'],
  columns: [['key_id', 'integer'], ['day', 'integer'], ...COUNTS],
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

export const TABLES = [USAGE_HOURS, USAGE_DAYS, USAGE_WRITERS];

const LAST_SEQUENCE = 'SELECT sequence FROM usage_writers WHERE writer = $1';

const WRITTEN = `INSERT INTO usage_writers (writer, sequence, written_at) VALUES ($1, $2, $3)
  ON CONFLICT (writer) DO UPDATE SET sequence = excluded.sequence, written_at = excluded.written_at`;

const addTo = ({ name, key }: Table) => `ON CONFLICT (${key.join(', ')}) DO UPDATE SET
  ok = ${name}.ok + excluded.ok, client_error = ${name}.client_error + excluded.client_error,
  refused = ${name}.refused + excluded.refused, server_error = ${name}.server_error + excluded.server_error`;

const ADD_TO_HOUR = addTo(USAGE_HOURS);
const ADD_TO_DAY = addTo(USAGE_DAYS);

type CountRow = readonly [keyId: number, start: number, operation: string, ...counts: number[]];

/** Adds the counts of a batch, unless it has been added before. */
async function addUsage(
  transaction: Transaction,
  { writer, sequence, counts }: UsageBatch,
  environment: Environment,
  now: number,
): Promise<void> {
  const [last] = await transaction.query<[bigint]>(LAST_SEQUENCE, [writer]);
  if (last !== undefined && last[0] >= BigInt(sequence)) return;
  await transaction.query(WRITTEN, [writer, sequence, now]);
  const hours = counts.flatMap(({ keyId, hour, operation, counts: its }): CountRow[] => [
    [keyId, hour, operation, ...its],
    [ALL_KEYS[environment], hour, operation, ...its],
  ]);
  const days = hours.map(
    ([keyId, hour, ...rest]): CountRow => [keyId, Math.floor((hour * HOUR) / DAY), ...rest],
  );
  await transaction.insert(USAGE_HOURS, summed(hours), ADD_TO_HOUR);
  await transaction.insert(USAGE_DAYS, summed(days), ADD_TO_DAY);
}

/**
 * One row for each primary key, because a statement of PostgreSQL changes a row once. In the order of the keys, so that two
 * instances lock them in the same order.
 */
function summed(rows: readonly CountRow[]): readonly CountRow[] {
  const sums = new Map<string, [number, number, string, ...number[]]>();
  for (const [keyId, start, operation, ...counts] of rows) {
    const name = `${keyId} ${start} ${operation}`;
    const sum = sums.get(name);
    if (sum === undefined) sums.set(name, [keyId, start, operation, ...counts]);
    else for (const [index, count] of counts.entries()) sum[index + 3] = Number(sum[index + 3]) + count;
  }
  return [...sums.values()].toSorted((a, b) => a[0] - b[0] || a[1] - b[1] || (a[2] < b[2] ? -1 : 1));
}

/** Deletes the rows of these keys that are no longer kept. */
async function pruneUsage(transaction: Transaction, keyIds: readonly number[], now: number): Promise<void> {
  const hour = Math.floor((now - KEPT.hour) / HOUR);
  const day = Math.floor((now - KEPT.day) / DAY);
  for (const id of keyIds) {
    await transaction.query('DELETE FROM usage_hours WHERE key_id = $1 AND hour < $2', [id, hour]);
    await transaction.query('DELETE FROM usage_days WHERE key_id = $1 AND day < $2', [id, day]);
  }
  await transaction.query('DELETE FROM usage_writers WHERE written_at < $1', [now - DAY]);
}

export const WRITES = { addUsage, pruneUsage };

/** The keys whose old rows one call deletes. */
const NEXT_KEYS = 'SELECT id FROM keys WHERE id > $1 ORDER BY id LIMIT 500';

export function open(engine: Engine, { clock, environment }: StoreSettings): UsageHistory {
  /** The last key whose old rows were deleted. */
  let pruned = 0;
  return {
    ...usageReads(engine, environment),
    add: (batch) => engine.write(addUsage, batch, environment, Math.floor(clock().unix)),
    async prune() {
      const now = Math.floor(clock().unix);
      const keys = await engine.read<[bigint]>(NEXT_KEYS, [pruned]);
      const ids = keys.map(([id]) => Number(id));
      await engine.write(pruneUsage, pruned === 0 ? [...Object.values(ALL_KEYS), ...ids] : ids, now);
      // Then it begins again.
      pruned = ids.at(-1) ?? 0;
    },
  };
}
