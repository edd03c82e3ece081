// Contract: sections 6.9 and 9.
import { setImmediate as letOthersRun } from 'node:timers/promises';
import { cached } from '../../domain/cached.ts';
import type { Clock } from '../../domain/clock.ts';
import { chunksOf } from '../../storage/engine.ts';
import type { UsageCaller, UsageRepository } from '../usage/repository.ts';
import { firstOfLastDays } from '../usage/rules.ts';

export interface DeprecatedOperation {
  readonly operation: string;
  /** Unix milliseconds. */
  readonly removal: number;
  /** The path of the operation to call instead. */
  readonly successor: string;
}

/** A key that called a deprecated operation in the last 30 days. */
export type DeprecatedUse = UsageCaller & DeprecatedOperation;

/** The numbers of a use in a ranking: requests, key, index of the operation. */
const WIDTH = 3;

/** Uses that one turn of the event loop sorts. They take about a millisecond. */
const SORTED_AT_ONCE = 5_000;

/** Keys that one read describes at most. */
const DESCRIBED_AT_ONCE = 500;

type History = Pick<UsageRepository, 'callers' | 'callersOf'>;

/**
 * The keys that called deprecated operations in the days that usage shows by default, the most requests first: WIDTH numbers
 * each, because 200,000 objects would hold up requests, and the reads that it took. Requests run meanwhile.
 */
async function rankUses(history: History, deprecated: readonly DeprecatedOperation[], now: number) {
  const slices: Float64Array[] = [];
  for (const [index, { operation }] of deprecated.entries())
    for await (const callers of history.callers(operation, firstOfLastDays(now)))
      slices.push(Float64Array.from(callers.flatMap(({ requests, keyId }) => [requests, keyId, index])));
  return { uses: await merge(slices), reads: slices.length };
}

/** Merges slices that are sorted, two at a time, because to sort all at once would hold up requests. */
async function merge(slices: readonly Float64Array[]): Promise<Float64Array> {
  if (slices.length < 2) return slices[0] ?? new Float64Array();
  const half = slices.length >> 1;
  const one = await merge(slices.slice(0, half));
  const other = await merge(slices.slice(half));
  const all = new Float64Array(one.length + other.length);
  for (let place = 0, index = 0, otherIndex = 0; place < all.length; ) {
    const isOther = isBefore(other, otherIndex, one, index);
    const [from, start] = isOther ? [other, otherIndex] : [one, index];
    for (let offset = 0; offset < WIDTH; offset++) all[place++] = from[start + offset] ?? 0;
    if (isOther) otherIndex += WIDTH;
    else index += WIDTH;
    if (place % (SORTED_AT_ONCE * WIDTH) === 0) await letOthersRun();
  }
  await letOthersRun();
  return all;
}

/** Whether the use at `index` comes before another one. There is none at an index behind the last one. */
function isBefore(uses: Float64Array, index: number, others: Float64Array, otherIndex: number): boolean {
  const requests = uses[index] ?? -1;
  const otherRequests = others[otherIndex] ?? -1;
  if (requests !== otherRequests) return requests > otherRequests;
  return (uses[index + 1] ?? 0) < (others[otherIndex + 1] ?? 0);
}

/** Uses of a ranking, as they are now, in its order. */
async function describeUses(
  history: History,
  deprecated: readonly DeprecatedOperation[],
  now: number,
  uses: Float64Array,
): Promise<readonly DeprecatedUse[]> {
  const ranked = Array.from({ length: uses.length / WIDTH }, (_, place) => ({
    keyId: uses[place * WIDTH + 1] ?? 0,
    index: uses[place * WIDTH + 2] ?? 0,
  }));
  const described = new Map<string, DeprecatedUse>();
  for (const [index, { operation, removal, successor }] of deprecated.entries()) {
    const keyIds = ranked.filter((use) => use.index === index).map(({ keyId }) => keyId);
    for await (const some of chunksOf(keyIds, DESCRIBED_AT_ONCE))
      for (const caller of await history.callersOf(operation, firstOfLastDays(now), some))
        described.set(`${index} ${caller.keyId}`, { operation, removal, successor, ...caller });
  }
  return ranked.flatMap(({ index, keyId }) => described.get(`${index} ${keyId}`) ?? []);
}

/** The keys that called a deprecated operation in the last 30 days, the most requests first. */
export async function deprecatedUses(
  history: History,
  deprecated: readonly DeprecatedOperation[],
  now: number,
): Promise<readonly DeprecatedUse[]> {
  const { uses } = await rankUses(history, deprecated, now);
  return describeUses(history, deprecated, now, uses);
}

/** How many accounts called each deprecated operation in the last 30 days. Requests run meanwhile. */
export async function deprecatedAccounts(
  history: Pick<UsageRepository, 'callers'>,
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

/** Reads that a page waits for. After more of them, it shows the last ranking while a new one is made. */
const FEW_READS = 4;

/** Milliseconds for which such a ranking is used again. */
const LIFETIME = 60_000;

export type DeprecationPages = ReturnType<typeof openDeprecations>;

/** Pages of the keys that called a deprecated operation in the last 30 days, the most requests first. */
export function openDeprecations(clock: Clock, history: History, deprecated: readonly DeprecatedOperation[]) {
  const rank = cached(clock, () => rankUses(history, deprecated, clock().unix), {
    lifetime: ({ reads }) => (reads > FEW_READS ? LIFETIME : 0),
    isSlow: ({ reads }) => reads > FEW_READS,
  });
  return {
    /** The uses from place `first` up to `end`, and whether they are the last ones. */
    async list(first: number, end: number) {
      const { uses } = await rank();
      const page = uses.subarray(first * WIDTH, end * WIDTH);
      return {
        uses: await describeUses(history, deprecated, clock().unix, page),
        isLast: end * WIDTH >= uses.length,
      };
    },
  };
}
