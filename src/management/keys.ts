// Contract: section 5.
import type { Account, KeyRecord } from '../domain/account.ts';
import { ApiKey, type RandomBytes } from '../domain/api-key.ts';
import { ServiceError } from '../domain/errors.ts';
import type { AccountRepository, NewKey, RotatedRecord } from '../domain/account-ports.ts';

/** A new key. Its text is known only now. */
export interface IssuedKey {
  readonly key: ApiKey;
  readonly record: KeyRecord;
}

/** A key that replaces another one. */
export type RotatedKey = IssuedKey & RotatedRecord;

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
  grace: number,
): Promise<RotatedKey> {
  const { environment } = await existingKey(accounts, id);
  const key = ApiKey.generate(environment, random);
  const rotated = await accounts.rotateKey({ id, grace, ...storedOf(key) });
  if ('error' in rotated) throw new ServiceError(rotated.error, rotated.message ?? noKey(id));
  return { key, ...rotated.value };
}

/** The record that the store keeps of a key. */
export function storedOf(key: ApiKey): Pick<NewKey, 'hash' | 'ending'> {
  return { hash: key.hash(), ending: key.ending };
}

/** @throws ServiceError `not_found`. */
export async function existingKey(accounts: AccountRepository, id: number): Promise<KeyRecord> {
  const key = await accounts.findKey(id);
  if (key === undefined) throw new ServiceError('not_found', noKey(id));
  return key;
}

function noKey(id: number): string {
  return `There is no key ${id}.`;
}
