// Contract: sections 6.9 and 9.
import type { Abortable } from '../../domain/page.ts';
import {
  countRequests,
  firstOfLastDays,
  type SumPlace,
  type UsageKey,
  type UsageQuery,
} from '../usage/rules.ts';
import type { UsageRepository } from '../usage/repository.ts';

export interface DeprecatedOperation {
  readonly operation: string;
  readonly method: string;
  /** Below the base address. */
  readonly path: string;
  /** Unix milliseconds. */
  readonly removal: number;
  /** The path of the operation to call instead. */
  readonly successor: string;
}

/** A key that called a deprecated operation in the last 30 days. */
export interface DeprecatedUse extends UsageKey, Omit<DeprecatedOperation, 'method' | 'path'> {
  readonly requests: number;
  /** Unix milliseconds: the beginning of the last hour in which it called. */
  readonly lastHour: number;
}

/** The days that usage shows by default. */
function lastDays(now: number): UsageQuery {
  return { interval: 'day', from: firstOfLastDays(now), to: now };
}

/** What the uses are sorted by: they descend by requests, then ascend by key and by operation. */
export type UseSortKey = Pick<DeprecatedUse, 'requests' | 'keyId' | 'operation'>;

/** The keys that called a deprecated operation in the last 30 days, the most requests first: up to `limit` after a sort key. */
export async function listDeprecatedUses(
  history: Pick<UsageRepository, 'sums' | 'lastCalls'>,
  deprecated: readonly DeprecatedOperation[],
  now: number,
  {
    limit = Infinity,
    after,
    signal,
  }: Abortable & { readonly limit?: number; readonly after?: UseSortKey | undefined } = {},
): Promise<readonly DeprecatedUse[]> {
  const range = lastDays(now);
  const ranked: Omit<DeprecatedUse, 'lastHour'>[] = [];
  for (const { operation, removal, successor } of deprecated)
    for (const sum of await history.sums({
      ...range,
      by: 'key',
      operation,
      limit,
      after: after && toSumKey(operation, after),
      signal,
    })) {
      const { keyId = 0, label, accountId = 0, account = '' } = sum;
      const requests = countRequests(sum);
      ranked.push({ operation, removal, successor, keyId, label, accountId, account, requests });
    }
  const page = ranked.toSorted(compareUses).slice(0, limit);
  const lastCalls = new Map<string, ReadonlyMap<number, number>>();
  for (const { operation } of deprecated) {
    const ids = page.filter((use) => use.operation === operation).map(({ keyId }) => keyId);
    lastCalls.set(operation, await history.lastCalls(operation, range.from, ids));
  }
  return page.map((use) =>
    Object.assign(use, { lastHour: lastCalls.get(use.operation)?.get(use.keyId) ?? range.from }),
  );
}

function compareUses(one: UseSortKey, other: UseSortKey): number {
  const order = other.requests - one.requests || one.keyId - other.keyId;
  return order === 0
    ? Number(one.operation > other.operation) - Number(one.operation < other.operation)
    : order;
}

/** The sort key among the sums of one operation. A later operation of the same key follows. */
function toSumKey(operation: string, { requests, keyId, operation: last }: UseSortKey): SumPlace {
  return { number: -requests, group: operation > last ? keyId - 1 : keyId };
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
