import { randomBytes } from 'node:crypto';
import { systemClock } from '../src/cli/with-store.ts';
import { issueKey } from '../src/domain/issue-key.ts';
import { PLANS } from '../src/domain/plan.ts';
import { SCOPES } from '../src/domain/account.ts';
import { openSqlite } from '../src/storage/sqlite/store.ts';

/** Made at once, in one transaction. */
const CHUNK = 10_000;

const SETTINGS = {
  environment: 'production',
  label: undefined,
  scopes: SCOPES,
  expiresAt: undefined,
} as const;

/** Adds so many accounts with a key each to the database in `file`. Gives the keys. */
export async function addAccounts(file: string, count: number, signal: AbortSignal): Promise<string[]> {
  const store = openSqlite(file, {
    clock: systemClock(),
    environment: SETTINGS.environment,
    createFolder: false,
  });
  const keys: string[] = [];
  try {
    while (keys.length < count) {
      signal.throwIfAborted();
      const size = Math.min(CHUNK, count - keys.length);
      const names = Array.from({ length: size }, (_, index) => `caller ${keys.length + index}`);
      keys.push(
        ...(await Promise.all(
          names.map(async (name) => {
            const account = await store.accounts.createAccount(name, 'business', PLANS.business);
            const { key } = await issueKey(store.accounts, randomBytes, { account, ...SETTINGS });
            return key.reveal();
          }),
        )),
      );
    }
    return keys;
  } finally {
    await store.close();
  }
}
