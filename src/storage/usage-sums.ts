// Contract: section 6.9.
import { DAY } from '../domain/clock.ts';
import { Smallest } from '../domain/smallest.ts';
import {
  compareSums,
  LENGTH,
  type SumPlace,
  type UsageBy,
  type UsageCount,
  type UsageHistory,
  type UsageInterval,
  type UsageKey,
  type UsageOutcome,
  type UsageQuery,
  type UsageSum,
  type UsageSumsQuery,
} from '../domain/usage.ts';
import { KEYS_NAMED, keyList, named, unpackHours } from './usage-hours.ts';
import {
  daysOfUse,
  slicesOf,
  type SumRow,
  unitsAtOnce,
  type UsageRows,
  type UsedKey,
  type Whose,
} from './usage-rows.ts';
import { HOURS_A_DAY, type Span, spansOf } from './usage-spans.ts';

export const KEY_COLUMNS = 'k.id, k.label, a.id, a.name';
export type KeyColumns = readonly [id: bigint, label: string | null, accountId: bigint, account: string];

const KEYS = `SELECT ${KEY_COLUMNS} FROM keys k JOIN accounts a ON a.id = k.account_id WHERE k.id IN (${keyList(1)})`;
const ACCOUNTS = `SELECT id, name FROM accounts WHERE id IN (${keyList(1)})`;

export function keyOf([id, label, accountId, account]: KeyColumns): UsageKey {
  return { keyId: Number(id), label: label ?? undefined, accountId: Number(accountId), account };
}

/** Counts in the order of OUTCOMES, by their names. */
export function byOutcome([
  ok = 0,
  clientError = 0,
  refused = 0,
  serverError = 0,
]: readonly number[]): Readonly<Record<UsageOutcome, number>> {
  return { ok, clientError, refused, serverError };
}

/** A start in whole hours or days, the name of an operation, or the id of a key or an account. */
type Group = number | string;
type Sums = Map<Group, number[]>;

/** The group of a row of a table, and of a count of an hour. */
const GROUPED = {
  interval: { column: 'day', of: ({ hour }: UsageCount) => hour },
  operation: { column: 'operation', of: ({ operation }: UsageCount) => operation },
  key: { column: 'key_id', of: ({ keyId }: UsageCount) => keyId },
} as const;

type Grouped = keyof typeof GROUPED;

/** A sum without the names of its group. */
interface PlacedSum extends SumPlace {
  readonly counts: readonly number[];
}

export function usageSums(rows: UsageRows): UsageHistory['sums'] {
  const describe: {
    readonly [By in UsageBy]: (sums: readonly PlacedSum[]) => Promise<readonly UsageSum<By>[]>;
  } = {
    interval: async (sums) =>
      sums.map(({ number, counts }) => Object.assign({ start: number }, byOutcome(counts))),
    operation: async (sums) =>
      sums.map(({ group, counts }) => Object.assign({ operation: String(group) }, byOutcome(counts))),
    async key(sums) {
      const found = await byIds<KeyColumns>(rows, KEYS, sums);
      return sums.flatMap(({ group, counts }) => {
        const row = found.get(Number(group));
        return row === undefined ? [] : [Object.assign(keyOf(row), byOutcome(counts))];
      });
    },
    async account(sums) {
      const found = await byIds<readonly [id: bigint, name: string]>(rows, ACCOUNTS, sums);
      return sums.map(({ group, counts }) => {
        const account = found.get(Number(group))?.[1] ?? '';
        return Object.assign({ accountId: Number(group), account }, byOutcome(counts));
      });
    },
  };
  return async (query) => {
    const { by, interval, limit = Infinity, after } = query;
    const first = new Smallest<PlacedSum>(limit, compareSums);
    for await (const sums of sumsOf(rows, query))
      for (const [group, counts] of sums) {
        const place = by === 'interval' ? placeOfInterval(interval, group) : placeOfGroup(group, counts);
        if (after === undefined || compareSums(place, after) > 0) first.add(Object.assign(place, { counts }));
      }
    return await describe[by](first.items);
  };
}

function placeOfInterval(interval: UsageInterval, group: Group): SumPlace {
  return { number: Number(group) * LENGTH[interval], group: 0 };
}

function placeOfGroup(group: Group, counts: readonly number[]): SumPlace {
  return { number: -counts.reduce((sum, count) => sum + count, 0), group };
}

/** The rows with the ids of these groups. The first column of a row is its id. */
async function byIds<R extends readonly [id: bigint, ...unknown[]]>(
  rows: UsageRows,
  sql: string,
  sums: readonly PlacedSum[],
): Promise<ReadonlyMap<number, R>> {
  const found = new Map<number, R>();
  for (let at = 0; at < sums.length; at += KEYS_NAMED) {
    const ids = sums.slice(at, at + KEYS_NAMED).map(({ group }) => Number(group));
    for (const row of await rows.read<R>(sql, named(ids))) found.set(Number(row[0]), row);
  }
  return found;
}

/** The sums of a range, in parts. Each group is in one part. An account is the sum of its keys. */
async function* sumsOf(
  rows: UsageRows,
  { accountId, by, ...query }: UsageSumsQuery<UsageBy>,
): AsyncGenerator<Iterable<readonly [Group, number[]]>> {
  const grouped = by === 'account' ? 'key' : by;
  const everybody: Whose = grouped === 'key' ? 'each key' : 'all keys';
  const days: Span = [Math.floor(query.from / DAY), Math.ceil(query.to / DAY)];
  let sums: Sums = new Map();
  for await (const keys of rows.keys(days, accountId === undefined ? everybody : { accountId })) {
    const last = keys.at(-1);
    if (last === undefined) continue;
    if (by === 'account') {
      const accounts = new Map(keys.map((key) => [key.id, key.accountId]));
      for (const [id, counts] of await addSums(rows, query, grouped, keys, new Map()))
        addTo(sums, accounts.get(Number(id)) ?? 0, counts);
      // The next keys may belong to the same account.
      const ofLast = sums.get(last.accountId);
      sums.delete(last.accountId);
      yield sums;
      sums = new Map(ofLast && [[last.accountId, ofLast]]);
    } else {
      await addSums(rows, query, grouped, keys, sums);
      if (by !== 'key') continue;
      yield sums;
      sums = new Map();
    }
  }
  yield sums;
}

/** Adds the sums of some keys. */
async function addSums(
  rows: UsageRows,
  { interval, from, to }: UsageQuery,
  by: Grouped,
  keys: readonly UsedKey[],
  sums: Sums,
): Promise<Sums> {
  const { column, of } = GROUPED[by];
  const [start, end] = daysOfUse(keys);
  const used = { interval, from: Math.max(from, start * DAY), to: Math.min(to, end * DAY) };
  const { hours, days, weeks } = spansOf(used, by);
  for (const [first, next] of hours) {
    const span: Span = [Math.floor(first / HOURS_A_DAY), Math.ceil(next / HOURS_A_DAY)];
    const isWanted = (hour: number) => hour >= first && hour < next;
    for (const slice of slicesOf(span, unitsAtOnce('hours', keys.length)))
      for await (const part of rows.hours(keys, slice))
        for (const count of unpackHours(part, isWanted)) addTo(sums, of(count), count.counts);
  }
  const add = (part: readonly SumRow[]) => {
    for (const [group, ok, clientError, refused, serverError] of part) {
      const counts = [Number(ok), Number(clientError), Number(refused), Number(serverError)];
      addTo(sums, typeof group === 'bigint' ? Number(group) : group, counts);
    }
  };
  for (const span of days)
    for (const slice of slicesOf(span, unitsAtOnce('sums', keys.length)))
      for await (const part of rows.sums(column, 'usage_days', keys, slice)) add(part);
  // A row of a week has all operations together.
  for (const span of weeks) for await (const part of rows.sums(column, 'usage_weeks', keys, span)) add(part);
  return sums;
}

function addTo(sums: Sums, group: Group, counts: readonly number[]): void {
  const its = sums.get(group);
  if (its === undefined) sums.set(group, [...counts]);
  else for (const [index, count] of counts.entries()) its[index] = Number(its[index]) + count;
}
