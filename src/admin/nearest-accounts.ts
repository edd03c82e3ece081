// Contract: section 10.2.
import type { Account } from '../domain/account.ts';
import { type Clock, DAY } from '../domain/clock.ts';
import type { AccountRepository } from '../domain/account-ports.ts';
import type { UsageHistory } from '../domain/usage.ts';
import type { QuotaCounter } from '../limits/counter.ts';
import { describeWindows, WINDOW_NAMES } from '../limits/quota.ts';
import { cached } from './cached.ts';
import { totalOf } from './counts.ts';

/** How many accounts of the ranking of each window have their windows read. */
const CANDIDATES = 10;

/** Accounts that are shown. */
const SHOWN = 5;

/** Milliseconds. One reading takes a few milliseconds of the service. */
const LIFETIME = 10_000;

interface Stores {
  readonly accounts: Pick<AccountRepository, 'listAccounts'>;
  readonly usageHistory: Pick<UsageHistory, 'sums'>;
  readonly counter: Pick<QuotaCounter, 'peek'>;
  readonly clock: Clock;
}

export type NearestAccount = Awaited<ReturnType<typeof nearestAccounts>>[number];

/** Reads the accounts that are nearest to one of their limits, the nearest first. */
export function nearestReader(stores: Stores): () => Promise<readonly NearestAccount[]> {
  return cached(stores.clock, LIFETIME, () => nearestAccounts(stores));
}

/** The usage of this UTC day gives the candidates, and their windows say which ones are near a limit. */
async function nearestAccounts({ accounts, usageHistory, counter, clock }: Stores) {
  const now = clock().unix;
  const from = Math.floor(now / DAY) * DAY;
  const query = { interval: 'day', by: 'account', from, to: from + DAY } as const;
  const used = new Map((await usageHistory.sums(query)).map((sum) => [sum.accountId, totalOf(sum)]));
  if (used.size === 0) return [];
  const active = (await accounts.listAccounts()).filter(({ id }) => used.has(id));
  const most = (limitOf: (account: Account) => number) => {
    const share = (account: Account) => (used.get(account.id) ?? 0) / limitOf(account);
    return active.toSorted((one, other) => share(other) - share(one)).slice(0, CANDIDATES);
  };
  const candidates = new Set([
    ...most(({ limits }) => limits.perDay),
    ...most(({ limits }) => limits.perMinute),
  ]);
  const read = await Promise.all([...candidates].map((account) => tightest(account, counter)));
  return read
    .filter(({ remaining, limit }) => remaining < limit)
    .toSorted((one, other) => one.remaining / one.limit - other.remaining / other.limit)
    .slice(0, SHOWN);
}

/** The window of an account with the smallest share left. */
async function tightest({ id, name, limits }: Account, counter: Stores['counter']) {
  // The number of a key does not matter, because nothing is charged.
  const quota = await counter.peek({ kind: 'key', keyId: 0, accountId: id, limits });
  const [window = 'day'] = WINDOW_NAMES.toSorted(
    (one, other) => quota[one].remaining / quota[one].limit - quota[other].remaining / quota[other].limit,
  );
  return { accountId: id, account: name, window, ...describeWindows(quota)[window] };
}
