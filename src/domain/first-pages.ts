import { PetStatus } from './pet.ts';
import type { PetQuery } from './ports.ts';

const STATUSES: readonly (PetStatus | undefined)[] = [undefined, ...PetStatus.options];

/**
 * A value for each query of a first page, of which there are few: a limit and a status or none. No map: one that is
 * cleared leads from table to table and a weak one holds its keys, so that V8's collector of the young takes what they
 * held at each write for old, and then has to stop the service for all that is old.
 */
export class FirstPages<T> {
  readonly #values: (T | undefined)[] = [];

  get(query: PetQuery): T | undefined {
    return this.#values[placeOf(query)];
  }

  set(query: PetQuery, value: T): void {
    this.#values[placeOf(query)] = value;
  }
}

function placeOf({ limit, status }: PetQuery): number {
  return limit * STATUSES.length + STATUSES.indexOf(status);
}
