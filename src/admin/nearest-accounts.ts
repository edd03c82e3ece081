// Contract: section 10.2.
import { setImmediate as letOthersRun } from 'node:timers/promises';
import type { Account } from '../domain/account.ts';
import type { AccountRepository } from '../domain/account-ports.ts';
import { cached } from '../domain/cached.ts';
import type { Clock } from '../domain/clock.ts';
import type { Limits } from '../domain/plan.ts';
import type { AccountTotal, UsageHistory } from '../domain/usage.ts';
import type { QuotaCounter } from '../limits/counter.ts';
import { describeWindows, WINDOW_NAMES } from '../limits/quota.ts';

/** How many accounts of the ranking of each window have their windows read. */
const CANDIDATES = 10;

/** Accounts that are shown. */
const SHOWN = 5;

/** Milliseconds. One reading takes a few milliseconds of the service. */
const LIFETIME = 10_000;

/** Reads that the overview waits for. After more of them, it shows the last result while a new one is made. */
const FEW_SLICES = 4;

/** Accounts that one turn of the event loop compares. They take less than a millisecond. */
const COMPARED = 10_000;

interface Stores {
  readonly accounts: Pick<AccountRepository, 'getAccount'>;
  readonly usageHistory: Pick<UsageHistory, 'accountsOfDay'>;
  readonly counter: Pick<QuotaCounter, 'peek'>;
  readonly clock: Clock;
}

type Nearest = Awaited<ReturnType<typeof nearestAccounts>>;

export type NearestAccount = Nearest['shown'][number];

/** Reads the accounts that are nearest to one of their limits, the nearest first. */
export function nearestReader(stores: Stores): () => Promise<readonly NearestAccount[]> {
  const nearest = cached(stores.clock, () => nearestAccounts(stores), {
    lifetime: () => LIFETIME,
    isSlow: ({ slices }) => slices > FEW_SLICES,
  });
  return async () => (await nearest()).shown;
}

/** The usage of this UTC day gives the candidates, and their windows say which ones are near a limit. */
async function nearestAccounts({ accounts, usageHistory, counter, clock }: Stores) {
  const used = new Map<number, AccountTotal>();
  let slices = 0;
  for await (const totals of usageHistory.accountsOfDay(clock().unix)) {
    slices++;
    for (const total of totals) {
      const requests = total.requests + (used.get(total.accountId)?.requests ?? 0);
      used.set(total.accountId, { ...total, requests });
    }
  }
  const candidates = new Set([
    ...(await mostUsed(used.values(), ({ perDay }) => perDay)),
    ...(await mostUsed(used.values(), ({ perMinute }) => perMinute)),
  ]);
  const found = await Promise.all([...candidates].map((accountId) => accounts.getAccount(accountId)));
  const read = await Promise.all(
    found.filter((account) => account !== undefined).map((account) => tightest(account, counter)),
  );
  const shown = read
    .filter(({ remaining, limit }) => remaining < limit)
    .toSorted((one, other) => one.remaining / one.limit - other.remaining / other.limit)
    .slice(0, SHOWN);
  return { shown, slices };
}

/** The accounts that used the largest shares of a limit, the largest first. */
async function mostUsed(
  totals: Iterable<AccountTotal>,
  limitOf: (limits: Limits) => number,
): Promise<readonly number[]> {
  const most: { readonly accountId: number; readonly share: number }[] = [];
  let compared = 0;
  for (const { accountId, limits, requests } of totals) {
    const share = requests / limitOf(limits);
    const place = most.findIndex((other) => share > other.share);
    if (place !== -1) most.splice(place, 0, { accountId, share });
    else if (most.length < CANDIDATES) most.push({ accountId, share });
    if (most.length > CANDIDATES) most.pop();
    if (++compared % COMPARED === 0) await letOthersRun();
  }
  return most.map(({ accountId }) => accountId);
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
