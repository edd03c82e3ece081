// Contract: section 6.9.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Environment } from '../domain/api-key.ts';
import type { Row } from './sql.ts';
import type { Engine } from './engine.ts';
import { ALL_KEYS, type HoursRow, KEYS_NAMED, keyList, named } from './usage-hours.ts';
import type { Span } from './usage-spans.ts';

/** The keys of the rows: each key of an account, each key, or all keys together. */
export type Whose = { readonly accountId: number } | 'each key' | 'all keys';

/** A key with usage. */
export interface UsedKey {
  readonly id: number;
  readonly accountId: number;
  /** From its first day with usage to its last one. */
  readonly days: Span;
}

export type CountColumns = readonly [ok: bigint, clientError: bigint, refused: bigint, serverError: bigint];

export type DayRow = readonly [keyId: bigint, day: bigint, operation: string, ...CountColumns];

/** A group, its sums, and how many rows they are of. */
export type SumRow = readonly [group: bigint | string, ...CountColumns, rows: bigint];

/** The columns of the counts, in the order of OUTCOMES. */
const COUNTS = ['ok', 'client_error', 'refused', 'server_error'] as const;

/** The sum of bigint is numeric in PostgreSQL. */
const SUMS = COUNTS.map((name) => `CAST(sum(s.${name}) AS bigint)`).join(', ');

/**
 * Rows that one read gives or, for sums, adds up at most, so that neither the read nor the work on its rows holds up other
 * requests. A row of hours has up to 24 counts.
 */
const MOST_ROWS = { hours: 125, days: 1_000, sums: 5_000 } as const;

/** Operations that a key uses on a day, at most: a guess that only decides how long a slice is. */
const OPERATIONS = 25;

/** Days or weeks of `keys` keys that one read may cover, with `each` rows of a key and a day or week. */
export function unitsAtOnce(kind: keyof typeof MOST_ROWS, keys: number, each = OPERATIONS): number {
  return Math.max(1, Math.floor(MOST_ROWS[kind] / (each * keys)));
}

/** How many times as many keys as the last read the next one may read, because they may have more rows. */
const MOST_GROWTH = 4;

/** A span in slices of `length`. */
export function* slicesOf([from, to]: Span, length: number): Generator<Span> {
  for (let start = from; start < to; start += length) yield [start, Math.min(to, start + length)];
}

/** The lengths that a list of keys in a statement has, so that there are few statements. */
const LISTS = [1, 20, 100, KEYS_NAMED] as const;

const dayOfUse = (order: '' | 'DESC') => `CASE WHEN k.environment = $3 THEN (SELECT u.day FROM usage_days u
  WHERE u.key_id = k.id AND u.day >= $1 AND u.day < $2 ORDER BY u.day ${order} LIMIT 1) END`;
const KEYS_USED = `SELECT k.account_id, k.id, ${dayOfUse('')}, ${dayOfUse('DESC')} FROM keys k`;
const KEYS_OF_ACCOUNT = `${KEYS_USED} WHERE k.account_id = $4 AND k.id > $5 ORDER BY k.id LIMIT ${KEYS_NAMED}`;
const KEYS_OF_NEXT_ACCOUNTS = `${KEYS_USED} WHERE k.account_id > $4 ORDER BY k.account_id, k.id LIMIT ${KEYS_NAMED}`;
const DAYS_OF_ALL_KEYS = `SELECT min(day), max(day) FROM usage_days WHERE key_id = $3 AND day >= $1 AND day < $2`;

type UsedRow = readonly [accountId: bigint, id: bigint, first: bigint | null, last: bigint | null];

/** Reads the history of an environment in small parts. */
export class UsageRows {
  readonly #engine: Engine;
  readonly #environment: Environment;
  #lastTurn: Promise<unknown> = Promise.resolve();

  constructor(engine: Engine, environment: Environment) {
    this.#engine = engine;
    this.#environment = environment;
  }

  /**
   * One read of all that wait, in a turn of the event loop of its own: however many requests read the history, the others
   * run after each read and the work on its rows.
   */
  read<R extends Row>(sql: string, values: Parameters<Engine['read']>[1]): Promise<readonly R[]> {
    const rows = this.#lastTurn.then(async () => {
      await nextTurn();
      return this.#engine.read<R>(sql, values);
    });
    this.#lastTurn = rows.catch(() => undefined);
    return rows;
  }

  /** The keys with usage on these days, at most KEYS_NAMED at a time, in the order of their accounts and ids. */
  async *keys([from, to]: Span, whose: Whose): AsyncGenerator<readonly UsedKey[]> {
    if (whose === 'all keys') {
      const id = ALL_KEYS[this.#environment];
      const rows = await this.read<[bigint | null, bigint | null]>(DAYS_OF_ALL_KEYS, [from, to, id]);
      yield usedKeys(rows.map(([first, last]) => [0n, BigInt(id), first, last]));
      return;
    }
    const range = [from, to, this.#environment];
    let [accountId, id] = [whose === 'each key' ? 0 : whose.accountId, 0];
    for (;;) {
      // The rest of an account is read apart, because no index has accounts and ids.
      let rows = await this.read<UsedRow>(KEYS_OF_ACCOUNT, [...range, accountId, id]);
      if (rows.length < KEYS_NAMED) {
        yield usedKeys(rows);
        if (whose !== 'each key') return;
        rows = await this.read<UsedRow>(KEYS_OF_NEXT_ACCOUNTS, [...range, accountId]);
      }
      yield usedKeys(rows);
      const last = rows.at(-1);
      if (last === undefined) return;
      [accountId, id] = [Number(last[0]), Number(last[1])];
    }
  }

  /** The packed hours of a span of days, those of a key in one part. */
  hours(keys: readonly UsedKey[], days: Span): AsyncGenerator<readonly HoursRow[]> {
    const columns = 'u.key_id, u.day, u.operation, u.hours';
    return this.#parts(keys, days, MOST_ROWS.hours, (list, most) => ({
      sql: `SELECT ${columns} FROM usage_hours u WHERE u.day >= $1 AND u.day < $2 AND u.key_id IN (${list}) LIMIT ${most}`,
      sizeOf: (rows) => rows.length,
    }));
  }

  /** The counts of a span of days, those of a key in one part. */
  days(keys: readonly UsedKey[], days: Span): AsyncGenerator<readonly DayRow[]> {
    const columns = `u.key_id, u.day, u.operation, ${COUNTS.map((name) => `u.${name}`).join(', ')}`;
    return this.#parts(keys, days, MOST_ROWS.days, (list, most) => ({
      sql: `SELECT ${columns} FROM usage_days u WHERE u.day >= $1 AND u.day < $2 AND u.key_id IN (${list}) LIMIT ${most}`,
      sizeOf: (rows) => rows.length,
    }));
  }

  /** The sums of a span by a column. Each part has sums of its own. */
  sums(
    column: string,
    table: 'usage_days' | 'usage_weeks',
    keys: readonly UsedKey[],
    span: Span,
  ): AsyncGenerator<readonly SumRow[]> {
    const time = table === 'usage_days' ? 'day' : 'week';
    const rows = `SELECT ${column} AS its, ${COUNTS.join(', ')} FROM ${table} WHERE ${time} >= $1 AND ${time} < $2`;
    return this.#parts(keys, span, MOST_ROWS.sums, (list, most) => ({
      sql: `SELECT s.its, ${SUMS}, count(*) FROM (${rows} AND key_id IN (${list}) LIMIT ${most}) s GROUP BY s.its`,
      sizeOf: (sums) => sums.reduce((size, [, , , , , its]) => size + Number(its), 0),
    }));
  }

  /** Reads as many keys at once as have at most `most` rows in the span. */
  async *#parts<R extends Row>(
    keys: readonly UsedKey[],
    [from, to]: Span,
    most: number,
    statement: (
      list: string,
      most: number,
    ) => { readonly sql: string; readonly sizeOf: (rows: readonly R[]) => number },
  ): AsyncGenerator<readonly R[]> {
    let atOnce = Math.min(KEYS_NAMED, Math.max(1, Math.floor(most / OPERATIONS / (to - from))));
    for (let at = 0; at < keys.length; ) {
      const ids = keys.slice(at, at + atOnce).map(({ id }) => id);
      const length = LISTS.find((each) => each >= ids.length) ?? KEYS_NAMED;
      // The rows of one key are always read: a slice has few of them.
      const limit = ids.length === 1 ? Number.MAX_SAFE_INTEGER : most + 1;
      const { sql, sizeOf } = statement(keyList(3, length), limit);
      const rows = await this.read<R>(sql, [from, to, ...named(ids, length)]);
      const size = sizeOf(rows);
      if (ids.length > 1 && size > most) {
        atOnce = Math.ceil(ids.length / 2);
        continue;
      }
      at += ids.length;
      yield rows;
      const fitting = Math.floor((ids.length * most) / Math.max(1, size));
      atOnce = Math.max(1, Math.min(fitting, MOST_GROWTH * ids.length, KEYS_NAMED));
    }
  }
}

/** The days in which these keys have usage, and those in between. */
export function daysOfUse(keys: readonly UsedKey[]): Span {
  let [start, end] = [Infinity, -Infinity];
  for (const { days } of keys) {
    start = Math.min(start, days[0]);
    end = Math.max(end, days[1]);
  }
  return [start, end];
}

function usedKeys(rows: readonly UsedRow[]): readonly UsedKey[] {
  return rows.flatMap(([accountId, id, first, last]) =>
    first === null || last === null
      ? []
      : [{ id: Number(id), accountId: Number(accountId), days: [Number(first), Number(last) + 1] }],
  );
}
