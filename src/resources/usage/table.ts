// Contract: section 6.9.
import type { Environment } from '../../domain/api-key.ts';
import type { UsageCount } from '../../domain/usage.ts';
import type { Value } from '../../storage/sql.ts';
import { type AnyTable, instant, integer, Table, text } from '../../storage/table.ts';
import type { Transaction } from '../../storage/transaction.ts';
import { addCounts, dayOf } from './rules.ts';

const COUNTS = { ok: integer, clientError: integer, refused: integer, serverError: integer };

export const COUNT_COLUMNS = ['ok', 'client_error', 'refused', 'server_error'] as const;

/** The requests of each key by the hour. Hours and days count from 1970. */
export const USAGE_RECENT = new Table(
  'usage_recent',
  { keyId: integer, hour: integer, operation: text, ...COUNTS },
  { key: ['key_id', 'hour', 'operation'] },
);

export const USAGE_DAYS = new Table(
  'usage_days',
  { keyId: integer, day: integer, operation: text, ...COUNTS },
  { key: ['key_id', 'day', 'operation'] },
);

/** The requests of all keys of an environment by the hour. */
export const USAGE_TOTALS = new Table(
  'usage_totals',
  { environment: text, hour: integer, operation: text, ...COUNTS },
  { key: ['environment', 'hour', 'operation'] },
);

/** The last batch that each process wrote. */
export const USAGE_WRITERS = new Table(
  'usage_writers',
  { writer: text, sequence: integer, writtenAt: instant },
  { key: ['writer'] },
);

export async function addToHours(transaction: Transaction, counts: readonly UsageCount[]): Promise<void> {
  await addTo(transaction, USAGE_RECENT, counts, ({ keyId, hour, operation }) => [keyId, hour, operation]);
}

export async function addToDays(transaction: Transaction, counts: readonly UsageCount[]): Promise<void> {
  const toKey = ({ keyId, hour, operation }: UsageCount) => [keyId, dayOf(hour), operation];
  await addTo(transaction, USAGE_DAYS, counts, toKey);
}

export async function addToTotals(
  transaction: Transaction,
  environment: Environment,
  counts: readonly UsageCount[],
): Promise<void> {
  await addTo(transaction, USAGE_TOTALS, counts, ({ hour, operation }) => [environment, hour, operation]);
}

/**
 * Adds counts to the rows with these primary keys. Each row comes once, because a statement of PostgreSQL changes a row
 * once, and all instances have one order of rows, so that no two wait for each other.
 */
async function addTo(
  transaction: Transaction,
  table: AnyTable,
  counts: readonly UsageCount[],
  toKey: (count: UsageCount) => readonly Value[],
): Promise<void> {
  const rows = [...Map.groupBy(counts, (count) => toKey(count).join(' '))]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([, group]) => {
      const sum = group.map((count) => count.counts).reduce(addCounts);
      return toKey(group[0] as UsageCount).concat(sum);
    });
  const sums = COUNT_COLUMNS.map((column) => `${column} = ${table.name}.${column} + excluded.${column}`);
  const onConflict = `ON CONFLICT (${table.key.join(', ')}) DO UPDATE SET ${sums.join(', ')}`;
  await transaction.insert(table, rows, onConflict);
}
