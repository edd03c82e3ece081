// Contract: section 5.
import { type Account, type KeyRecord, rotatedExpiry } from '../domain/account.ts';
import { ApiKey, type RandomBytes } from '../domain/api-key.ts';
import { ServiceError } from '../domain/errors.ts';
import { rotationFault } from '../domain/key-rules.ts';
import type { AccountRepository, NewKey } from '../domain/account-ports.ts';

/** A new key. Its text is known only now. */
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
  const fault = rotationFault(key, now);
  if (fault !== undefined) throw new ServiceError('conflict', fault);
}

/** The record that the store keeps of a key. */
export function storedOf(key: ApiKey): Pick<NewKey, 'hash' | 'ending'> {
  return { hash: key.hash(), ending: key.ending };
}

/** @throws ServiceError `not_found`. */
export async function existingKey(accounts: AccountRepository, id: number): Promise<KeyRecord> {
  const key = await accounts.findKey(id);
  if (key === undefined) throw new ServiceError('not_found', `There is no key ${id}.`);
  return key;
}
