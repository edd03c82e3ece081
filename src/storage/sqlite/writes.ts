import type { DatabaseSync } from 'node:sqlite';
import { accountWrites } from './account-writes.ts';
import { counterWrites } from './counter-writes.ts';
import { petWrites } from './pet-writes.ts';

/**
 * Every write there is, by name, on the connection that writes. Each runs inside a transaction that it may share with
 * others, takes and gives only values (they cross threads), returns expected outcomes, and throws only to undo the
 * whole transaction. It may be run again when the transaction was undone.
 */
export function writesOn(db: DatabaseSync) {
  return { ...petWrites(db), ...accountWrites(db), ...counterWrites(db) };
}

export type Writes = ReturnType<typeof writesOn>;
