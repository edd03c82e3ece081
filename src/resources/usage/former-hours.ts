// Until the next release: the version before writes hours as JSON, and keys that stand for all (docs/design/usage.md).
import type { Environment } from '../../domain/api-key.ts';
import type { UsageCount } from '../../domain/usage.ts';
import { sql } from '../../storage/sql.ts';
import { integer, Table, text } from '../../storage/table.ts';
import type { Transaction } from '../../storage/transaction.ts';
import { HOURS_A_DAY } from './rules.ts';
import { addToHours, addToTotals, USAGE_DAYS } from './table.ts';

/** The hours of a day as JSON: `[[hour of the day, ok, clientError, refused, serverError], …]`. */
const FORMER_HOURS = new Table(
  'usage_hours',
  { keyId: integer, day: integer, operation: text, hours: text },
  { key: ['key_id', 'day', 'operation'] },
);

/** Sums that nothing reads. */
const FORMER_WEEKS = new Table(
  'usage_weeks',
  {
    keyId: integer,
    week: integer,
    ok: integer,
    clientError: integer,
    refused: integer,
    serverError: integer,
  },
  { key: ['key_id', 'week'] },
);

export const FORMER_TABLES = [FORMER_HOURS, FORMER_WEEKS];

/** The keys that stand for all keys of an environment. */
const ALL_KEYS: ReadonlyMap<number, Environment> = new Map([
  [0, 'production'],
  [-1, 'staging'],
]);

/** Days of a key and an operation that one transaction moves. */
const AT_ONCE = 500;

/** Moves hours that the version before has written. Gives whether there may be more. */
export async function moveFormerHours(transaction: Transaction): Promise<boolean> {
  // That version reads the hours of a day and writes them back. Before, it has written to the day.
  await transaction.lock(USAGE_DAYS);
  const moved = await transaction.query(sql`DELETE FROM usage_hours WHERE (key_id, day, operation) IN
    (SELECT key_id, day, operation FROM usage_hours ORDER BY key_id, day, operation LIMIT ${AT_ONCE})
    RETURNING ${FORMER_HOURS.list}`);
  const counts = moved.map(FORMER_HOURS.parse).flatMap(unpackHours);
  await addToHours(
    transaction,
    counts.filter(({ keyId }) => keyId > 0),
  );
  for (const [allKeys, environment] of ALL_KEYS)
    await addToTotals(
      transaction,
      environment,
      counts.filter(({ keyId }) => keyId === allKeys),
    );
  await transaction.query(sql`DELETE FROM usage_days WHERE key_id <= 0`);
  await transaction.query(sql`DELETE FROM usage_weeks`);
  return moved.length === AT_ONCE;
}

function unpackHours({ keyId, day, operation, hours }: ReturnType<typeof FORMER_HOURS.parse>): UsageCount[] {
  const packed = JSON.parse(hours) as readonly (readonly [hour: number, ...counts: UsageCount['counts']])[];
  return packed.map(([hour, ...counts]) => ({ hour: day * HOURS_A_DAY + hour, keyId, operation, counts }));
}
