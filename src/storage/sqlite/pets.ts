// Contract: section 3.
import { INT64_MAX } from '../../domain/int64.ts';
import type { Pet, PetStatus } from '../../domain/pet.ts';
import { PET_STATUSES } from '../../domain/statuses.ts';
import type { PetPage, PetQuery, Written } from '../../domain/ports.ts';
import type { Value } from '../sql.ts';
import { INDEXED_STATUSES, type PetReads } from '../pets.ts';
import type { Query, Reader } from './query.ts';

/** Separates the animals of a page, and occurs nowhere else: in a JSON string a quote has a backslash before it. */
const SEPARATOR = ',{"id":';

/** The number of animals, and all of them as JSON with commas between them. */
type PageRow = readonly [count: bigint, animals: string | null];

/**
 * The animals of this status and category with an id up to `$1`. INDEXED BY: statistics that are out of date could make
 * SQLite walk all ids instead.
 */
const ofCategory = (status: string) =>
  `SELECT id, json FROM pets INDEXED BY pets_by_category
     WHERE category_id = $2 AND coalesce(status, '') = ${status} AND id <= $1`;

/**
 * The pages that there are. A test shows that an index answers each, however large the table. The number of rows is part of
 * the text, because SQLite plans a query with a limit as parameter again each time.
 */
export const PAGES = {
  all: (rows: number) => joined('SELECT json FROM pets WHERE id <= $1', rows),
  ofStatus: (rows: number) =>
    joined('SELECT json FROM pets INDEXED BY pets_by_status WHERE id <= $1 AND status = $2', rows),
  ofCategoryAndStatus: (rows: number) => joined(ofCategory('$3'), rows),
  /** SQLite merges the statuses as it goes: it reads three rows more than it needs. */
  ofCategory: (rows: number) =>
    joined(INDEXED_STATUSES.map((status) => ofCategory(`'${status}'`)).join(' UNION ALL '), rows),
  /** CROSS JOIN: SQLite looks up each id of the list, and never walks the animals. */
  ofIds: (rows: number) =>
    joined(
      `SELECT id, json FROM (SELECT value AS asked FROM json_each($2)) CROSS JOIN pets NOT INDEXED
         WHERE id = asked AND id <= $1 AND ($3 IS NULL OR status = $3) AND ($4 IS NULL OR category_id = $4)`,
      rows,
    ),
} as const;

type PageKind = keyof typeof PAGES;

/**
 * SQLite joins the page itself: a row for each animal takes half as long again. One animal more than asked for shows
 * whether another page follows.
 */
function joined(animals: string, rows: number): string {
  // The aggregate takes its rows in the order of the inner query, which SQLite must keep because of the LIMIT.
  return `SELECT count(*), group_concat(json) FROM (${animals} ORDER BY id DESC LIMIT ${rows})`;
}

interface CachedPage {
  /** `Reader.version` when it was read. */
  readonly at: bigint | undefined;
  readonly page: PetPage;
}

const STATUSES: readonly (PetStatus | undefined)[] = [undefined, ...PET_STATUSES];

export class SqlitePets implements PetReads {
  readonly #reader: Reader;
  readonly #byId: Query<[json: Written<Pet>]>;
  /** By limit and status. An array, because V8 promotes the entries of a cleared Map to the old generation. */
  readonly #firstPages: (CachedPage | undefined)[] = [];
  /** By limit. */
  readonly #pageQueries: Readonly<Record<PageKind, (Query<PageRow> | undefined)[]>> = {
    all: [],
    ofStatus: [],
    ofCategoryAndStatus: [],
    ofCategory: [],
    ofIds: [],
  };

  constructor(reader: Reader) {
    this.#reader = reader;
    this.#byId = reader.of('SELECT json FROM pets WHERE id = $1');
  }

  /** First pages without other filters, which most clients ask for, stay cached until the next commit. */
  async list(query: PetQuery): Promise<PetPage> {
    const { before, categoryId, ids } = query;
    if (before !== undefined || categoryId !== undefined || ids !== undefined) return this.#readPage(query);
    if (!this.#reader.isFresh) await this.#reader.check();
    const index = indexOf(query);
    const cached = this.#firstPages[index];
    const at = this.#reader.version;
    if (cached !== undefined && cached.at === at) return cached.page;
    const page = this.#readPage(query);
    this.#firstPages[index] = { at, page };
    return page;
  }

  #readPage({ limit, status, categoryId, ids, before }: PetQuery): PetPage {
    const from = before === undefined ? INT64_MAX : before - 1n;
    if (ids !== undefined) {
      // Each id once, because a join repeats the animal of an id that is given twice.
      const asked = `[${Array.from(new Set(ids)).join()}]`;
      return this.#page('ofIds', limit, from, asked, status ?? null, categoryId ?? null);
    }
    if (categoryId === undefined) {
      return status === undefined
        ? this.#page('all', limit, from)
        : this.#page('ofStatus', limit, from, status);
    }
    return status === undefined
      ? this.#page('ofCategory', limit, from, categoryId)
      : this.#page('ofCategoryAndStatus', limit, from, categoryId, status);
  }

  #page(kind: PageKind, limit: number, ...values: readonly Value[]): PetPage {
    const query = (this.#pageQueries[kind][limit] ??= this.#reader.of(PAGES[kind](limit + 1)));
    this.#reader.begin();
    const [count, animals] = query.get(...values) ?? [];
    if (animals === undefined || animals === null) return pageOf('', undefined);
    if (count === undefined || count <= limit) return pageOf(animals, undefined);
    const end = animals.lastIndexOf(SEPARATOR);
    const last = animals.lastIndexOf(SEPARATOR, end - 1) + 1;
    const id = animals.slice(last + SEPARATOR.length - 1, animals.indexOf(',', last));
    return pageOf(animals.slice(0, end), BigInt(id));
  }

  async get(id: bigint): Promise<Written<Pet> | undefined> {
    this.#reader.begin();
    return this.#byId.get(id)?.[0];
  }
}

/** A small number for each limit and status. */
function indexOf({ limit, status }: PetQuery): number {
  return limit * STATUSES.length + STATUSES.indexOf(status);
}

function pageOf(animals: string, next: bigint | undefined): PetPage {
  return { items: `[${animals}]` as PetPage['items'], next };
}
