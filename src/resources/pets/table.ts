// Contract: sections 2 and 3.
import type { Page } from '../../domain/page.ts';
import type { Json } from '../../domain/json.ts';
import { enumeration, int64, optional, Table, text } from '../../storage/table.ts';
import { PET_STATUSES, type PetStatus } from './rules.ts';
import type { Pet } from './schema.ts';

export const PETS = new Table(
  'pets',
  { id: int64, name: text, categoryId: int64, status: optional(enumeration(PET_STATUSES)) },
  { key: ['id'], assignsIds: true },
);

/** Every status as the index by category has it. An animal without a status has ''. */
export const INDEXED_STATUSES = ['', ...PET_STATUSES] as const;

export interface PetQuery {
  /** 1 to 100. */
  readonly limit: number;
  readonly status?: PetStatus | undefined;
  readonly categoryId?: bigint | undefined;
  /** Only these animals: 1 to 100 ids in any order, some perhaps twice. */
  readonly ids?: readonly bigint[] | undefined;
  /** Only animals with a smaller id: where the page before ended. */
  readonly before?: bigint | undefined;
}

export interface PetPage extends Page<Pet> {
  /** A place for the response, if the same page may be returned again. */
  readonly cache?: { response?: object };
}

/** The hot reads, of which each engine has a version. */
export interface PetReads {
  /** A page never changes: as long as nothing is written, the same object may be returned again. */
  list(query: PetQuery): Promise<PetPage>;
  get(id: bigint): Promise<Json<Pet> | undefined>;
}

/** An animal as JSON with exact int64. An animal without a status has no such member. */
export function petJson({ id, name, categoryId, status }: Pet): Json<Pet> {
  const end = status === undefined ? '}' : `,"status":"${status}"}`;
  return `{"id":${id},"name":${JSON.stringify(name)},"categoryId":${categoryId}${end}` as Json<Pet>;
}

export function petsJson(pets: readonly Pet[]): Json<readonly Pet[]> {
  return `[${pets.map(petJson).join(',')}]` as Json<readonly Pet[]>;
}
