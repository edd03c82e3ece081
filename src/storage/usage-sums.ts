// Contract: section 6.9.
import {
  LENGTH,
  type UsageBy,
  type UsageCount,
  type UsageHistory,
  type UsageKey,
  type UsageSum,
  type UsageSumsQuery,
} from '../domain/usage.ts';
import { byOutcome, type CountColumns, SUM_COLUMNS, type UsageRows, type Whose } from './usage-rows.ts';
import { type Span, spansOf } from './usage-spans.ts';

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
