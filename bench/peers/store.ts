// Its cursors, so that all can be asked for the same pages.
import { decodeCursor, encodeCursor } from '../../src/domain/cursor.ts';
import type { Account } from './account.ts';

export interface NewPet {
  readonly name: string;
  readonly categoryId: number;
  readonly status?: string | undefined;
}

export interface Pet {
  readonly id: number | bigint;
  readonly name: string;
  readonly categoryId: number | bigint;
  readonly status?: string | undefined;
}

export interface PetRow extends Omit<Pet, 'status'> {
  readonly status: string | null;
}

export interface PageQuery {
  readonly limit: number;
  readonly status?: string | undefined;
  readonly cursor?: string | undefined;
}

export interface Page {
  readonly pets: readonly Pet[];
  /** The query of the page that follows. */
  readonly next: string | undefined;
}

type Answer<T> = T | Promise<T>;

/** What the peers need of a database: one query for one thing. */
export interface Store {
  findAccount(key: string): Answer<Account | undefined>;
  /** Undefined when the cursor is invalid. */
  list(query: PageQuery): Answer<Page | undefined>;
  /** Once it is committed and on disk. */
  create(pet: NewPet): Answer<Pet>;
  get(petId: string): Answer<Pet | undefined>;
}

export const COLUMNS = 'id, name, category_id AS "categoryId", status';

const NEWEST = 2n ** 63n - 1n;

/** Before which id the page begins; undefined when the cursor is invalid. */
export function pageStart({ cursor }: PageQuery): bigint | undefined {
  return cursor === undefined ? NEWEST : decodeCursor(cursor);
}

/** The page of `rows`, which are one more than asked for when another page follows. */
export function pageOf(rows: readonly PetRow[], { limit, status }: PageQuery): Page {
  const pets = rows.slice(0, limit).map(petOf);
  const last = pets.at(-1);
  if (rows.length <= limit || last === undefined) return { pets, next: undefined };
  const filter = status === undefined ? '' : `&status=${status}`;
  return { pets, next: `limit=${limit}${filter}&cursor=${encodeCursor(BigInt(last.id))}` };
}

/** An absent status is absent in the answer. */
export function petOf({ id, name, categoryId, status }: PetRow): Pet {
  return status === null ? { id, name, categoryId } : { id, name, categoryId, status };
}
