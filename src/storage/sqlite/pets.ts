// Contract: section 3.
import type { DatabaseSync } from 'node:sqlite';
import { INT64_MAX } from '../../domain/int64.ts';
import { type NewPet, type Pet, PetStatus } from '../../domain/pet.ts';
import type { Idempotency, Outcome, PetPage, PetQuery, Written } from '../../domain/ports.ts';
import { petAdded } from '../../written.ts';
import type { Engine } from '../engine.ts';
import { type AddPets, createPet, type EnginePets } from '../pets.ts';
import { addAtomically } from './bulk.ts';
import type { Changes } from './changes.ts';
import { petValues } from './pet-writes.ts';
import { type Query, Statements } from './query.ts';
import type { Writer } from './writer.ts';

/** Separates the animals of a page, and occurs nowhere else: in a JSON string a quote has a backslash before it. */
const SEPARATOR = ',{"id":';

/** The number of animals, and all of them as JSON with commas between them. */
type PageRow = readonly [count: bigint, animals: string | null];

interface CachedPage {
  /** `Changes.all` when it was read. */
  readonly at: bigint | undefined;
  readonly page: PetPage;
}

const STATUSES: readonly (PetStatus | undefined)[] = [undefined, ...PetStatus.options];

export class SqlitePets implements EnginePets {
  readonly #file: string;
  readonly #writer: Writer;
  readonly #engine: Engine;
  readonly #changes: Changes;
  readonly #statements: Statements;
  readonly #byId: Query<[json: Written<Pet>]>;
  /** By limit and status. An array, because V8 promotes the entries of a cleared Map to the old generation. */
  readonly #firstPages: (CachedPage | undefined)[] = [];
  readonly #pageQueries: (Query<PageRow> | undefined)[] = [];

  constructor(db: DatabaseSync, file: string, writer: Writer, engine: Engine, changes: Changes) {
    this.#file = file;
    this.#writer = writer;
    this.#engine = engine;
    this.#changes = changes;
    this.#statements = new Statements(db);
    this.#byId = this.#statements.of('SELECT json FROM pets WHERE id = $1');
  }

  /** First pages, which most clients ask for, stay cached until the next commit. Other pages are not cached. */
  async list(query: PetQuery): Promise<PetPage> {
    const { before, categoryId, ids } = query;
    if (before !== undefined || categoryId !== undefined || ids !== undefined) return this.#readPage(query);
    if (!this.#changes.isFresh) await this.#changes.check();
    const index = indexOf(query);
    const cached = this.#firstPages[index];
    const at = this.#changes.all;
    if (cached !== undefined && cached.at === at) return cached.page;
    const page = this.#readPage(query);
    this.#firstPages[index] = { at, page };
    return page;
  }

  #readPage(asked: PetQuery): PetPage {
    const { limit, status, categoryId, ids, before } = asked;
    const from = before === undefined ? INT64_MAX : before - 1n;
    const query =
      categoryId === undefined && ids === undefined
        ? (this.#pageQueries[indexOf(asked)] ??= this.#statements.of(pageSql(asked)))
        : this.#statements.of<PageRow>(pageSql(asked));
    this.#changes.begin();
    const row = query.get(
      from,
      status ?? null,
      categoryId ?? null,
      ids === undefined ? null : `[${ids.join(',')}]`,
    );
    const [count, animals] = row ?? [];
    if (animals === undefined || animals === null) return pageOf('', undefined);
    if (count === undefined || count <= limit) return pageOf(animals, undefined);
    const end = animals.lastIndexOf(SEPARATOR);
    const last = animals.lastIndexOf(SEPARATOR, end - 1) + 1;
    const id = animals.slice(last + SEPARATOR.length - 1, animals.indexOf(',', last));
    return pageOf(animals.slice(0, end), BigInt(id));
  }

  async get(id: bigint): Promise<Written<Pet> | undefined> {
    this.#changes.begin();
    return this.#byId.get(id)?.[0];
  }

  async create(pet: NewPet, idempotency?: Idempotency): Promise<Outcome<201>> {
    if (idempotency !== undefined) return this.#engine.once(idempotency, createPet, pet);
    const id = await this.#writer.run('createPet', [petValues(pet)]);
    return { outcome: 'done', answer: petAdded({ id, ...pet }) };
  }

  readonly addMany: AddPets = (pets) => this.#writer.run('createPets', [pets.flatMap(petValues)]);

  addAtomically<T>(work: (addMany: AddPets) => Promise<T>): Promise<T> {
    return addAtomically(this.#file, work);
  }
}

/** A small number for each limit and status. */
function indexOf({ limit, status }: PetQuery): number {
  return limit * STATUSES.length + STATUSES.indexOf(status);
}

/**
 * SQLite joins the page itself: a row for each animal takes half as long again. One animal more than asked for shows
 * whether another page follows. The limit is part of the text, because SQLite plans a query with a limit as parameter
 * again each time.
 */
function pageSql({ limit, status, categoryId, ids }: PetQuery): string {
  const filters = [
    'id <= $1',
    // Every statement takes the same four values.
    status === undefined ? '$2 IS NULL' : 'status = $2',
    categoryId === undefined ? '$3 IS NULL' : 'category_id = $3',
    ids === undefined ? '$4 IS NULL' : 'id IN (SELECT value FROM json_each($4))',
  ];
  // The aggregate takes its rows in the order of the inner query, which SQLite must keep because of the LIMIT.
  return `SELECT count(*), group_concat(json) FROM (SELECT json FROM pets
    WHERE ${filters.join(' AND ')} ORDER BY id DESC LIMIT ${limit + 1})`;
}

function pageOf(animals: string, next: bigint | undefined): PetPage {
  return { items: `[${animals}]` as PetPage['items'], next };
}
