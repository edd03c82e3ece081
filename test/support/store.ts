import { randomBytes } from 'node:crypto';
import type { Account, KeyRecord } from '../../src/domain/account.ts';
import { ApiKey, type Environment } from '../../src/domain/api-key.ts';
import type { Actor, OperatorActor } from '../../src/domain/audit.ts';
import type { BannableKey } from '../../src/limits/limiter.ts';
import { DEFAULT_DATABASE_URL } from '../../src/config/database-url.ts';
import { readConfig } from '../../src/app/config.ts';
import { ENGINE_PARTS, openStore as openAnyStore } from '../../src/app/store.ts';
import { openStoreOver, type RepositorySettings, type Store } from '../../src/resources/repositories.ts';
import { openSqlite } from '../../src/storage/sqlite/engine.ts';
import type { Clock } from '../../src/domain/clock.ts';
import type { Limits, Plan } from '../../src/domain/plan.ts';
import { requireValue } from '../../src/terminal/command.ts';
import type { AccountRepository } from '../../src/resources/accounts/repository.ts';
import type { AccountPatch } from '../../src/resources/accounts/rules.ts';
import type { KeyRepository, NewKey } from '../../src/resources/keys/repository.ts';

/** Makes the changes of tests. */
export const ROOT: OperatorActor = { kind: 'system', name: 'root' };

/** A client of the API. The audit log does not show what it does with animals, categories and orders. */
export const CLIENT: Actor = { kind: 'key', id: 1 };

/** A key of an account with the same number. */
export const bannable = (id: number): BannableKey => ({ id, account: { id } });

const SETTINGS = readConfig({ MAX_OPEN_ORDERS: '1000000' });

const onLost = () => undefined;

/** The store of a `sqlite:` address, for production. */
export function openStore(
  databaseUrl: string,
  clock: Clock,
  rules: Pick<Partial<RepositorySettings>, 'maxOpenOrders'> = {},
): Store {
  const createFolder = databaseUrl === DEFAULT_DATABASE_URL;
  const options = { ...ENGINE_PARTS, clock, createFolder, onLost };
  return openStoreOver(openSqlite(databaseUrl.slice('sqlite:'.length), options), {
    ...SETTINGS,
    ...rules,
    clock,
  });
}

/** The store of a PostgreSQL database, for production. */
export function openPostgresStore(
  databaseUrl: string,
  settings: Pick<Parameters<typeof openAnyStore>[0], 'clock' | 'pool'> & {
    readonly maxOpenOrders?: number;
    readonly onLost?: (error: Error) => void;
  },
): Promise<Store> {
  return openAnyStore({ ...SETTINGS, databaseUrl, onLost, ...settings });
}

/** @throws ServiceError when the name is taken. */
export async function createAccount(
  accounts: AccountRepository,
  name: string,
  plan: Plan,
  limits: Limits,
): Promise<Account> {
  return requireValue(await accounts.create(ROOT, name, plan, plan === 'enterprise' ? limits : {}));
}

/** @throws ServiceError when the name is that of two accounts. */
export async function findAccount(accounts: AccountRepository, name: string): Promise<Account | undefined> {
  const found = await accounts.find(name);
  return 'error' in found && found.error === 'not_found' ? undefined : requireValue(found);
}

/** An account that exists keeps its plan. */
export async function findOrCreateAccount(
  accounts: AccountRepository,
  name: string,
  plan: Plan,
  limits?: Limits,
): Promise<Account> {
  return requireValue(await accounts.findOrCreate(ROOT, name, plan, plan === 'enterprise' ? limits : {}));
}

/** Changes an account, whatever its values are now. */
export async function changeAccount(
  accounts: AccountRepository,
  id: number,
  { limits, ...patch }: Omit<AccountPatch, keyof Limits> & { readonly limits?: Limits },
): Promise<void> {
  requireValue(await accounts.change(ROOT, id, { ...patch, ...(patch.plan === 'enterprise' && limits) }));
}

export async function addKey(keys: KeyRepository, key: NewKey): Promise<KeyRecord> {
  return requireValue(await keys.create(ROOT, key));
}

/** A key with a random text. */
export async function issueKey(
  keys: KeyRepository,
  { environment = 'production', ...settings }: Omit<NewKey, 'key'> & { readonly environment?: Environment },
): Promise<{ readonly key: ApiKey; readonly record: KeyRecord }> {
  const key = ApiKey.generate(environment, randomBytes);
  return { key, record: await addKey(keys, { key, ...settings }) };
}

export async function findKey(keys: KeyRepository, id: number): Promise<KeyRecord | undefined> {
  const found = await keys.find(id);
  return 'value' in found ? found.value : undefined;
}
