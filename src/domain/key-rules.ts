// Contract: section 3.14.
import { type KeyRecord, keyState, type Scope } from './account.ts';
import { textFromInstant } from './instant.ts';
import type { Key } from './key.ts';
import { listed } from './parse.ts';

/** The largest number of keys of an account that work in one environment at a time, unless an operator creates more. */
export const MOST_LIVE_KEYS = 20;

/** The start of the message of a refusal. */
export const TOO_MANY_KEYS = `The account has ${MOST_LIVE_KEYS} keys that work in this environment`;

/** The largest number of keys of an account that its own keys create in a UTC day, in all environments together. */
export const MOST_KEYS_A_DAY = 100;

/** A valid key, or the message of the 401. */
export type KeyCheck =
  | { readonly key: KeyRecord; readonly fault?: never }
  | { readonly key?: never; readonly fault: string };

/** Whether a key that was looked up is valid at the instant `now` (Unix milliseconds). */
export function checkKey(key: KeyRecord | undefined, now: number): KeyCheck {
  if (key === undefined)
    return { fault: 'The API key is unknown: use one that was created for your account.' };
  const state = keyState(key, now);
  if (state === 'expired') return { fault: 'The API key has expired: use a newer one.' };
  if (state === 'revoked') return { fault: 'The API key has been revoked: use another one.' };
  if (key.account.suspendedAt !== undefined)
    return { fault: 'The account of this API key is suspended: ask the operator of this service.' };
  return { key };
}

/** A key as its account sees it at the instant `now` (Unix milliseconds). */
export function keyAt(key: KeyRecord, now: number): Key {
  const { id, label: its, environment, scopes: granted, createdAt, expiresAt, lastUsedAt, ending } = key;
  return {
    id: BigInt(id),
    ...(its !== undefined && { label: its }),
    environment,
    scopes: [...granted],
    state: keyState(key, now),
    createdAt: textFromInstant(createdAt),
    ...(expiresAt !== undefined && { expiresAt: textFromInstant(expiresAt) }),
    ...(lastUsedAt !== undefined && { lastUsedAt: textFromInstant(lastUsedAt) }),
    ...(ending !== undefined && { ending }),
  };
}

/** Why a key cannot be rotated at the instant `now` (Unix milliseconds), or undefined if it can. */
export function rotationFault(key: KeyRecord, now: number): string | undefined {
  const state = keyState(key, now);
  if (state === 'active') return undefined;
  const reason =
    key.rotatedTo === undefined
      ? `is ${state}: create a new one`
      : `is already rotated into key ${key.rotatedTo}: rotate that one`;
  return `Key ${key.id} ${reason}.`;
}

/** Why a key cannot create and rotate keys, or undefined if it can. */
export function successorFault({ id, rotatedTo }: Pick<KeyRecord, 'id' | 'rotatedTo'>): string | undefined {
  if (rotatedTo === undefined) return undefined;
  return `Key ${id} was rotated into key ${rotatedTo}, so it can no longer create or rotate keys: use key ${rotatedTo}, or another key with keys:manage.`;
}

/** Why a key with the scopes `callers` cannot get a key with these scopes, or undefined if it can. */
export function scopeFault(wanted: readonly Scope[], callers: readonly Scope[]): string | undefined {
  const lacking = wanted.filter((scope) => !callers.includes(scope));
  if (lacking.length === 0) return undefined;
  return `The calling key lacks ${listed(lacking)}, so it cannot create a key with ${lacking.length === 1 ? 'this scope: use a key that has it' : 'these scopes: use a key that has them'}.`;
}
