// Contract: section 6.9.
import type { Environment } from '../domain/api-key.ts';

/** The key that stands for all keys of an environment together. */
export const ALL_KEYS = { production: 0, staging: -1 } as const satisfies Record<Environment, number>;

/** Keys that one statement names. */
export const KEYS_NAMED = 500;

/** SQL for the parameters from number `first` on, which are the ids of `named`. */
export function keyList(first: number): string {
  return Array.from({ length: KEYS_NAMED }, (_, index) => `$${first + index}`).join(', ');
}

/** Up to KEYS_NAMED ids. The last one fills up the list, so that there is one statement for any number of keys. */
export function named(ids: readonly number[]): readonly number[] {
  return Array.from({ length: KEYS_NAMED }, (_, index) => ids[index] ?? ids.at(-1) ?? 0);
}
