// Contract: section 6.9.
import type { Environment } from '../domain/api-key.ts';
import { OUTCOMES, type UsageCount, type UsageOutcome } from '../domain/usage.ts';
import type { Engine, Row, Value } from './engine.ts';
import { type HoursRow, unpackHours } from './usage-hours.ts';
import { ALL_KEYS } from './usage-keys.ts';
import { HOURS_A_DAY, type Span } from './usage-spans.ts';

/** The keys of the rows: each key of an account, each key, or all keys together. */
export type Whose = { readonly accountId: number } | 'each key' | 'all keys';

export type CountColumns = readonly [ok: bigint, clientError: bigint, refused: bigint, serverError: bigint];

/** The columns of the counts, in the order of OUTCOMES. */
export const COUNT_COLUMNS = 'u.ok, u.client_error, u.refused, u.server_error';

/** Their sums. The sum of bigint is numeric in PostgreSQL. */
export const SUM_COLUMNS = COUNT_COLUMNS.replaceAll(/[\w.]+/g, (name) => `CAST(sum(${name}) AS bigint)`);

const TIME = { usage_hours: 'u.day', usage_days: 'u.day', usage_weeks: 'u.week' } as const;

/** Reads the history of an environment. */
export class UsageRows {
  readonly #engine: Engine;
  readonly #environment: Environment;

  constructor(engine: Engine, environment: Environment) {
    this.#engine = engine;
    this.#environment = environment;
  }

  /** The columns of the rows in a span of a table, which the SQL calls `u`. `rest` ends the statement. */
  select<R extends Row>(
    columns: string,
    table: keyof typeof TIME,
    [from, to]: Span,
    whose: Whose,
    rest = '',
  ): Promise<readonly R[]> {
    const within = `${TIME[table]} >= $1 AND ${TIME[table]} < $2`;
    if (whose === 'all keys') {
      const sql = `SELECT ${columns} FROM ${table} u WHERE ${within} AND u.key_id = $3 ${rest}`;
      return this.#engine.read<R>(sql, [from, to, ALL_KEYS[this.#environment]]);
    }
    const values: Value[] = [from, to, this.#environment];
    if (whose !== 'each key') values.push(whose.accountId);
    // CROSS, because SQLite would read the whole table first, and then look for the key of each row.
    const sql = `SELECT ${columns} FROM keys k CROSS JOIN ${table} u
      WHERE u.key_id = k.id AND ${within} AND k.environment = $3 ${whose === 'each key' ? '' : 'AND k.account_id = $4'} ${rest}`;
    return this.#engine.read<R>(sql, values);
  }

  /** The counts of each hour in a span of hours. */
  async hours(span: Span, whose: Whose): Promise<readonly UsageCount[]> {
    const [from, to] = span;
    const days: Span = [Math.floor(from / HOURS_A_DAY), Math.ceil(to / HOURS_A_DAY)];
    const columns = 'u.key_id, u.day, u.operation, u.hours';
    const rows = await this.select<HoursRow>(columns, 'usage_hours', days, whose);
    return unpackHours(rows, span);
  }
}

/** Counts in the order of OUTCOMES, by their names. */
export function byOutcome(counts: readonly (number | bigint)[]): Readonly<Record<UsageOutcome, number>> {
  return Object.fromEntries(OUTCOMES.map((outcome, index) => [outcome, Number(counts[index])])) as Record<
    UsageOutcome,
    number
  >;
}
