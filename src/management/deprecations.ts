// Contract: sections 6.9 and 9.
import { setImmediate as letOthersRun } from 'node:timers/promises';
import { OPERATIONS } from '../api/index.ts';
import type { UsageCaller, UsageHistory } from '../domain/usage.ts';
import { firstOfLastDays } from './usage.ts';

/** A key that called a deprecated operation in the last 30 days. */
export interface DeprecatedUse extends UsageCaller {
  readonly operation: string;
  /** Unix milliseconds. */
  readonly removal: number;
  /** The path of the operation to call instead. */
  readonly successor: string;
}

/** A deprecated use without what a reader wants to know of it. */
export interface RankedUse {
  readonly operation: string;
  readonly keyId: number;
  readonly requests: number;
}

export interface DeprecationRanking {
  /** The most requests first. */
  readonly uses: readonly RankedUse[];
  /** The reads that it took. */
  readonly slices: number;
}

const DEPRECATED = OPERATIONS.flatMap(({ id, deprecated }) =>
  deprecated === undefined ? [] : [{ operation: id, ...deprecated }],
);

/** Keys that one statement names. */
const KEYS_READ = 500;

/** Uses that one turn of the event loop sorts. They take about a millisecond. */
const SORT_BATCH = 10_000;

/** All keys that called a deprecated operation in the last 30 days. Requests run meanwhile. */
export async function rankDeprecatedUses(
  history: Pick<UsageHistory, 'callers'>,
  now: number,
): Promise<DeprecationRanking> {
  // The same days as the usage that charts and commands show by default, so that the numbers agree.
  const first = firstOfLastDays(now);
  const slices: (readonly RankedUse[])[] = [];
  for (const { operation } of DEPRECATED)
    for await (const callers of history.callers(operation, first))
      slices.push(callers.map(({ keyId, requests }) => ({ operation, keyId, requests })));
  return { uses: await merged(slices), slices: slices.length };
}

/** The given uses as they are now, in their order. At most KEYS_READ. */
export async function describeUses(
  history: Pick<UsageHistory, 'callersOf'>,
  now: number,
  uses: readonly RankedUse[],
): Promise<readonly DeprecatedUse[]> {
  const first = firstOfLastDays(now);
  const described = new Map<string, DeprecatedUse>();
  for (const { operation, removal, successor } of DEPRECATED) {
    const keyIds = uses.filter((use) => use.operation === operation).map(({ keyId }) => keyId);
    for (const caller of await history.callersOf(operation, first, keyIds))
      described.set(`${operation} ${caller.keyId}`, { operation, removal, successor, ...caller });
  }
  return uses.flatMap(({ operation, keyId }) => described.get(`${operation} ${keyId}`) ?? []);
}

/** The keys that called a deprecated operation in the last 30 days, the most requests first. */
export async function deprecatedUses(
  history: Pick<UsageHistory, 'callers' | 'callersOf'>,
  now: number,
): Promise<readonly DeprecatedUse[]> {
  const { uses } = await rankDeprecatedUses(history, now);
  const described: DeprecatedUse[] = [];
  for (let from = 0; from < uses.length; from += KEYS_READ)
    described.push(...(await describeUses(history, now, uses.slice(from, from + KEYS_READ))));
  return described;
}

/** How many accounts called each deprecated operation in the last 30 days. Requests run meanwhile. */
export async function deprecatedAccounts(
  history: Pick<UsageHistory, 'callers'>,
  now: number,
): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  for (const { operation } of DEPRECATED) {
    const accounts = new Set<number>();
    for await (const callers of history.callers(operation, firstOfLastDays(now)))
      for (const { accountId } of callers) accounts.add(accountId);
    counts.set(operation, accounts.size);
  }
  return counts;
}

/** Merges slices that are sorted, two at a time, because to sort all at once would hold up requests. */
async function merged(slices: readonly (readonly RankedUse[])[]): Promise<readonly RankedUse[]> {
  let sorted = slices;
  while (sorted.length > 1) {
    const merges: (readonly RankedUse[])[] = [];
    for (let index = 0; index < sorted.length; index += 2)
      merges.push(await mergedPair(sorted[index] ?? [], sorted[index + 1] ?? []));
    sorted = merges;
  }
  return sorted[0] ?? [];
}

async function mergedPair(
  one: readonly RankedUse[],
  other: readonly RankedUse[],
): Promise<readonly RankedUse[]> {
  const both: RankedUse[] = [];
  for (let index = 0, otherIndex = 0; ; ) {
    const first = one[index];
    const second = other[otherIndex];
    if (first === undefined && second === undefined) return both;
    if (second === undefined || (first !== undefined && isBefore(first, second))) {
      if (first !== undefined) both.push(first);
      index++;
    } else {
      both.push(second);
      otherIndex++;
    }
    if (both.length % SORT_BATCH === 0) await letOthersRun();
  }
}

function isBefore(one: RankedUse, other: RankedUse): boolean {
  return one.requests === other.requests ? one.keyId <= other.keyId : one.requests > other.requests;
}
