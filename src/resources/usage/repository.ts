// Contract: section 6.9.
import { setImmediate as letOthersRun } from 'node:timers/promises';
import { limitsOf } from '../../domain/account.ts';
import type { Environment } from '../../domain/api-key.ts';
import { type Clock, DAY } from '../../domain/clock.ts';
import type { Limits, Plan } from '../../domain/plan.ts';
import { HOUR, type UsageBatch, type UsageCount } from '../../domain/usage.ts';
import { chunksOf, type Engine } from '../../storage/engine.ts';
import { raw, type Row, type Sql, sql, type Value } from '../../storage/sql.ts';
import { instant, integer, Table, text } from '../../storage/table.ts';
import type { Transaction } from '../../storage/transaction.ts';
import { ALL_KEYS, type KeyRow, KEYS_AT_ONCE, openReads, readKey } from './reads.ts';
import { addUp, dayOf, KEPT, packHours, unpackHours, type UsageKey, weekOf } from './rules.ts';

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
  now: number,
): Promise<void> {
  // One statement, because the same batch may be written twice at once.
  const added = await transaction.query(sql`
    ${USAGE_WRITERS.insert({ writer, sequence, writtenAt: now })}
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
  for await (const some of chunksOf(all, HOURS_AT_ONCE)) await addHours(transaction, some);
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
async function pruneUsage(transaction: Transaction, keyIds: readonly number[], now: number): Promise<void> {
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

export const WRITES = { add: addUsage, prune: pruneUsage };

/** Old rows are deleted only if at least this many of the last 30 days have usage. */
const DAYS_OF_USE = 7;

/** Ids of keys in one read of callers. They grow and shrink with the time that it takes, because keys have few or many rows. */
const SLICE = { least: 100, first: 500, most: 2_000 };

/** Milliseconds. With SQLite, a read holds up the thread that also answers requests. */
const SHORT = 2;
const LONG = 6;

const REQUESTS = raw('CAST(sum(u.ok + u.client_error + u.refused + u.server_error) AS bigint)');

export interface AccountTotal {
  readonly accountId: number;
  readonly limits: Limits;
  readonly requests: number;
}

export interface UsageCaller extends UsageKey {
  readonly requests: number;
  /** Unix milliseconds: the beginning of the last hour in which it called. */
  readonly lastHour: number;
}

export type UsageRepository = ReturnType<typeof open>;

/** The history of one environment. */
export function open(
  engine: Engine,
  { clock, environment }: { readonly clock: Clock; readonly environment: Environment },
) {
  /** The last key whose old rows were deleted. */
  let pruned = 0;

  /** What `select` finds from the usage of keys, for all keys in slices. */
  async function* readSlices<R extends Row>(select: (usage: Sql) => Sql): AsyncGenerator<readonly R[]> {
    const [row] = await engine.read<[bigint | null]>(sql`SELECT max(id) FROM keys`);
    const end = Number(row?.[0] ?? 0);
    let size = SLICE.first;
    for (let after = 0; after < end; ) {
      const last = Math.min(after + size, end);
      const start = clock().monotonic;
      // CROSS keeps the order of the tables in SQLite, which would read all rows of the history first, and then look for the
      // key of each.
      const rows = await engine.read<R>(
        select(sql`FROM keys k CROSS JOIN usage_days u
          WHERE u.key_id = k.id AND k.id > ${after} AND k.id <= ${last} AND k.environment = ${environment}`),
      );
      const took = clock().monotonic - start;
      yield rows;
      if (took < SHORT) size = Math.min(size * 2, SLICE.most);
      if (took > LONG) size = Math.max(Math.floor(size / 2), SLICE.least);
      after = last;
      if (after < end) await letOthersRun();
    }
  }

  return {
    ...openReads(engine, environment),
    /** Adds the counts, unless the batch has been added before. */
    add: (batch: UsageBatch): Promise<void> =>
      engine.write(addUsage, batch, environment, Math.floor(clock().unix)),
    /**
     * All keys that called an operation since the day of `from`. They come in slices, each with the most requests first, and
     * requests run in between.
     */
    async *callers(operation: string, from: number) {
      const slices = readSlices<readonly [keyId: bigint, accountId: bigint, requests: bigint]>(
        (usage) => sql`SELECT k.id, k.account_id, ${REQUESTS} ${usage}
          AND u.operation = ${operation} AND u.day >= ${Math.floor(from / DAY)}
          GROUP BY k.id, k.account_id ORDER BY 3 DESC, k.id`,
      );
      for await (const rows of slices)
        yield rows.map(([keyId, accountId, requests]) => ({
          keyId: Number(keyId),
          accountId: Number(accountId),
          requests: Number(requests),
        }));
    },
    /** Those of these keys that called an operation since the day of `from`, the most requests first. One statement. */
    async callersOf(
      operation: string,
      from: number,
      keyIds: readonly number[],
    ): Promise<readonly UsageCaller[]> {
      if (keyIds.length === 0) return [];
      const rows = await engine.read<
        readonly [...KeyRow, requests: bigint, lastDay: bigint, hours: string | null]
      >(sql`
        SELECT k.id, k.label, a.id, a.name, s.requests, s.day,
          (SELECT hours FROM usage_hours h WHERE h.key_id = k.id AND h.day = s.day AND h.operation = ${operation})
        FROM (SELECT u.key_id, ${REQUESTS} AS requests, max(u.day) AS day FROM usage_days u
          WHERE ${engine.dialect.isAnyOf('u.key_id', keyIds)} AND u.operation = ${operation}
            AND u.day >= ${Math.floor(from / DAY)} GROUP BY u.key_id) AS s
        CROSS JOIN keys k CROSS JOIN accounts a
        WHERE k.id = s.key_id AND a.id = k.account_id AND k.environment = ${environment}
        ORDER BY s.requests DESC, k.id`);
      return rows.map(([id, label, accountId, account, requests, lastDay, hours]) => {
        const key = readKey([id, label, accountId, account]);
        const day = Number(lastDay);
        const last = unpackHours({ ...key, day, operation, hours: hours ?? '[]' }).at(-1);
        const lastHour = last === undefined ? day * DAY : last.hour * HOUR;
        return Object.assign(key, { requests: Number(requests), lastHour });
      });
    },
    /** The requests of accounts on the UTC day of `at`, in slices of keys: an account can come in several of them. */
    async *accountsOfDay(now: number): AsyncGenerator<readonly AccountTotal[]> {
      const slices = readSlices<
        readonly [id: bigint, plan: Plan, perMinute: bigint | null, perDay: bigint | null, requests: bigint]
      >(
        (usage) => sql`SELECT s.account_id, a.plan, a.per_minute, a.per_day, s.requests
          FROM (SELECT k.account_id, ${REQUESTS} AS requests ${usage} AND u.day = ${Math.floor(now / DAY)}
            GROUP BY k.account_id) AS s
          JOIN accounts a ON a.id = s.account_id`,
      );
      for await (const rows of slices)
        yield rows.map(([accountId, plan, perMinute, perDay, requests]) => ({
          accountId: Number(accountId),
          limits: limitsOf(
            plan,
            perMinute === null || perDay === null
              ? {}
              : { perMinute: Number(perMinute), perDay: Number(perDay) },
          ),
          requests: Number(requests),
        }));
    },
    /**
     * Deletes rows that are too old, some keys at a time. Call it once a minute. It deletes nothing unless 7 of the last 30
     * days have usage, because a clock may be far ahead.
     */
    async prune(): Promise<void> {
      const now = Math.floor(clock().unix);
      const today = Math.floor(now / DAY);
      const all = Object.values(ALL_KEYS);
      const [used] = await engine.read<[bigint]>(sql`SELECT count(DISTINCT day) FROM usage_days
        WHERE key_id = ${ALL_KEYS[environment]} AND day > ${today - 30} AND day <= ${today}`);
      if (Number(used?.[0]) < DAYS_OF_USE) return;
      const keys = await engine.read<[bigint]>(
        sql`SELECT id FROM keys WHERE id > ${pruned} ORDER BY id LIMIT ${KEYS_AT_ONCE}`,
      );
      const ids = keys.map(([id]) => Number(id));
      // A round begins with the rows of all keys together.
      await engine.write(pruneUsage, pruned === 0 ? [...all, ...ids] : ids, now);
      pruned = ids.at(-1) ?? 0;
    },
  };
}
