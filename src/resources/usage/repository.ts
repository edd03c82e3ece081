// Contract: section 6.9.
import type { Environment } from '../../domain/api-key.ts';
import { DAY } from '../../domain/clock.ts';
import type { UsageBatch, UsageCount } from '../../domain/usage.ts';
import { chunksOf } from '../../domain/chunks.ts';
import type { Engine } from '../../storage/engine.ts';
import { raw, sql, type Value } from '../../storage/sql.ts';
import { instant, integer, Table, text } from '../../storage/table.ts';
import type { Transaction } from '../../storage/transaction.ts';
import { ALL_KEYS, KEYS_AT_ONCE, openReads } from './reads.ts';
import { addUp, dayOf, KEPT, packHours, unpackHours, weekOf } from './rules.ts';

const COUNTS = { ok: integer, clientError: integer, refused: integer, serverError: integer };

/** A row is a `UsageDay`. */
export const USAGE_HOURS = new Table(
  'usage_hours',
  { keyId: integer, day: integer, operation: text, hours: text },
  { key: ['key_id', 'day', 'operation'] },
);

export const USAGE_DAYS = new Table(
  'usage_days',
  { keyId: integer, day: integer, operation: text, ...COUNTS },
  { key: ['key_id', 'day', 'operation'] },
);

/** All operations together. */
export const USAGE_WEEKS = new Table(
  'usage_weeks',
  { keyId: integer, week: integer, ...COUNTS },
  { key: ['key_id', 'week'] },
);

const USAGE_WRITERS = new Table(
  'usage_writers',
  { writer: text, sequence: integer, writtenAt: instant },
  { key: ['writer'] },
);

export const TABLES = [USAGE_HOURS, USAGE_DAYS, USAGE_WEEKS, USAGE_WRITERS];

function addTo({ name, key }: Pick<Table, 'name' | 'key'>): string {
  const sums = ['ok', 'client_error', 'refused', 'server_error'].map(
    (column) => `${column} = ${name}.${column} + excluded.${column}`,
  );
  return `ON CONFLICT (${key.join(', ')}) DO UPDATE SET ${sums.join(', ')}`;
}

/** Adds the counts of a batch, unless it has been added before. */
async function addUsage(
  transaction: Transaction,
  { writer, sequence, counts }: UsageBatch,
  environment: Environment,
): Promise<void> {
  const writtenAt = await transaction.now();
  // One statement, because the same batch may be written twice at once.
  const added = await transaction.query(sql`
    ${USAGE_WRITERS.insert({ writer, sequence, writtenAt })}
    ON CONFLICT (writer) DO UPDATE SET sequence = excluded.sequence, written_at = excluded.written_at
      WHERE usage_writers.sequence < excluded.sequence
    RETURNING 1`);
  if (added.length === 0) return;
  const keyId = ALL_KEYS[environment];
  const all = [...counts, ...counts.map((count) => Object.assign({}, count, { keyId }))];
  const days = sumRows(all, ({ keyId: id, hour, operation }) => [id, dayOf(hour), operation]);
  await transaction.insert(USAGE_DAYS, days, addTo(USAGE_DAYS));
  const weeks = sumRows(counts, ({ keyId: id, hour }) => [id, weekOf(dayOf(hour))]);
  await transaction.insert(USAGE_WEEKS, weeks, addTo(USAGE_WEEKS));
  // With PostgreSQL, other requests run in between.
  for (const some of chunksOf(all, HOURS_AT_ONCE)) await addHours(transaction, some);
}

/**
 * One row for each primary key, because a statement of PostgreSQL changes a row once. In an order that is the same in all
 * instances, so that no two wait for each other's rows.
 */
function sumRows(
  counts: readonly UsageCount[],
  keyOf: (count: UsageCount) => readonly Value[],
): readonly (readonly Value[])[] {
  const sums = addUp(counts, (count) => keyOf(count).join(' '));
  return [...sums]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([, sum]) => keyOf(sum).concat(sum.counts));
}

/** Counts whose hours are added at once. */
const HOURS_AT_ONCE = 250;

/** The caller has locked the rows of `usage_days`, so no other transaction changes the rows that this reads. */
async function addHours(transaction: Transaction, counts: readonly UsageCount[]): Promise<void> {
  const days = counts.map(({ hour }) => dayOf(hour));
  const ids = [...new Set(counts.map(({ keyId }) => keyId))];
  const stored = await transaction.select(
    USAGE_HOURS,
    sql`WHERE day >= ${Math.min(...days)} AND day <= ${Math.max(...days)}
      AND ${transaction.dialect.isAnyOf('key_id', ids)}`,
  );
  const before = new Map(stored.map((row) => [`${row.keyId} ${row.day} ${row.operation}`, row]));
  const changed = Map.groupBy(counts, ({ keyId, hour, operation }) => `${keyId} ${dayOf(hour)} ${operation}`);
  const rows = Array.from(changed, ([name, added]) => {
    const { keyId, hour, operation } = added[0] as UsageCount;
    const row = before.get(name);
    const known = row === undefined ? [] : unpackHours(row);
    const hours = addUp([...known, ...added], (count) => count.hour);
    return USAGE_HOURS.encode({ keyId, day: dayOf(hour), operation, hours: packHours(hours.values()) });
  });
  await transaction.insert(
    USAGE_HOURS,
    rows,
    'ON CONFLICT (key_id, day, operation) DO UPDATE SET hours = excluded.hours',
  );
}

/** Deletes the rows of these keys that are no longer kept. */
async function pruneUsage(transaction: Transaction, keyIds: readonly number[]): Promise<void> {
  const now = await transaction.now();
  const day = Math.floor((now - KEPT.day) / DAY);
  const ends = [
    [USAGE_HOURS, 'day', Math.floor((now - KEPT.hour) / DAY)],
    [USAGE_DAYS, 'day', day],
    [USAGE_WEEKS, 'week', weekOf(day)],
  ] as const;
  for (const [{ name }, column, first] of ends)
    await transaction.query(sql`
      DELETE FROM ${raw(name)} WHERE ${raw(column)} < ${first} AND ${transaction.dialect.isAnyOf('key_id', keyIds)}`);
  await transaction.query(sql`DELETE FROM usage_writers WHERE written_at < ${now - DAY}`);
}

/** Notes that a process that counts can write, without any counts. */
async function touchWriter(transaction: Transaction, writer: string): Promise<void> {
  const writtenAt = await transaction.now();
  await transaction.query(sql`${USAGE_WRITERS.insert({ writer, sequence: 0, writtenAt })}
    ON CONFLICT (writer) DO UPDATE SET written_at = excluded.written_at`);
}

export const WRITES = { add: addUsage, touch: touchWriter, prune: pruneUsage };

/** Old rows are deleted only if at least this many of the last 30 days have usage. */
const DAYS_OF_USE = 7;

export type UsageRepository = ReturnType<typeof open>;

/** The history of one environment. */
export function open(engine: Engine, { environment }: { readonly environment: Environment }) {
  /** The last key whose old rows were deleted. */
  let pruned = 0;

  return {
    ...openReads(engine, environment),
    /** Adds the counts, unless the batch has been added before. */
    add: (batch: UsageBatch): Promise<void> => engine.write(addUsage, batch, environment),
    /** Writes a row of this process. Rejects when the database cannot be written. */
    touch: (writer: string): Promise<void> => engine.write(touchWriter, writer),
    /**
     * Deletes rows that are too old, some keys at a time. Call it once a minute. It deletes nothing unless 7 of the last 30
     * days have usage, because a clock may be far ahead.
     */
    async prune(): Promise<void> {
      const today = Math.floor((await engine.now()) / DAY);
      const all = Object.values(ALL_KEYS);
      const [used] = await engine.read<[bigint]>(sql`SELECT count(DISTINCT day) FROM usage_days
        WHERE key_id = ${ALL_KEYS[environment]} AND day > ${today - 30} AND day <= ${today}`);
      if (Number(used?.[0]) < DAYS_OF_USE) return;
      const keys = await engine.read<[bigint]>(
        sql`SELECT id FROM keys WHERE id > ${pruned} ORDER BY id LIMIT ${KEYS_AT_ONCE}`,
      );
      const ids = keys.map(([id]) => Number(id));
      // A round begins with the rows of all keys together.
      await engine.write(pruneUsage, pruned === 0 ? [...all, ...ids] : ids);
      pruned = ids.at(-1) ?? 0;
    },
  };
}
