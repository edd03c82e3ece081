// Contract: sections 3.14 and 5.
import { isInForce, type KeyRecord, keyState } from '../../domain/account.ts';
import { type Scope, SCOPES } from '../../domain/scope.ts';
import { textIfInstant } from '../../domain/instant.ts';
import { listed } from '../../domain/parse.ts';
import type { Failure } from '../../domain/result.ts';

/** Seconds that a rotated key still works. */
export const GRACE = { default: 86_400, maximum: 30 * 86_400 } as const;

/** The largest number of keys of an account that work in one environment at a time, unless an operator creates more. */
export const MOST_LIVE_KEYS = 20;

/** The start of the message of a refusal. */
export const TOO_MANY_KEYS = `The account has ${MOST_LIVE_KEYS} keys that work in this environment`;

/** The largest number of keys of an account that its own keys create in a UTC day, in all environments together. */
export const MOST_KEYS_A_DAY = 100;

/** The sorts of a list of keys. A name with "-" is descending. A key that nobody has used comes before those in use, and a key without an end after all others. */
export const KEY_SORTS = ['-created', 'created', '-lastUsed', 'lastUsed', '-expires', 'expires'] as const;

export type KeySort = (typeof KEY_SORTS)[number];

/** The instant when a rotated key stops working: after the grace time, never past its own expiry. In milliseconds. */
export function rotatedExpiry(key: Pick<KeyRecord, 'expiresAt'>, now: number, grace: number): number {
  return Math.min(now + grace, key.expiresAt ?? Number.POSITIVE_INFINITY);
}

/** Why a key cannot be changed at the instant `now` (Unix milliseconds), or undefined if it can. */
export function refuseEnded(key: KeyRecord, now: number): Failure<'conflict'> | undefined {
  if (isInForce(key, now)) return undefined;
  return { error: 'conflict', message: `Key ${key.id} is ${keyState(key, now)}: create a new one.` };
}

/** Why a key cannot be rotated at the instant `now` (Unix milliseconds), or undefined if it can. */
export function refuseRotation(key: KeyRecord, now: number): Failure<'conflict'> | undefined {
  const { id, rotatedTo } = key;
  if (rotatedTo === undefined) return refuseEnded(key, now);
  return {
    error: 'conflict',
    message: `Key ${id} is already rotated into key ${rotatedTo}: rotate that one.`,
  };
}

/** Why a key cannot create and rotate keys, or undefined if it can. */
export function refuseReplaced({
  id,
  rotatedTo,
}: Pick<KeyRecord, 'id' | 'rotatedTo'>): Failure<'insufficient_scope'> | undefined {
  if (rotatedTo === undefined) return undefined;
  return {
    error: 'insufficient_scope',
    message: `Key ${id} was rotated into key ${rotatedTo}, so it can no longer create or rotate keys: use key ${rotatedTo}, or another key with keys:manage.`,
  };
}

/** Why `caller` cannot make a key with these scopes, or undefined if it can. */
export function refuseScopes(
  scopes: readonly Scope[],
  caller: Pick<KeyRecord, 'scopes'>,
): Failure<'insufficient_scope'> | undefined {
  const lacking = SCOPES.filter((scope) => scopes.includes(scope) && !caller.scopes.includes(scope));
  if (lacking.length === 0) return undefined;
  const advice =
    lacking.length === 1 ? 'this scope: use a key that has it' : 'these scopes: use a key that has them';
  return {
    error: 'insufficient_scope',
    message: `The calling key lacks ${listed(lacking)}, so it cannot create a key with ${advice}.`,
  };
}

/** A key as its account sees it at the instant `now` (Unix milliseconds). */
export function toKey(key: KeyRecord, now: number) {
  const { id, label, environment, scopes, createdAt, expiresAt, lastUsedAt, ending } = key;
  return {
    id,
    label,
    environment,
    scopes,
    state: keyState(key, now),
    createdAt: textIfInstant(createdAt),
    expiresAt: textIfInstant(expiresAt),
    lastUsedAt: textIfInstant(lastUsedAt),
    ending,
  };
}
