// Contract: section 6.9.
import type { Environment } from '../domain/api-key.ts';
import type { UsageCount } from '../domain/usage.ts';
import type { Transaction } from './transaction.ts';
import type { Table } from './tables.ts';
import { HOURS_A_DAY } from './usage-spans.ts';

/** The key that stands for all keys of an environment together. */
export const ALL_KEYS = { production: 0, staging: -1 } as const satisfies Record<Environment, number>;

/** Keys that one statement names. */
export const KEYS_NAMED = 500;

/** SQL for `length` parameters from number `first` on, which are the ids of `named`. */
export function keyList(first: number, length = KEYS_NAMED): string {
  return Array.from({ length }, (_, index) => `$${first + index}`).join(', ');
}

/** Up to `length` ids. The last one fills up the list, so that there is one statement for any number of keys. */
export function named(ids: readonly number[], length = KEYS_NAMED): readonly number[] {
  return Array.from({ length }, (_, index) => ids[index] ?? ids.at(-1) ?? 0);
}

/** The hours of a day are in one row, which takes a tenth of the space of a row for each hour. */
export const USAGE_HOURS = {
  name: 'usage_hours',
  key: ['key_id', 'day', 'operation'],
  columns: [
    ['key_id', 'integer'],
    ['day', 'integer'],
    ['operation', 'text'],
    ['hours', 'text'],
  ],
  assignsIds: false,
} as const satisfies Table;

export type HoursRow = readonly [keyId: bigint, day: bigint, operation: string, hours: string];

/** An hour in a row: of the day, from 0 to 23. */
type PackedHour = [hour: number, ok: number, clientError: number, refused: number, serverError: number];

/** The counts of the hours in the rows that are wanted. An hour counts from 1970. */
export function unpackHours(
  rows: readonly HoursRow[],
  isWanted: (hour: number) => boolean,
): readonly UsageCount[] {
  const counts: UsageCount[] = [];
  for (const [id, day, operation, hours] of rows) {
    const keyId = Number(id);
    const midnight = Number(day) * HOURS_A_DAY;
    for (const packed of JSON.parse(hours) as PackedHour[]) {
      const hour = midnight + packed[0];
      if (isWanted(hour))
        counts.push({ hour, keyId, operation, counts: [packed[1], packed[2], packed[3], packed[4]] });
    }
  }
  return counts;
}

/** The last hour in a row of a day, from 0 to 23; 0 when there is no row. */
export function lastHourIn(hours: string | null): number {
  return (JSON.parse(hours ?? '[]') as PackedHour[]).at(-1)?.[0] ?? 0;
}

const ROWS_OF_KEYS = `SELECT key_id, day, operation, hours FROM usage_hours
  WHERE day >= $1 AND day <= $2 AND key_id IN (${keyList(3)})`;

/** Counts that are added at once: with PostgreSQL, other requests run in between. */
const COUNTS_AT_ONCE = 250;

/** Adds counts. The caller has locked their rows in `usage_days`, so no other transaction changes the rows that this reads. */
export async function addHours(transaction: Transaction, counts: readonly UsageCount[]): Promise<void> {
  for (let at = 0; at < counts.length; at += COUNTS_AT_ONCE)
    await addSome(transaction, counts.slice(at, at + COUNTS_AT_ONCE));
}

async function addSome(transaction: Transaction, counts: readonly UsageCount[]): Promise<void> {
  const days = counts.map(({ hour }) => dayOf(hour));
  const range = [Math.min(...days), Math.max(...days)];
  const ids = [...new Set(counts.map(({ keyId }) => keyId))];
  const before = new Map<string, string>();
  for (let from = 0; from < ids.length; from += KEYS_NAMED) {
    const values = [...range, ...named(ids.slice(from, from + KEYS_NAMED))];
    for (const [keyId, day, operation, hours] of await transaction.query<HoursRow>(ROWS_OF_KEYS, values))
      before.set(`${keyId} ${day} ${operation}`, hours);
  }
  const after = new Map<string, [keyId: number, day: number, operation: string, hours: PackedHour[]]>();
  for (const { keyId, hour, operation, counts: its } of counts) {
    const day = dayOf(hour);
    const name = `${keyId} ${day} ${operation}`;
    let row = after.get(name);
    if (row === undefined) {
      row = [keyId, day, operation, JSON.parse(before.get(name) ?? '[]') as PackedHour[]];
      after.set(name, row);
    }
    addHour(row[3], [hour - day * HOURS_A_DAY, ...its]);
  }
  await transaction.insert(
    USAGE_HOURS,
    [...after.values()].map(([keyId, day, operation, hours]) => [
      keyId,
      day,
      operation,
      JSON.stringify(hours),
    ]),
    'ON CONFLICT (key_id, day, operation) DO UPDATE SET hours = excluded.hours',
  );
}

/** The hours stay ascending. */
function addHour(hours: PackedHour[], added: PackedHour): void {
  const its = hours.find(([hour]) => hour === added[0]);
  if (its === undefined) {
    hours.push(added);
    hours.sort((a, b) => a[0] - b[0]);
    return;
  }
  for (let index = 1; index < its.length; index++) its[index] = Number(its[index]) + Number(added[index]);
}

export function dayOf(hour: number): number {
  return Math.floor(hour / HOURS_A_DAY);
}
