// Contract: sections 6.9 and 9.
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

const DEPRECATED = OPERATIONS.flatMap(({ id, deprecated }) =>
  deprecated === undefined ? [] : [{ operation: id, ...deprecated }],
);

/** The keys that called a deprecated operation in the last 30 days, the most requests first. */
export async function deprecatedUses(
  history: Pick<UsageHistory, 'callersOf'>,
  now: number,
): Promise<readonly DeprecatedUse[]> {
  // The same days as the usage that charts and commands show by default, so that the numbers agree.
  const first = firstOfLastDays(now);
  const uses = await Promise.all(
    DEPRECATED.map(async ({ operation, removal, successor }) =>
      (await history.callersOf(operation, first)).map((caller) =>
        Object.assign({ operation, removal, successor }, caller),
      ),
    ),
  );
  return uses.flat().toSorted((one, other) => other.requests - one.requests || one.keyId - other.keyId);
}

/** How many accounts called each deprecated operation in the last 30 days. */
export async function deprecatedAccounts(
  history: Pick<UsageHistory, 'callersOf'>,
  now: number,
): Promise<ReadonlyMap<string, number>> {
  const uses = await deprecatedUses(history, now);
  return new Map(
    DEPRECATED.map(({ operation }) => {
      const callers = uses.filter((use) => use.operation === operation);
      return [operation, new Set(callers.map(({ accountId }) => accountId)).size];
    }),
  );
}
