// Contract: sections 2 and 3.
import type { Page, PageQuery } from '../../domain/page.ts';
import type { Json } from '../../domain/json.ts';
import type { Result } from '../../domain/result.ts';
import {
  enumeration,
  instant,
  int64,
  integer,
  json,
  optional,
  type Stored,
  Table,
  text,
} from '../../storage/table.ts';
import { DETAIL_NAMES, type DetailName, PET_STATUSES, type PetStatus } from './rules.ts';
import type { Pet } from './schema.ts';

/** The optional fields of an animal. */
type Details = Readonly<Pick<Pet, DetailName>>;

const isObject = (value: unknown): value is Details =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

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
    /** In the order of answers. */
    details: optional(json('the details of an animal', isObject)),
    /** The owner's own number of the animal, unique for its owner. */
    reference: optional(text),
    /** As `foldedName` folds the name. Out of date, unless `foldedVersion` is `version`. */
    foldedName: optional(text),
    foldedVersion: optional(integer),
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
  /** Only animals of this name, in whatever case. */
  readonly name?: string | undefined;
  readonly reference?: string | undefined;
}

/** A page as JSON, in which SQLite keeps animals. */
export interface PetPage extends Pick<Page<Pet>, 'next'> {
  readonly items: Json<readonly Pet[]>;
  /** Holds the response, if the same page may be returned again. */
  readonly cache?: { response?: object };
}

/** The hot reads, of which each engine has a version. */
export interface PetReads {
  /**
   * A page never changes: as long as nothing is written, the same object may be returned again. Rejects with ServiceError
   * `unavailable` when the query has a name and not all names are folded yet.
   */
  list(query: PetQuery): Promise<PetPage>;
  get(id: bigint): Promise<Result<Json<Pet>, 'not_found'>>;
}

/** The columns of an animal as clients see it, and a row of them. `details` is JSON. */
export const COLUMNS = 'id, name, category_id, status, details, reference';
export type PetColumns = readonly [
  id: bigint,
  name: string,
  categoryId: bigint,
  status: PetStatus | null,
  details: string | null,
  reference: string | null,
];

/** Whether the name of an animal is not folded, as the index `pets_unfolded` says it. */
export const UNFOLDED = 'folded_version IS DISTINCT FROM version';

/** PostgreSQL takes nearly all animals for unfolded, and reads the whole table unless it needs the order of the index. */
export const FIND_UNFOLDED = {
  sqlite: `SELECT 1 FROM pets WHERE ${UNFOLDED} LIMIT 1`,
  postgres: `SELECT 1 FROM pets WHERE ${UNFOLDED} ORDER BY id LIMIT 1`,
} as const;

/** An animal as JSON with exact int64. What it does not have is no member. */
export function petJson({ id, name, categoryId, status, reference, ...details }: Pet): Json<Pet> {
  return joinMembers(id, name, categoryId, status, detailsJson(details), reference);
}

export function petJsonFromColumns([
  id,
  name,
  categoryId,
  status,
  details,
  reference,
]: PetColumns): Json<Pet> {
  return joinMembers(id, name, categoryId, status, details, reference);
}

function joinMembers(
  id: bigint,
  name: string,
  categoryId: bigint,
  status: PetStatus | null | undefined,
  details: string | null | undefined,
  reference: string | null | undefined,
): Json<Pet> {
  let members = `{"id":${id},"name":${JSON.stringify(name)},"categoryId":${categoryId}`;
  if (status !== null && status !== undefined) members += `,"status":"${status}"`;
  if (details !== null && details !== undefined && details !== '{}') members += `,${details.slice(1, -1)}`;
  if (reference !== null && reference !== undefined) members += `,"reference":${JSON.stringify(reference)}`;
  return `${members}}` as Json<Pet>;
}

/** The optional fields that an animal has, in the order of answers; undefined when it has none. */
export function pickDetails(pet: Partial<Details>): Details | undefined {
  const entries = DETAIL_NAMES.filter((name) => pet[name] !== undefined).map((name) => [name, pet[name]]);
  return entries.length === 0 ? undefined : (Object.fromEntries(entries) as Details);
}

function detailsJson(details: Partial<Details>): string | undefined {
  const picked = pickDetails(details);
  return picked && JSON.stringify(picked);
}

export function toPetsJson(pets: readonly Json<Pet>[]): Json<readonly Pet[]> {
  return `[${pets.join(',')}]` as Json<readonly Pet[]>;
}
