// Contract: sections 5.4 and 10.2.
import { isInForce, KEY_STATES, type KeyRecord, keyState } from '../domain/account.ts';

/** The states by which a list of keys can be filtered. A banned or suspended key also has a state of `KEY_STATES`. */
export const LISTED_STATES = [...KEY_STATES, 'banned', 'suspended'] as const;

export interface KeyFilter {
  readonly state?: (typeof LISTED_STATES)[number] | undefined;
  /** Milliseconds in which nobody has used the key. */
  readonly unusedFor?: number | undefined;
  /** Milliseconds in which the key ends. Such a key still works. */
  readonly expiresWithin?: number | undefined;
}

/** Whether a list shows the key at the instant `now` (Unix milliseconds). */
export function isListed(
  key: KeyRecord,
  { state, unusedFor, expiresWithin }: KeyFilter,
  now: number,
  isBanned: boolean,
): boolean {
  if (unusedFor !== undefined && (key.lastUsedAt ?? key.createdAt) > now - unusedFor) return false;
  if (expiresWithin !== undefined && !endsBy(key, now, now + expiresWithin)) return false;
  if (state === 'banned') return isBanned;
  if (state === 'suspended') return key.account.suspendedAt !== undefined;
  return state === undefined || keyState(key, now) === state;
}

/** Whether a key works at the instant `now`, and no longer after the instant `end`. */
function endsBy(key: KeyRecord, now: number, end: number): boolean {
  return isInForce(key, now) && key.expiresAt !== undefined && key.expiresAt <= end;
}
