import assert from 'node:assert/strict';
import type { AccountChange, AccountRepository } from '../../src/domain/account-ports.ts';
import type { Actor } from '../../src/domain/audit.ts';
import type { BannableKey } from '../../src/limits/counter.ts';
import { DEFAULT_DATABASE_URL } from '../../src/config/database-url.ts';
import { ENGINE_PARTS, openStore as openAnyStore } from '../../src/app/store.ts';
import { openStoreOver, type Store } from '../../src/resources/repositories.ts';
import { openSqlite } from '../../src/storage/sqlite/engine.ts';
import { type Clock, DAY } from '../../src/domain/clock.ts';

/** Makes the changes of tests. */
export const ROOT: Actor = { kind: 'system', name: 'root' };

/** A client of the API. The audit log does not show what it does with animals, categories and orders. */
export const CLIENT: Actor = { kind: 'key', id: 1 };

/** A key of an account with the same number. */
export const bannable = (id: number): BannableKey => ({ id, account: { id } });

const SETTINGS = { environment: 'production', orderHold: 3 * DAY, actor: ROOT } as const;

const onLost = () => undefined;

/** The store of a `sqlite:` address, for production. */
export function openStore(databaseUrl: string, clock: Clock): Store {
  const createFolder = databaseUrl === DEFAULT_DATABASE_URL;
  const options = { ...ENGINE_PARTS, clock, createFolder, onLost };
  const { engine, hot } = openSqlite(databaseUrl.slice('sqlite:'.length), options);
  return openStoreOver(engine, hot, { ...SETTINGS, clock });
}

/** The store of a PostgreSQL database, for production. */
export function openPostgresStore(
  databaseUrl: string,
  settings: Pick<Parameters<typeof openAnyStore>[0], 'clock' | 'pool'> & {
    readonly onLost?: (error: Error) => void;
  },
): Promise<Store> {
  return openAnyStore({ ...SETTINGS, databaseUrl, onLost, ...settings });
}

/** Changes an account, whatever its values are now. */
export async function changeAccount(
  accounts: AccountRepository,
  id: number,
  given: AccountChange['given'],
): Promise<void> {
  const { outcome } = await accounts.changeAccount(id, { given, expected: {} });
  assert.equal(outcome, 'done');
}
