// Contract: sections 6.9 and 9.
import { setImmediate as letOthersRun } from 'node:timers/promises';
import type { UsageCaller, UsageHistory } from '../domain/usage.ts';
import { firstOfLastDays } from './usage.ts';

export interface DeprecatedOperation {
  readonly operation: string;
  /** Unix milliseconds. */
  readonly removal: number;
  /** The path of the operation to call instead. */
  readonly successor: string;
}

/** A key that called a deprecated operation in the last 30 days. */
export type DeprecatedUse = UsageCaller & DeprecatedOperation;

/** A deprecated use without what a reader wants to know of it. */
export interface RankedUse {
  readonly operation: string;
  readonly keyId: number;
}

/** Deprecated uses, the most requests first. In columns, because a collection of 200,000 objects would hold up requests. */
export interface DeprecationRanking {
  /** Indexes of the deprecated operations. */
  readonly operations: Uint8Array;
  readonly keyIds: Float64Array;
  readonly requests: Float64Array;
  /** The reads that it took. */
  readonly slices: number;
}

type Ranked = Omit<DeprecationRanking, 'slices'>;

/** Keys that one statement names. */
const KEYS_READ = 500;

/** Uses that one turn of the event loop sorts. They take about a millisecond. */
const SORT_BATCH = 5_000;

/** All keys that called a deprecated operation in the last 30 days. Requests run meanwhile. */
export async function rankDeprecatedUses(
  history: Pick<UsageHistory, 'callers'>,
  deprecated: readonly DeprecatedOperation[],
  now: number,
): Promise<DeprecationRanking> {
  // The same days as the usage that charts and commands show by default, so that the numbers agree.
  const first = firstOfLastDays(now);
  const slices: Ranked[] = [];
  for (const [index, { operation }] of deprecated.entries())
    for await (const callers of history.callers(operation, first))
      slices.push({
        operations: new Uint8Array(callers.length).fill(index),
        keyIds: Float64Array.from(callers, ({ keyId }) => keyId),
        requests: Float64Array.from(callers, ({ requests }) => requests),
      });
  return { ...(await merged(slices)), slices: slices.length };
}

/** The uses from place `first` of the ranking, from 0, up to `end`. */
export function rankedUses(
  deprecated: readonly DeprecatedOperation[],
  ranking: Ranked,
  first: number,
  end: number,
): readonly RankedUse[] {
  return Array.from(ranking.keyIds.subarray(first, end), (keyId, index) => ({
    operation: deprecated[ranking.operations[first + index] ?? 0]?.operation ?? '',
    keyId,
  }));
}

/** The given uses as they are now, in their order. At most KEYS_READ. */
export async function describeUses(
  history: Pick<UsageHistory, 'callersOf'>,
  deprecated: readonly DeprecatedOperation[],
  now: number,
  uses: readonly RankedUse[],
): Promise<readonly DeprecatedUse[]> {
  const first = firstOfLastDays(now);
  const described = new Map<string, DeprecatedUse>();
  for (const { operation, removal, successor } of deprecated) {
    const keyIds = uses.filter((use) => use.operation === operation).map(({ keyId }) => keyId);
    for (const caller of await history.callersOf(operation, first, keyIds))
      described.set(`${operation} ${caller.keyId}`, { operation, removal, successor, ...caller });
  }
  return uses.flatMap(({ operation, keyId }) => described.get(`${operation} ${keyId}`) ?? []);
}

/** The keys that called a deprecated operation in the last 30 days, the most requests first. */
export async function deprecatedUses(
  history: Pick<UsageHistory, 'callers' | 'callersOf'>,
  deprecated: readonly DeprecatedOperation[],
  now: number,
): Promise<readonly DeprecatedUse[]> {
  const ranking = await rankDeprecatedUses(history, deprecated, now);
  const described: DeprecatedUse[] = [];
  for (let from = 0; from < ranking.keyIds.length; from += KEYS_READ)
    described.push(
      ...(await describeUses(
        history,
        deprecated,
        now,
        rankedUses(deprecated, ranking, from, from + KEYS_READ),
      )),
    );
  return described;
}

/** How many accounts called each deprecated operation in the last 30 days. Requests run meanwhile. */
export async function deprecatedAccounts(
  history: Pick<UsageHistory, 'callers'>,
  deprecated: readonly DeprecatedOperation[],
  now: number,
): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  for (const { operation } of deprecated) {
    const accounts = new Set<number>();
    for await (const callers of history.callers(operation, firstOfLastDays(now)))
      for (const { accountId } of callers) accounts.add(accountId);
    counts.set(operation, accounts.size);
  }
  return counts;
}

/** Merges slices that are sorted, two at a time, because to sort all at once would hold up requests. */
async function merged(slices: readonly Ranked[]): Promise<Ranked> {
  let sorted = slices;
  while (sorted.length > 1) {
    const merges: Ranked[] = [];
    for (let index = 0; index < sorted.length; index += 2)
      merges.push(await mergedPair(sorted[index] ?? emptyRanking(0), sorted[index + 1] ?? emptyRanking(0)));
    sorted = merges;
  }
  return sorted[0] ?? emptyRanking(0);
}

function emptyRanking(length: number): Ranked {
  return {
    operations: new Uint8Array(length),
    keyIds: new Float64Array(length),
    requests: new Float64Array(length),
  };
}

async function mergedPair(one: Ranked, other: Ranked): Promise<Ranked> {
  const both = emptyRanking(one.keyIds.length + other.keyIds.length);
  for (let place = 0, index = 0, otherIndex = 0; place < both.keyIds.length; ) {
    const [from, next] = isBefore(one, index, other, otherIndex) ? [one, index++] : [other, otherIndex++];
    both.operations[place] = from.operations[next] ?? 0;
    both.keyIds[place] = from.keyIds[next] ?? 0;
    both.requests[place] = from.requests[next] ?? 0;
    if (++place % SORT_BATCH === 0) await letOthersRun();
  }
  await letOthersRun();
  return both;
}

/** Whether the use at `index` comes before another one. There is none at an index behind the last one. */
function isBefore(one: Ranked, index: number, other: Ranked, otherIndex: number): boolean {
  const requests = one.requests[index] ?? -1;
  const others = other.requests[otherIndex] ?? -1;
  if (requests !== others) return requests > others;
  return (one.keyIds[index] ?? 0) <= (other.keyIds[otherIndex] ?? 0);
}
