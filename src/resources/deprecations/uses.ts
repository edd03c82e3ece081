// Contract: sections 6.9 and 9.
import { countRequests, firstOfLastDays, type UsageKey, type UsageQuery } from '../usage/rules.ts';
import type { UsageRepository } from '../usage/repository.ts';

export interface DeprecatedOperation {
  readonly operation: string;
  /** Unix milliseconds. */
  readonly removal: number;
  /** The path of the operation to call instead. */
  readonly successor: string;
}

/** A key that called a deprecated operation in the last 30 days. */
export interface DeprecatedUse extends UsageKey, DeprecatedOperation {
  readonly requests: number;
  /** Unix milliseconds: the beginning of the last hour in which it called. */
  readonly lastHour: number;
}

/** The days that usage shows by default. */
function lastDays(now: number): UsageQuery {
  return { interval: 'day', from: firstOfLastDays(now), to: now };
}

/** The keys that called a deprecated operation in the last 30 days, the most requests first: those from `first` up to `end`. */
export async function listDeprecatedUses(
  history: Pick<UsageRepository, 'sums' | 'lastCalls'>,
  deprecated: readonly DeprecatedOperation[],
  now: number,
  { first = 0, end = Infinity } = {},
): Promise<readonly DeprecatedUse[]> {
  const range = lastDays(now);
  const ranked: Omit<DeprecatedUse, 'lastHour'>[] = [];
  for (const { operation, removal, successor } of deprecated)
    for (const sum of await history.sums({ ...range, by: 'key', operation, limit: end })) {
      const { keyId = 0, label, accountId = 0, account = '' } = sum;
      const requests = countRequests(sum);
      ranked.push({ operation, removal, successor, keyId, label, accountId, account, requests });
    }
  const page = ranked
    .toSorted((one, other) => other.requests - one.requests || one.keyId - other.keyId)
    .slice(first, end);
  const lastCalls = new Map<string, ReadonlyMap<number, number>>();
  for (const { operation } of deprecated) {
    const ids = page.filter((use) => use.operation === operation).map(({ keyId }) => keyId);
    lastCalls.set(operation, await history.lastCalls(operation, range.from, ids));
  }
  return page.map((use) =>
    Object.assign(use, { lastHour: lastCalls.get(use.operation)?.get(use.keyId) ?? range.from }),
  );
}

/** How many accounts called each deprecated operation in the last 30 days. */
export async function countDeprecatedAccounts(
  history: Pick<UsageRepository, 'sumInParts'>,
  deprecated: readonly DeprecatedOperation[],
  now: number,
): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  for (const { operation } of deprecated) {
    let accounts = 0;
    for await (const sums of history.sumInParts({ ...lastDays(now), by: 'account', operation }))
      accounts += sums.length;
    counts.set(operation, accounts);
  }
  return counts;
}
