// Contract: section 5.
import {
  type Account,
  accountName,
  keyState,
  type KeyRecord,
  limitsOf,
  rotatedExpiry,
} from '../domain/account.ts';
import { ApiKey, type RandomBytes } from '../domain/api-key.ts';
import { ServiceError } from '../domain/errors.ts';
import type { Limits, Plan } from '../domain/plan.ts';
import type { AccountRepository, NewKey } from '../domain/ports.ts';
import { nearest } from './nearest.ts';

/** A new key: the only moment at which its text is known. */
export interface IssuedKey {
  readonly key: ApiKey;
  readonly record: KeyRecord;
}

/** A key that replaces another one. */
export interface RotatedKey extends IssuedKey {
  /** When the other one stops working, in Unix milliseconds. */
  readonly replacedUntil: number;
}

type KeySettings = Omit<NewKey, 'accountId' | 'hash' | 'ending'> & { readonly account: Pick<Account, 'id'> };

/**
 * The account called `name`, made with `plan` when there is none yet.
 * @throws ServiceError `not_found` when there is none and no plan is given, because the name may be mistyped; `conflict`
 * when it exists with another plan or other limits than asked for; those of `accountName` and `limitsOf`.
 */
export async function accountFor(
  accounts: AccountRepository,
  name: string,
  plan: Plan | undefined,
  custom: Partial<Limits>,
): Promise<Account> {
  const account = (await accounts.findAccount(name)) ?? (await newAccount(accounts, name, plan, custom));
  const { perMinute = account.limits.perMinute, perDay = account.limits.perDay } = custom;
  const samePlan = plan === undefined || plan === account.plan;
  if (!samePlan || perMinute !== account.limits.perMinute || perDay !== account.limits.perDay) {
    throw new ServiceError(
      'conflict',
      `The account ${account.name} has plan ${account.plan} with ${account.limits.perMinute} requests per minute and ` +
        `${account.limits.perDay} per day: change it with petstore accounts set.`,
    );
  }
  return account;
}

async function newAccount(
  accounts: AccountRepository,
  name: string,
  plan: Plan | undefined,
  custom: Partial<Limits>,
): Promise<Account> {
  if (plan === undefined)
    throw await noAccount(accounts, name, ' To create it, add its plan, for example --plan free.');
  // Another process may make the account at this moment, perhaps with another plan.
  return accounts.findOrCreateAccount(accountName(name), plan, limitsOf(plan, custom));
}

/** The account of those who name none, made with plan Free if there is none. */
export function defaultAccount(accounts: AccountRepository): Promise<Account> {
  return accounts.findOrCreateAccount('default', 'free', limitsOf('free', {}));
}

/** Makes a key and stores its hash. */
export async function issueKey(
  accounts: AccountRepository,
  random: RandomBytes,
  { account, ...settings }: KeySettings,
): Promise<IssuedKey> {
  const key = ApiKey.generate(settings.environment, random);
  const record = await accounts.addKey({ ...settings, accountId: account.id, ...storedOf(key) });
  return { key, record };
}

/**
 * A new key with the settings of key `id`. The old key works for `grace` more milliseconds, never past its own expiry.
 * @throws ServiceError `not_found`, or `conflict` when the key is rotated already, expired or revoked.
 */
export async function rotateKey(
  accounts: AccountRepository,
  random: RandomBytes,
  id: number,
  { now, grace }: { readonly now: number; readonly grace: number },
): Promise<RotatedKey> {
  const old = await existingKey(accounts, id);
  refuseRotation(old, now);
  const { account, environment, label, scopes, expiresAt } = old;
  const key = ApiKey.generate(environment, random);
  const settings = { accountId: account.id, ...storedOf(key), environment, label, scopes, expiresAt };
  const replacedUntil = Math.floor(rotatedExpiry(old, now, grace));
  const record = await accounts.replaceKey(id, replacedUntil, settings);
  if (record !== undefined) return { key, record, replacedUntil };
  // Another process rotated or revoked it at this moment.
  refuseRotation(await existingKey(accounts, id), now);
  throw new Error(`Key ${id} was not rotated.`);
}

function refuseRotation(key: KeyRecord, now: number): void {
  const state = keyState(key, now);
  if (state === 'active') return;
  const reason =
    key.rotatedTo === undefined
      ? `is ${state}: create a new one`
      : `is already rotated into key ${key.rotatedTo}: rotate that one`;
  throw new ServiceError('conflict', `Key ${key.id} ${reason}.`);
}

/** What the store keeps of a key. */
function storedOf(key: ApiKey): Pick<NewKey, 'hash' | 'ending'> {
  return { hash: key.hash(), ending: key.ending };
}

/** @throws ServiceError `not_found`. */
export async function existingKey(accounts: AccountRepository, id: number): Promise<KeyRecord> {
  const key = await accounts.findKey(id);
  if (key === undefined) throw new ServiceError('not_found', `There is no key ${id}.`);
  return key;
}

/** @throws ServiceError `not_found`. */
export async function existingAccount(accounts: AccountRepository, name: string): Promise<Account> {
  const account = await accounts.findAccount(name);
  if (account === undefined) throw await noAccount(accounts, name);
  return account;
}

/** Names the account that is probably meant. */
async function noAccount(accounts: AccountRepository, name: string, advice = ''): Promise<ServiceError> {
  const names = (await accounts.listAccounts()).map((account) => account.name);
  const near = nearest(name, names);
  const question = near === undefined ? '' : ` Did you mean ${near}?`;
  return new ServiceError('not_found', `There is no account ${name}.${question}${advice}`);
}
