import { addAccount, changeAccount } from './account-writes.ts';
import { addKey, revokeKey, rotateKey, touchKeys } from './key-writes.ts';
import type { Write } from './engine.ts';
import { createOwnKey, revokeOwnKey, rotateOwnKey } from './own-keys.ts';
import * as parts from './parts.ts';
import { createPet } from './pets.ts';

/** Every write of several statements, by its name: the writing thread of SQLite looks them up here. */
export const WRITES: Readonly<Record<string, Write<never, unknown>>> = {
  addAccount,
  changeAccount,
  addKey,
  rotateKey,
  revokeKey,
  createOwnKey,
  rotateOwnKey,
  revokeOwnKey,
  touchKeys,
  createPet,
  ...Object.fromEntries(
    Object.values(parts).flatMap((part) => Object.entries<Write<never, unknown>>(part.WRITES)),
  ),
};

/** The name of a write of the list, by which it crosses to the thread. */
export function nameOf(work: Write<never, unknown>): string {
  if (WRITES[work.name] !== work) throw new Error(`writes.ts does not list ${work.name}.`);
  return work.name;
}
