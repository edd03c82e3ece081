import type { Environment } from '../../domain/api-key.ts';

/*
 * The keys of Redis. Each environment counts for itself. What stands between the braces decides the hash slot, so all
 * keys of one caller lie on one server.
 */

export function usageKey(environment: Environment, caller: string): string {
  return `petstore:${environment}:{${caller}}:usage`;
}

export function refusalsKey(environment: Environment, caller: string, keyId: number): string {
  return `petstore:${environment}:{${caller}}:refusals:${keyId}`;
}

/** Or a pattern for the bans of every caller, of one key (`*`, 7) or of all (`*`, `*`). */
export function banKey(environment: Environment, caller: string, keyId: number | '*'): string {
  return `petstore:${environment}:{${caller}}:ban:${keyId}`;
}

/** The instances that count on the server that `isThere` says a key lies on. */
export function instancesKey(environment: Environment, isThere: (key: string) => boolean): string {
  for (let number = 0; ; number++) {
    const key = `petstore:${environment}:{instances ${number}}`;
    if (isThere(key)) return key;
  }
}
