// Contract: section 10.2.
import { setImmediate as letOthersRun } from 'node:timers/promises';
import type { Account } from '../../domain/account.ts';
import { cached } from '../../domain/cached.ts';
import type { Clock } from '../../domain/clock.ts';
import type { Limits } from '../../domain/plan.ts';
import type { AccountTotal, UsageRepository } from '../usage/repository.ts';
import type { RateLimiter } from '../../limits/limiter.ts';
import { describeWindows, WINDOW_NAMES } from '../../limits/quota.ts';
import type { AccountRepository } from './repository.ts';

/** How many accounts of the ranking of each window have their windows read. */
const CANDIDATES = 10;

/** Accounts that are shown. */
const SHOWN = 5;

/** Milliseconds. One reading takes a few milliseconds of the service. */
const LIFETIME = 10_000;

/** Reads that the overview waits for. After more of them, it shows the last result while a new one is made. */
const FEW_SLICES = 4;

interface Repositories {
  readonly accounts: Pick<AccountRepository, 'get'>;
  readonly usageHistory: Pick<UsageRepository, 'accountsOfDay'>;
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

/** The usage of this UTC day gives the candidates, and their windows say which ones are near a limit. */
async function nearestAccounts({ accounts, usageHistory, limiter, clock }: Repositories) {
  const used = new UsedAccounts();
  let slices = 0;
  for await (const totals of usageHistory.accountsOfDay(clock().unix)) {
    slices++;
    for (const total of totals) used.add(total);
  }
  const candidates = new Set([...(await used.most('perDay')), ...(await used.most('perMinute'))]);
  const found = await Promise.all([...candidates].map((accountId) => accounts.get(accountId)));
  const read = await Promise.all(
    found.filter((account) => account !== undefined).map((account) => tightest(account, limiter)),
  );
  const shown = read
    .filter(({ remaining, limit }) => remaining < limit)
    .toSorted((one, other) => one.remaining / one.limit - other.remaining / other.limit)
    .slice(0, SHOWN);
  return { shown, slices };
}

/** Accounts on one page of `UsedAccounts`. */
const PAGE = 1_024;

/** Numbers of an account on a page. */
const FIELDS = { requests: 0, perMinute: 1, perDay: 2 };
const WIDTH = 3;

/** The requests and limits of accounts, by their ids. In arrays of numbers, because 200,000 objects would hold up requests. */
class UsedAccounts {
  readonly #pages = new Map<number, Float64Array>();

  add({ accountId, limits, requests }: AccountTotal): void {
    const number = Math.floor(accountId / PAGE);
    let page = this.#pages.get(number);
    if (page === undefined) {
      page = new Float64Array(PAGE * WIDTH);
      this.#pages.set(number, page);
    }
    const start = (accountId % PAGE) * WIDTH;
    page[start + FIELDS.requests] = (page[start + FIELDS.requests] ?? 0) + requests;
    page[start + FIELDS.perMinute] = limits.perMinute;
    page[start + FIELDS.perDay] = limits.perDay;
  }

  /** The ids of the accounts that used the largest shares of a limit, the largest first. */
  async most(limit: keyof Limits): Promise<readonly number[]> {
    const most: { readonly accountId: number; readonly share: number }[] = [];
    for (const [number, page] of this.#pages) {
      for (let index = 0; index < PAGE; index++) {
        const requests = page[index * WIDTH + FIELDS.requests] ?? 0;
        if (requests === 0) continue;
        const share = requests / (page[index * WIDTH + FIELDS[limit]] ?? 0);
        const place = most.findIndex((other) => share > other.share);
        if (place === -1 && most.length === CANDIDATES) continue;
        most.splice(place === -1 ? most.length : place, 0, { accountId: number * PAGE + index, share });
        if (most.length > CANDIDATES) most.pop();
      }
      await letOthersRun();
    }
    return most.map(({ accountId }) => accountId);
  }
}

/** The window of an account with the smallest share left. */
async function tightest({ id, name, limits }: Account, limiter: Repositories['limiter']) {
  // The number of a key does not matter, because nothing is charged.
  const quota = await limiter.peek({ kind: 'key', keyId: 0, accountId: id, limits });
  const [window = 'day'] = WINDOW_NAMES.toSorted(
    (one, other) => quota[one].remaining / quota[one].limit - quota[other].remaining / quota[other].limit,
  );
  return { accountId: id, account: name, window, ...describeWindows(quota)[window] };
}
