import type { Environment } from '../../domain/api-key.ts';
import type { BannableKey } from '../limiter.ts';

/*
 * The keys of Redis. Each environment has its own. The text between the braces decides the hash slot, so all keys of one
 * caller are on one server.
 */

export function countsKey(environment: Environment, caller: string): string {
  return `petstore:${environment}:{${caller}}:usage`;
}

export function refusalsKey(environment: Environment, caller: string, keyId: number): string {
  return `petstore:${environment}:{${caller}}:refusals:${keyId}`;
}

/** Gives a pattern for SCAN when both the caller and the key id are `*`. */
export function banKey(environment: Environment, caller: string, keyId: number | '*'): string {
  return `petstore:${environment}:{${caller}}:ban:${keyId}`;
}

/** The key and the account of a `banKey`. Undefined for another text. */
export function bannableKey(name: string): BannableKey | undefined {
  const [, accountId, keyId] = /\{account (\d+)\}:ban:(\d+)$/.exec(name) ?? [];
  if (accountId === undefined || keyId === undefined) return undefined;
  return { id: Number(keyId), account: { id: Number(accountId) } };
}

/** A key for the instances that use one server. `isThere` says whether a key is on that server. */
export function instancesKey(environment: Environment, isThere: (key: string) => boolean): string {
  for (let number = 0; ; number++) {
    const key = `petstore:${environment}:{instances ${number}}`;
    if (isThere(key)) return key;
  }
}
