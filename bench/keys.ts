import { randomBytes } from 'node:crypto';
import { readConfig } from '../src/config.ts';
import { type Account, SCOPES } from '../src/domain/account.ts';
import { steadyClock } from '../src/domain/clock.ts';
import { issueKey } from '../src/domain/issue-key.ts';
import { type Limits, PLANS } from '../src/domain/plan.ts';
import type { AccountStore } from '../src/domain/ports.ts';
import { openStore } from '../src/storage/open.ts';

/** The account whose limits are never reached. */
export const ACCOUNT = 'bench';

const UNLIMITED: Limits = { perMinute: 1_000_000_000, perDay: 1_000_000_000 };

/** Nothing but the first request of a day. */
const SPENT: Limits = { perMinute: 1_000_000_000, perDay: 1 };

/** Many, but no more than the service remembers. */
const SPENT_KEYS = 8_000;

/** Issued at the same time: as many as wait for a connection to PostgreSQL without being given up. */
const AT_ONCE = 500;

export interface Keys {
  readonly key: string;
  /** Of one account that is refused from its second request of the day on. */
  readonly spentKeys: readonly string[];
}

/** Issues the keys of the scenarios in the store that a configuration names, which no service uses yet. */
export function issueKeys(env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<Keys> {
  return withAccounts(env, async (accounts) => {
    const unlimited = await accounts.createAccount(ACCOUNT, 'enterprise', UNLIMITED);
    const spent = await accounts.createAccount('spent', 'enterprise', SPENT);
    return {
      key: await issue(accounts, unlimited),
      spentKeys: await portions(SPENT_KEYS, () => issue(accounts, spent), signal),
    };
  });
}

/** Adds so many accounts to that store. Gives a key of each. */
export function issueKeyOfEach(
  env: NodeJS.ProcessEnv,
  count: number,
  signal: AbortSignal,
): Promise<readonly string[]> {
  return withAccounts(env, (accounts) => {
    const one = async (index: number) =>
      issue(accounts, await accounts.createAccount(`caller ${index}`, 'business', PLANS.business));
    return portions(count, one, signal);
  });
}

async function withAccounts<T>(
  env: NodeJS.ProcessEnv,
  act: (accounts: AccountStore) => Promise<T>,
): Promise<T> {
  const { databaseUrl, pool, environment } = readConfig(env);
  const clock = steadyClock(Date.now, () => performance.now());
  const store = await openStore({ databaseUrl, pool, clock, environment, onLost: () => undefined });
  try {
    return await act(store.accounts);
  } finally {
    await store.close();
  }
}

async function portions(
  count: number,
  one: (index: number) => Promise<string>,
  signal: AbortSignal,
): Promise<string[]> {
  const made: string[] = [];
  while (made.length < count) {
    signal.throwIfAborted();
    const portion = Array.from(
      { length: Math.min(AT_ONCE, count - made.length) },
      (_, index) => made.length + index,
    );
    made.push(...(await Promise.all(portion.map(one))));
  }
  return made;
}

async function issue(accounts: AccountStore, account: Account): Promise<string> {
  const settings = {
    account,
    environment: 'production',
    label: undefined,
    scopes: SCOPES,
    expiresAt: undefined,
  } as const;
  return (await issueKey(accounts, randomBytes, settings)).key.reveal();
}
