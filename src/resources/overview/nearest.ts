// Contract: section 10.2.
import type { Account } from '../../domain/account.ts';
import { cached } from '../../domain/cached.ts';
import { type Clock, DAY } from '../../domain/clock.ts';
import type { RateLimiter } from '../../limits/limiter.ts';
import { toWindows, WINDOW_NAMES } from '../../limits/quota.ts';
import type { AccountRepository } from '../accounts/repository.ts';
import type { UsageRepository } from '../usage/repository.ts';
import { collectFirst } from '../usage/rules.ts';

/** How many accounts of the ranking of each window have their windows read. */
const CANDIDATES = 10;

/** Accounts that are shown. */
const SHOWN = 5;

/** Milliseconds. One reading takes a few milliseconds of the service. */
const LIFETIME = 10_000;

/** Reads that the overview waits for. After more of them, it shows the last result while a new one is made. */
const FEW_SLICES = 4;

interface Repositories {
  readonly accounts: Pick<AccountRepository, 'getAll'>;
  readonly usageHistory: Pick<UsageRepository, 'sumInParts'>;
  readonly limiter: Pick<RateLimiter, 'peek'>;
  readonly clock: Clock;
}

type Nearest = Awaited<ReturnType<typeof nearestAccounts>>;

export type NearestAccount = Nearest['shown'][number];

/** Reads the accounts that are nearest to one of their limits, the nearest first. */
export function nearestReader(repositories: Repositories): () => Promise<readonly NearestAccount[]> {
  const nearest = cached(repositories.clock, () => nearestAccounts(repositories), {
    lifetime: () => LIFETIME,
    isSlow: ({ slices }) => slices > FEW_SLICES,
  });
  return async () => (await nearest()).shown;
}

/** An account, with the share of one of its limits that it used today. */
interface Candidate {
  readonly account: Account;
  readonly share: number;
}

const compareShares = (one: Candidate, other: Candidate) =>
  other.share - one.share || one.account.id - other.account.id;

/** The usage of this UTC day gives the candidates, and their windows say which ones are near a limit. */
async function nearestAccounts({ accounts, usageHistory, limiter, clock }: Repositories) {
  const today = Math.floor(clock().unix / DAY) * DAY;
  const byDay = collectFirst(CANDIDATES, compareShares);
  const byMinute = collectFirst(CANDIDATES, compareShares);
  let slices = 0;
  for await (const sums of usageHistory.sumInParts({
    interval: 'day',
    from: today,
    to: today + DAY,
    by: 'account',
  })) {
    slices++;
    const requests = new Map(sums.map(({ group, number }) => [Number(group), -number]));
    for (const account of await accounts.getAll([...requests.keys()])) {
      const used = requests.get(account.id) ?? 0;
      byDay.add({ account, share: used / account.limits.perDay });
      byMinute.add({ account, share: used / account.limits.perMinute });
    }
  }
  const candidates = new Map(
    [...byDay.items(), ...byMinute.items()].map(({ account }) => [account.id, account]),
  );
  const read = await Promise.all(Array.from(candidates.values(), (account) => tightest(account, limiter)));
  const shown = read
    .filter(({ remaining, limit }) => remaining < limit)
    .toSorted((one, other) => one.remaining / one.limit - other.remaining / other.limit)
    .slice(0, SHOWN);
  return { shown, slices };
}

/** The window of an account with the smallest share left. */
async function tightest({ id, name, limits }: Account, limiter: Repositories['limiter']) {
  const quota = await limiter.peek({ kind: 'account', accountId: id, limits });
  const [window = 'day'] = WINDOW_NAMES.toSorted(
    (one, other) => quota[one].remaining / quota[one].limit - quota[other].remaining / quota[other].limit,
  );
  return { accountId: id, account: name, window, ...toWindows(quota)[window] };
}
