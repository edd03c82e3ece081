import { randomBytes } from 'node:crypto';
import { readConfig } from '../src/config.ts';
import { SCOPES } from '../src/domain/account.ts';
import { steadyClock } from '../src/domain/clock.ts';
import { issueKey } from '../src/domain/issue-key.ts';
import type { Limits } from '../src/domain/plan.ts';
import { openStore } from '../src/storage/open.ts';

/** The account whose limits are never reached. */
export const ACCOUNT = 'bench';

const UNLIMITED: Limits = { perMinute: 1_000_000_000, perDay: 1_000_000_000 };

/** Nothing but the first request of a day. */
const SPENT: Limits = { perMinute: 1_000_000_000, perDay: 1 };

/** So many that at full speed none is refused 10,000 times in a minute, nor half of that, from where on it is told. */
const SPENT_KEYS = 400;

export interface Keys {
  readonly key: string;
  /** Of one account that is refused from its second request of the day on. */
  readonly spentKeys: readonly string[];
}

/** Issues keys in the store that a configuration names, which no service uses yet. */
export async function issueKeys(env: NodeJS.ProcessEnv): Promise<Keys> {
  const { databaseUrl, pool } = readConfig(env);
  const clock = steadyClock(Date.now, () => performance.now());
  const environment = 'production';
  const store = await openStore({ databaseUrl, pool, clock, environment, onLost: () => undefined });
  const keysOf = async (name: string, limits: Limits, count: number): Promise<string[]> => {
    const account = await store.accounts.createAccount(name, 'enterprise', limits);
    const settings = {
      account,
      environment,
      label: undefined,
      scopes: SCOPES,
      expiresAt: undefined,
    } as const;
    const issued = Array.from({ length: count }, () => issueKey(store.accounts, randomBytes, settings));
    return (await Promise.all(issued)).map(({ key }) => key.reveal());
  };
  try {
    const [key = ''] = await keysOf(ACCOUNT, UNLIMITED, 1);
    return { key, spentKeys: await keysOf('spent', SPENT, SPENT_KEYS) };
  } finally {
    await store.close();
  }
}
