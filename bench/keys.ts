import { randomBytes } from 'node:crypto';
import { readConfig } from '../src/config/config.ts';
import { type Account, SCOPES } from '../src/domain/account.ts';
import { steadyClock } from '../src/domain/clock.ts';
import { issueKey } from '../src/management/keys.ts';
import { PLANS } from '../src/domain/plan.ts';
import type { AccountRepository } from '../src/domain/account-ports.ts';
import { openStore } from '../src/app/store.ts';
import { systemActor } from '../src/config/system-actor.ts';

/** The account whose limits are never reached. */
export const ACCOUNT = 'bench';

const UNLIMITED = { perMinute: 1_000_000_000, perDay: 1_000_000_000 };

/** Allows only the first request of a day. */
const SPENT = { perMinute: 1_000_000_000, perDay: 1 };

/** Keys. Many, but no more than the service keeps in memory. */
const SPENT_KEYS = 8_000;

/** Keys issued at the same time. With more, a wait for a connection to PostgreSQL could time out. */
const BATCH = 500;

export interface Keys {
  readonly key: string;
  /** Keys of one account, which is refused from its second request of the day on. */
  readonly spentKeys: readonly string[];
}

/** Issues the keys of the scenarios in the store that `env` names. No service may use the store yet. */
export function issueKeys(env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<Keys> {
  return withAccounts(env, async (accounts) => {
    const unlimited = await accounts.createAccount(ACCOUNT, 'enterprise', UNLIMITED);
    const spent = await accounts.createAccount('spent', 'enterprise', SPENT);
    return {
      key: await issue(accounts, unlimited),
      spentKeys: await inBatches(SPENT_KEYS, signal, () => issue(accounts, spent)),
    };
  });
}

/** Creates `count` accounts in that store, and returns a key for each. */
export function issueKeyOfEach(env: NodeJS.ProcessEnv, count: number, signal: AbortSignal) {
  return withAccounts(env, (accounts) =>
    inBatches(count, signal, async (index) =>
      issue(accounts, await accounts.createAccount(`caller ${index}`, 'business', PLANS.business)),
    ),
  );
}

async function withAccounts<T>(env: NodeJS.ProcessEnv, act: (accounts: AccountRepository) => Promise<T>) {
  const { databaseUrl, pool, environment } = readConfig(env);
  const clock = steadyClock(Date.now, () => performance.now());
  const store = await openStore({
    databaseUrl,
    pool,
    clock,
    actor: systemActor(),
    environment,
    orderHold: 3 * 86_400_000,
    onLost: () => undefined,
  });
  try {
    return await act(store.accounts);
  } finally {
    await store.close();
  }
}

async function inBatches(count: number, signal: AbortSignal, make: (index: number) => Promise<string>) {
  const made: string[] = [];
  while (made.length < count) {
    signal.throwIfAborted();
    const length = Math.min(BATCH, count - made.length);
    made.push(...(await Promise.all(Array.from({ length }, (_, index) => make(made.length + index)))));
  }
  return made;
}

async function issue(accounts: AccountRepository, account: Account): Promise<string> {
  const settings = { account, label: undefined, scopes: SCOPES, expiresAt: undefined };
  const { key } = await issueKey(accounts, randomBytes, { ...settings, environment: 'production' });
  return key.reveal();
}
