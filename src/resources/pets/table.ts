// Contract: sections 2 and 3.
import type { Page, PageQuery } from '../../domain/page.ts';
import type { Json } from '../../domain/json.ts';
import type { Result } from '../../domain/result.ts';
import {
  enumeration,
  instant,
  int64,
  integer,
  optional,
  type Stored,
  Table,
  text,
} from '../../storage/table.ts';
import { PET_STATUSES, type PetStatus } from './rules.ts';
import type { Pet } from './schema.ts';

export const PETS = new Table(
  'pets',
  {
    id: int64,
    name: text,
    categoryId: int64,
    status: optional(enumeration(PET_STATUSES)),
    version: integer,
    /** The account whose key added it; 0 for the house. */
    ownerId: integer,
    /** Who made the last change, and when. Unknown, unless `changedVersion` is `version`. */
    changedAt: optional(instant),
    /** As `textFromActor` writes it. */
    changedBy: optional(text),
    changedVersion: optional(integer),
  },
  { key: ['id'], assignsIds: true, stamp: 'changed_at' },
);

/** The owner of animals that belong to no account: operators and commands add them. */
export const HOUSE = 0;

/** An animal as a row, with its version. */
export type PetRow = Stored<typeof PETS>;

/** Every status as the indexes by category and by owner have it. An animal without a status has ''. */
export const INDEXED_STATUSES = ['', ...PET_STATUSES] as const;

/** `limit` is 1 to 100. */
export interface PetQuery extends PageQuery {
  readonly status?: PetStatus | undefined;
  readonly categoryId?: bigint | undefined;
  /** Only animals of this account; 0: of the house. */
  readonly accountId?: number | bigint | undefined;
  /** Only these animals: 1 to 100 ids in any order, some perhaps twice. */
  readonly id?: readonly bigint[] | undefined;
}

/** A page as JSON, in which SQLite keeps animals. */
export interface PetPage extends Pick<Page<Pet>, 'next'> {
  readonly items: Json<readonly Pet[]>;
  /** A place for the response, if the same page may be returned again. */
  readonly cache?: { response?: object };
}

/** The hot reads, of which each engine has a version. */
export interface PetReads {
  /** A page never changes: as long as nothing is written, the same object may be returned again. */
  list(query: PetQuery): Promise<PetPage>;
  get(id: bigint): Promise<Result<Json<Pet>, 'not_found'>>;
}

/** The columns of an animal as clients see it, and a row of them. */
export const COLUMNS = 'id, name, category_id, status';
export type PetColumns = readonly [id: bigint, name: string, categoryId: bigint, status: PetStatus | null];

export function petFromColumns([id, name, categoryId, status]: PetColumns): Pet {
  return status === null ? { id, name, categoryId } : { id, name, categoryId, status };
}

/** An animal as JSON with exact int64. An animal without a status has no such member. */
export function petJson({ id, name, categoryId, status }: Pet): Json<Pet> {
  const end = status === undefined ? '}' : `,"status":"${status}"}`;
  return `{"id":${id},"name":${JSON.stringify(name)},"categoryId":${categoryId}${end}` as Json<Pet>;
}

export function petsJson(pets: readonly Pet[]): Json<readonly Pet[]> {
  return `[${pets.map(petJson).join(',')}]` as Json<readonly Pet[]>;
}
