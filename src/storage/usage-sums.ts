// Contract: section 6.9.
import type { Environment } from '../domain/api-key.ts';
import {
  LENGTH,
  OUTCOMES,
  type UsageBy,
  type UsageCount,
  type UsageHistory,
  type UsageKey,
  type UsageOutcome,
  type UsageSum,
  type UsageSumsQuery,
} from '../domain/usage.ts';
import type { Engine, Row, Value } from './engine.ts';
import { ALL_KEYS, type HoursRow, unpackHours } from './usage-hours.ts';
import { HOURS_A_DAY, type Span, spansOf } from './usage-spans.ts';

/** The keys of the rows: each key of an account, each key, or all keys together. */
type Whose = { readonly accountId: number } | 'each key' | 'all keys';

export type CountColumns = readonly [ok: bigint, clientError: bigint, refused: bigint, serverError: bigint];

/** The columns of the counts, in the order of OUTCOMES. */
export const COUNT_COLUMNS = 'u.ok, u.client_error, u.refused, u.server_error';

/** Their sums. The sum of bigint is numeric in PostgreSQL. */
const SUM_COLUMNS = COUNT_COLUMNS.replaceAll(/[\w.]+/g, (name) => `CAST(sum(${name}) AS bigint)`);

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

/** A start in whole hours or days, the name of an operation, or the id of a key or an account. */
type Group = number | string;
type Sums = Map<Group, number[]>;

/** The group of a row of a table, and of a count of an hour. An account is the sum of its keys. */
const GROUPED = {
  interval: { column: 'u.day', of: ({ hour }: UsageCount) => hour },
  operation: { column: 'u.operation', of: ({ operation }: UsageCount) => operation },
  key: { column: 'k.id', of: ({ keyId }: UsageCount) => keyId },
} as const;

/** `keysById` gives the keys of an account, or all of the environment. */
export function usageSums(
  rows: UsageRows,
  keysById: (accountId: number | undefined) => Promise<ReadonlyMap<number, UsageKey>>,
): UsageHistory['sums'] {
  const sums: { readonly [By in UsageBy]: (query: UsageSumsQuery<By>) => Promise<readonly UsageSum<By>[]> } =
    {
      async interval(query) {
        const found = await groupedSums(rows, query, 'interval');
        return [...found]
          .toSorted(([a], [b]) => Number(a) - Number(b))
          .map(([start, counts]) =>
            Object.assign({ start: Number(start) * LENGTH[query.interval] }, byOutcome(counts)),
          );
      },
      async operation(query) {
        const found = await groupedSums(rows, query, 'operation');
        return mostFirst(found).map(([operation, counts]) =>
          Object.assign({ operation: String(operation) }, byOutcome(counts)),
        );
      },
      async key(query) {
        const [keys, found] = await Promise.all([keysById(query.accountId), groupedSums(rows, query, 'key')]);
        return mostFirst(found).flatMap(([id, counts]) => {
          const key = keys.get(Number(id));
          return key === undefined ? [] : [Object.assign({}, key, byOutcome(counts))];
        });
      },
      async account(query) {
        const [keys, found] = await Promise.all([keysById(query.accountId), groupedSums(rows, query, 'key')]);
        const ofAccounts: Sums = new Map();
        const names = new Map<Group, string>();
        for (const [id, counts] of found) {
          const key = keys.get(Number(id));
          if (key === undefined) continue;
          names.set(key.accountId, key.account);
          addTo(ofAccounts, key.accountId, counts);
        }
        return mostFirst(ofAccounts).map(([accountId, counts]) =>
          Object.assign(
            { accountId: Number(accountId), account: names.get(accountId) ?? '' },
            byOutcome(counts),
          ),
        );
      },
    };
  return (query) => sums[query.by](query);
}

async function groupedSums(
  rows: UsageRows,
  { accountId, ...query }: UsageSumsQuery<UsageBy>,
  by: keyof typeof GROUPED,
): Promise<Sums> {
  const { column, of } = GROUPED[by];
  let whose: Whose = by === 'key' ? 'each key' : 'all keys';
  if (accountId !== undefined) whose = { accountId };
  const spans = spansOf(query, by);
  const sumsIn = (table: 'usage_days' | 'usage_weeks') => (span: Span) =>
    rows.select<readonly [bigint | string, ...CountColumns]>(
      `${column}, ${SUM_COLUMNS}`,
      table,
      span,
      whose,
      `GROUP BY ${column}`,
    );
  const [hours, ...summed] = await Promise.all([
    Promise.all(spans.hours.map((span) => rows.hours(span, whose))),
    ...spans.days.map(sumsIn('usage_days')),
    ...spans.weeks.map(sumsIn('usage_weeks')),
  ]);
  const sums: Sums = new Map();
  for (const count of hours.flat()) addTo(sums, of(count), count.counts);
  for (const [group, ...counts] of summed.flat())
    addTo(sums, typeof group === 'bigint' ? Number(group) : group, counts.map(Number));
  return sums;
}

function addTo(sums: Sums, group: Group, counts: readonly number[]): void {
  const its = sums.get(group);
  if (its === undefined) sums.set(group, [...counts]);
  else for (const [index, count] of counts.entries()) its[index] = Number(its[index]) + count;
}

/** The most requests first. Groups with the same number are in the order of their names or ids. */
function mostFirst(sums: Sums): readonly (readonly [Group, readonly number[]])[] {
  const requests = (counts: readonly number[]) => counts.reduce((sum, count) => sum + count, 0);
  return [...sums].toSorted(([a, ofA], [b, ofB]) => requests(ofB) - requests(ofA) || (a < b ? -1 : 1));
}
