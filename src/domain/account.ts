// Contract: section 5.
import { type Environment, WITHOUT_KEY } from './api-key.ts';
import { type Limits, PLANS, type Plan } from './plan.ts';
import type { Result } from './result.ts';
import type { Scope } from './scope.ts';
import type { KeyState } from './states.ts';

/** A label that a terminal can show. */
export const LABEL = new RegExp(`${WITHOUT_KEY}[^\\p{Cc}\\p{Cs}]{1,100}$`, 'u');

/** The owner of keys. Quota belongs to the account, not to a key. */
export interface Account {
  readonly id: number;
  /** Unique, ignoring case: see `foldedName`. */
  readonly name: string;
  readonly plan: Plan;
  /** The limits of the plan, or the account's own for Enterprise. */
  readonly limits: Limits;
  /** Since when all its keys are refused, in Unix milliseconds; undefined while they are not. */
  readonly suspendedAt: number | undefined;
}

/** Whose thing a change may be about. Without `accountId`, it may be of any account. */
export interface Owner {
  readonly accountId?: number | undefined;
}

/** One API key of an account, without the key itself. Instants are Unix milliseconds. */
export interface KeyRecord {
  readonly id: number;
  readonly account: Account;
  readonly environment: Environment;
  readonly label: string | undefined;
  readonly scopes: readonly Scope[];
  readonly createdAt: number;
  readonly expiresAt: number | undefined;
  readonly revokedAt: number | undefined;
  readonly lastUsedAt: number | undefined;
  /** The last four characters of the key. Earlier versions did not store them. */
  readonly ending: string | undefined;
  /** The key that it was rotated into. Its own `expiresAt` is then the end of the grace time. */
  readonly rotatedTo: number | undefined;
}

/** The state of a key at the instant `now` (Unix milliseconds). */
export function keyState(
  { expiresAt, revokedAt, rotatedTo }: Pick<KeyRecord, 'expiresAt' | 'revokedAt' | 'rotatedTo'>,
  now: number,
): KeyState {
  // Revoked at once, even if the clock of the machine that revoked it was ahead.
  if (revokedAt !== undefined) return 'revoked';
  if (expiresAt !== undefined && expiresAt <= now) return 'expired';
  return rotatedTo === undefined ? 'active' : 'rotated';
}

/** Whether requests with the key are accepted at the instant `now`, unless its account is suspended or it is banned. */
export function isInForce(
  key: Pick<KeyRecord, 'expiresAt' | 'revokedAt' | 'rotatedTo'>,
  now: number,
): boolean {
  return ['active', 'rotated'].includes(keyState(key, now));
}

/** Whether a request with the key that was looked up is accepted at the instant `now` (Unix milliseconds). */
export function checkKey(key: KeyRecord | undefined, now: number): Result<KeyRecord, 'unauthorized'> {
  if (key === undefined)
    return unauthorized('The API key is unknown: use one that was created for your account.');
  const state = keyState(key, now);
  if (state === 'expired') return unauthorized('The API key has expired: use a newer one.');
  if (state === 'revoked') return unauthorized('The API key has been revoked: use another one.');
  if (key.account.suspendedAt !== undefined)
    return unauthorized('The account of this API key is suspended: ask the operator of this service.');
  return { value: key };
}

function unauthorized(message: string) {
  return { error: 'unauthorized', message } as const;
}

/** The limits of an Enterprise account that a caller names: both, one or none. */
export type CustomLimits = { readonly [Name in keyof Limits]?: number | undefined };

/** The limits of an account: its plan's, which takes no numbers, or `custom` for Enterprise, which needs both. */
export function chooseLimits(
  plan: Plan,
  { perMinute, perDay }: CustomLimits,
): Result<Limits, 'invalid_request'> {
  const fixed = PLANS[plan];
  if (fixed !== 'custom') {
    if (perMinute === undefined && perDay === undefined) return { value: fixed };
    return invalid(`Plan ${plan} has fixed limits: only enterprise takes numbers of its own.`);
  }
  if (perMinute === undefined || perDay === undefined)
    return invalid('Plan enterprise needs numbers of its own: requests per minute and requests per day.');
  return { value: { perMinute, perDay } };
}

function invalid(message: string) {
  return { error: 'invalid_request', message } as const;
}
