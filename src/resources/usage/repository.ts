// Contract: section 6.9.
import { type Environment, ENVIRONMENTS } from '../../domain/api-key.ts';
import { DAY } from '../../domain/clock.ts';
import { repeatRounds } from '../../domain/rounds.ts';
import type { UsageBatch } from '../../domain/usage.ts';
import type { Engine } from '../../storage/engine.ts';
import { join, raw, sql } from '../../storage/sql.ts';
import type { Transaction } from '../../storage/transaction.ts';
import { FORMER_TABLES, moveFormerHours } from './former-hours.ts';
import { KEYS_AT_ONCE, openReads } from './reads.ts';
import { HOURS_A_DAY, KEPT } from './rules.ts';
import {
  addToDays,
  addToHours,
  addToTotals,
  USAGE_DAYS,
  USAGE_RECENT,
  USAGE_TOTALS,
  USAGE_WRITERS,
} from './table.ts';

export const TABLES = [USAGE_RECENT, USAGE_DAYS, USAGE_TOTALS, USAGE_WRITERS, ...FORMER_TABLES];

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
  await addToDays(transaction, counts);
  await addToHours(transaction, counts);
  // Last, because all instances add to the same rows.
  await addToTotals(transaction, environment, counts);
}

/** Rows of each table that one transaction deletes. */
const PRUNED_AT_ONCE = 5_000;

/** Deletes rows that are no longer kept: of these keys, and of all together. Gives whether there may be more. */
async function pruneUsage(transaction: Transaction, keyIds: readonly number[]): Promise<boolean> {
  const now = await transaction.now();
  const firstDay = Math.floor((now - KEPT.day) / DAY);
  const firstRecentDay = Math.floor((now - KEPT.hour) / DAY);
  const ofKeys = transaction.dialect.isAnyOf('key_id', keyIds);
  const old = [
    [USAGE_DAYS, sql`day < ${firstDay} AND ${ofKeys}`],
    [USAGE_RECENT, sql`hour < ${firstRecentDay * HOURS_A_DAY} AND ${ofKeys}`],
    [USAGE_TOTALS, sql`hour < ${firstDay * HOURS_A_DAY} AND environment IN (${join(ENVIRONMENTS)})`],
  ] as const;
  let isMore = false;
  for (const [{ name, key }, where] of old) {
    const [table, columns] = [raw(name), raw(key.join(', '))];
    const deleted = await transaction.query(sql`DELETE FROM ${table} WHERE (${columns}) IN
      (SELECT ${columns} FROM ${table} WHERE ${where} LIMIT ${PRUNED_AT_ONCE}) RETURNING 1`);
    isMore ||= deleted.length === PRUNED_AT_ONCE;
  }
  await transaction.query(sql`DELETE FROM usage_writers WHERE written_at < ${now - DAY}`);
  return isMore;
}

/** Notes that a process that counts can write, without any counts. */
async function touchWriter(transaction: Transaction, writer: string): Promise<void> {
  const writtenAt = await transaction.now();
  await transaction.query(sql`${USAGE_WRITERS.insert({ writer, sequence: 0, writtenAt })}
    ON CONFLICT (writer) DO UPDATE SET written_at = excluded.written_at`);
}

export const WRITES = { add: addUsage, touch: touchWriter, prune: pruneUsage, moveFormerHours };

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
    /** Moves what the version before writes beside this one. Call it once a minute. */
    async moveFormerHours(signal?: AbortSignal): Promise<void> {
      const former = await engine.query(sql`SELECT 1 FROM usage_hours LIMIT 1`);
      if (former.length > 0) await repeatRounds(() => engine.write(moveFormerHours), signal);
    },
    /**
     * Deletes rows that are too old, of some keys at a time. Call it once a minute. It deletes nothing unless 7 of the last
     * 30 days have usage, because a clock may be far ahead.
     */
    async prune(signal?: AbortSignal): Promise<void> {
      const tomorrow = Math.floor((await engine.now()) / DAY) + 1;
      const [used] = await engine.query<[bigint]>(sql`
        SELECT count(DISTINCT hour / ${raw(String(HOURS_A_DAY))}) FROM usage_totals WHERE environment = ${environment}
          AND hour >= ${(tomorrow - 30) * HOURS_A_DAY} AND hour < ${tomorrow * HOURS_A_DAY}`);
      if (Number(used?.[0]) < DAYS_OF_USE) return;
      const keys = await engine.query<[bigint]>(
        sql`SELECT id FROM keys WHERE id > ${pruned} ORDER BY id LIMIT ${KEYS_AT_ONCE}`,
      );
      const ids = keys.map(([id]) => Number(id));
      await repeatRounds(() => engine.write(pruneUsage, ids), signal);
      pruned = ids.at(-1) ?? 0;
    },
  };
}
