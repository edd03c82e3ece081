// Contract: sections 3.13 and 6.9.
import { DAY } from '../domain/clock.ts';
import { Smallest } from '../domain/smallest.ts';
import {
  comparePlaces,
  HOUR,
  type Usage,
  type UsageCount,
  type UsageHistory,
  type UsageInterval,
  type UsageRowsBy,
} from '../domain/usage.ts';
import { unpackHours } from './usage-hours.ts';
import { daysOfUse, unitsAtOnce, type UsageRows, type UsedKey } from './usage-rows.ts';
import { HOURS_A_DAY, type Span } from './usage-spans.ts';

/** Days of a slice at most, so that its sums by operation are few. */
const LONGEST_SLICE = { hour: 4, day: 64 } as const satisfies Record<UsageInterval, number>;

/** A page of the usage of an account: slices of the range are read, oldest first, until there are enough rows. */
export function usageOfAccount(rows: UsageRows): UsageHistory['ofAccount'] {
  return async (accountId, { interval, from, to, by, limit, after }) => {
    const keys: UsedKey[] = [];
    const range: Span = [Math.floor(from / DAY), Math.ceil(to / DAY)];
    for await (const some of rows.keys(range, { accountId })) keys.push(...some);
    const page = new Smallest<Usage>(limit, comparePlaces);
    const first = Math.max(from, after?.start ?? from);
    const add = (counts: Iterable<UsageCount>) => {
      for (const count of counts) {
        const usage = usageOf(count, by);
        if (after === undefined || comparePlaces(usage, after) > 0) page.add(usage);
      }
    };
    let length = Math.min(LONGEST_SLICE[interval], unitsAtOnce(`${interval}s`, keys.length));
    let [start, end] = daysOfUse(keys);
    while (start < end && !page.isFull) {
      const slice: Span = [start, Math.min(end, start + length)];
      const inUse = keys.filter(({ days }) => days[0] < slice[1] && days[1] > start);
      const byOperation: Totals = new Map();
      let found = 0;
      const isWanted = (hour: number) => {
        const begin = hour * HOUR;
        return begin >= first && begin < to && begin <= (page.end?.start ?? begin);
      };
      for await (const counts of countsOf(rows, interval, inUse, slice, isWanted)) {
        found += counts.length;
        if (by === undefined) add(counts);
        else if (by === 'operation') addUp(byOperation, counts, by);
        // A part has all rows of its keys.
        else for (const each of addUp(new Map(), counts, by).values()) add(each.values());
      }
      for (const each of byOperation.values()) add(each.values());
      start = slice[1];
      if (found < limit) length = Math.min(LONGEST_SLICE[interval], 2 * length);
    }
    return page.items;
  };
}

/** The counts of a slice of days that are wanted, those of a key in one part. A day counts as its first hour. */
async function* countsOf(
  rows: UsageRows,
  interval: UsageInterval,
  keys: readonly UsedKey[],
  days: Span,
  isWanted: (hour: number) => boolean,
): AsyncGenerator<readonly UsageCount[]> {
  if (interval === 'hour') for await (const part of rows.hours(keys, days)) yield unpackHours(part, isWanted);
  else
    for await (const part of rows.days(keys, days))
      yield part
        .map(
          ([keyId, day, operation, ok, clientError, refused, serverError]): UsageCount => ({
            hour: Number(day) * HOURS_A_DAY,
            keyId: Number(keyId),
            operation,
            counts: [Number(ok), Number(clientError), Number(refused), Number(serverError)],
          }),
        )
        .filter(({ hour }) => isWanted(hour));
}

/** Sums of all keys or of all operations, by the operation or the key, and by the hour. */
type Totals = Map<string | number, Map<number, UsageCount & { readonly counts: number[] }>>;

function addUp(totals: Totals, added: readonly UsageCount[], by: UsageRowsBy): Totals {
  for (const { hour, keyId, operation, counts } of added) {
    const group = by === 'key' ? keyId : operation;
    let hours = totals.get(group);
    if (hours === undefined) totals.set(group, (hours = new Map()));
    const sum = hours.get(hour)?.counts;
    if (sum === undefined) hours.set(hour, { hour, keyId, operation, counts: [...counts] });
    else
      for (let index = 0; index < sum.length; index++)
        sum[index] = Number(sum[index]) + Number(counts[index]);
  }
  return totals;
}

function usageOf({ hour, operation, keyId, counts }: UsageCount, by: UsageRowsBy | undefined): Usage {
  const [ok, clientError, refused, serverError] = counts;
  return {
    start: hour * HOUR,
    operation: by === 'key' ? undefined : operation,
    keyId: by === 'operation' ? undefined : keyId,
    ok,
    clientError,
    refused,
    serverError,
  };
}
