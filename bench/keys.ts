import { randomBytes } from 'node:crypto';
import { readConfig } from '../src/app/config.ts';
import { SCOPES } from '../src/domain/scope.ts';
import { ApiKey } from '../src/domain/api-key.ts';
import { steadyClock } from '../src/domain/clock.ts';
import { type Limits, type Plan, PLANS } from '../src/domain/plan.ts';
import { requireValue } from '../src/terminal/command.ts';
import type { Store } from '../src/resources/repositories.ts';
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
  return withStore(env, async (store) => ({
    key: await issueKey(store, await addAccount(store, ACCOUNT, 'enterprise', UNLIMITED)),
    spentKeys: await issueSpentKeys(store, signal),
  }));
}

async function issueSpentKeys(store: Store, signal: AbortSignal): Promise<string[]> {
  const accountId = await addAccount(store, 'spent', 'enterprise', SPENT);
  return inBatches(SPENT_KEYS, signal, () => issueKey(store, accountId));
}

/** Creates `count` accounts in that store, and returns a key for each. */
export function issueKeyOfEach(env: NodeJS.ProcessEnv, count: number, signal: AbortSignal) {
  return withStore(env, (store) =>
    inBatches(count, signal, async (index) =>
      issueKey(store, await addAccount(store, `caller ${index}`, 'business', PLANS.business)),
    ),
  );
}

async function withStore<T>(env: NodeJS.ProcessEnv, work: (store: Store) => Promise<T>) {
  const clock = steadyClock(Date.now, () => performance.now());
  const store = await openStore({ ...readConfig(env), clock, onLost: () => undefined });
  try {
    return await work(store);
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

async function addAccount({ accounts }: Store, name: string, plan: Plan, limits: Limits): Promise<number> {
  return requireValue(await accounts.create(systemActor(), name, plan, plan === 'enterprise' ? limits : {}))
    .id;
}

async function issueKey({ keys }: Store, accountId: number): Promise<string> {
  const key = ApiKey.generate('production', randomBytes);
  requireValue(await keys.create(systemActor(), { key, accountId, scopes: SCOPES }));
  return key.reveal();
}
