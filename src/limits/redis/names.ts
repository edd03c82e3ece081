import type { Environment } from '../../domain/api-key.ts';
import type { BannableKey } from '../limiter.ts';
import { slotOf } from './slots.ts';

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

/** With this many numbers, every hash slot has a key of `instancesKeys`. */
const INSTANCES_KEYS = 151_792;

/** The hash slots of the first of these keys: as many as were needed so far. */
const instancesSlots: number[] = [];

/**
 * Keys for the instances that use one server, the best first. All instances must use the same one. `isThere` says whether a
 * hash slot is on that server; slots may move between two keys.
 */
export function* instancesKeys(
  environment: Environment,
  isThere: (slot: number) => boolean,
): Generator<string, undefined> {
  for (let number = 0; number < INSTANCES_KEYS; number++) {
    const key = `petstore:${environment}:{instances ${number}}`;
    if (isThere((instancesSlots[number] ??= slotOf(key)))) yield key;
  }
}
