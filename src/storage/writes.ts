import * as accounts from './account-writes.ts';
import type { Write } from './engine.ts';
import * as keys from './key-writes.ts';
import * as ownKeys from './own-keys.ts';
import * as parts from './parts.ts';
import * as pets from './pets.ts';

type AnyWrite = Write<never, unknown>;

/** Every write of several statements, by its place: `orders.create`. The writing thread of SQLite looks them up here. */
export const WRITES: ReadonlyMap<string, AnyWrite> = new Map(
  Object.entries({ ...parts, accounts, keys, ownKeys, pets }).flatMap(([place, { WRITES: writes }]) =>
    Object.entries<AnyWrite>(writes).map(([name, write]) => [`${place}.${name}`, write] as const),
  ),
);

const PLACES = new Map([...WRITES].map(([place, write]) => [write, place]));

/** The place of a write, by which it crosses to the thread. */
export function findPlace(write: AnyWrite): string {
  const place = PLACES.get(write);
  if (place === undefined) throw new Error(`The WRITES of no part of the store have ${write.name}.`);
  return place;
}
