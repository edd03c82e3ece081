// Contract: section 3.
import { firstId } from '../../domain/page.ts';
import type { Json } from '../../domain/json.ts';
import type { Query, Reader } from '../../storage/sqlite/query.ts';
import { choosePage, chooseRound, type PageKind, type RoundKind } from './pages.ts';
import { PET_STATUSES, type PetStatus } from './rules.ts';
import type { Pet } from './schema.ts';
import { FILTERED, type Filtered, needsRounds, openRounds, requireFolded, ROUND } from './pages-in-rounds.ts';
import { FIND_UNFOLDED, INDEXED_STATUSES, type PetPage, type PetQuery, type PetReads } from './table.ts';

/** Separates the animals of a page, and occurs nowhere else: in a JSON string a quote has a backslash before it. */
const SEPARATOR = ',{"id":';

/** The number of animals, and all of them as JSON with commas between them. */
type PageRow = readonly [count: bigint, animals: string | null];

/**
 * Animals of this status and of the category or the owner `?2`, with an id up to `?1`. INDEXED BY: statistics that are out of
 * date could make SQLite walk all ids instead.
 */
const ofStatus = (by: 'category' | 'owner', status: string, columns = 'id, json') =>
  `SELECT ${columns} FROM pets INDEXED BY pets_by_${by}
     WHERE ${by}_id = ?2 AND coalesce(status, '') = ${status} AND id <= ?1`;

/** The same of any status. SQLite merges the statuses as it goes: it reads three rows more than it needs. */
const ofAnyStatus = (by: 'category' | 'owner', columns?: string) =>
  INDEXED_STATUSES.map((status) => ofStatus(by, `'${status}'`, columns)).join(' UNION ALL ');

/** Filters of a page whose animals are few. A parameter that is null filters nothing. */
const FEW = `id <= ?1 AND (?3 IS NULL OR status = ?3) AND (?4 IS NULL OR category_id = ?4)
  AND (?5 IS NULL OR owner_id = ?5) AND (?6 IS NULL OR folded_name = ?6)`;

/** The animals of each page and those after them. A test shows that an index answers each, however large the table. */
const ANIMALS: Readonly<Record<PageKind, (rows: number, columns?: string) => string>> = {
  all: () => 'SELECT json FROM pets NOT INDEXED WHERE id <= ?1',
  ofStatus: () => 'SELECT json FROM pets INDEXED BY pets_by_status WHERE id <= ?1 AND status = ?2',
  ofCategoryAndStatus: () => ofStatus('category', '?3'),
  ofCategory: () => ofAnyStatus('category'),
  ofOwnerAndStatus: (_, columns) => ofStatus('owner', '?3', columns),
  ofOwner: (_, columns) => ofAnyStatus('owner', columns),
  ofName: (_, columns = 'json') =>
    `SELECT ${columns} FROM pets INDEXED BY pets_by_name WHERE folded_name = ?2 AND id <= ?1`,
  /** CROSS JOIN: SQLite looks up each id of the list, and never walks the animals. */
  ofIds: () => `SELECT id, json FROM (SELECT value AS wanted FROM json_each(?2)) CROSS JOIN pets NOT INDEXED
    WHERE id = wanted AND ${FEW} AND (?7 IS NULL OR reference = ?7)`,
  /** One animal of each owner at most. They are sorted without their JSON. */
  ofReference: (rows) => `SELECT id, json FROM pets NOT INDEXED WHERE id IN (
    SELECT id FROM pets INDEXED BY pets_by_reference WHERE reference = ?2 AND ${FEW} ORDER BY id DESC LIMIT ${rows})`,
};

/** The number of rows is part of the text, because SQLite plans a query with a limit as parameter again each time. */
const selectNewest = (kind: PageKind, rows: number, columns?: string) =>
  `${ANIMALS[kind](rows, columns)} ORDER BY id DESC LIMIT ${rows}`;

/** SQLite joins the page itself: a row for each animal takes half as long again. */
export const selectPage = (kind: PageKind, rows: number) =>
  // The aggregate takes its rows in the order of the inner query, which SQLite must keep because of the LIMIT.
  `SELECT count(*), group_concat(json) FROM (${selectNewest(kind, rows)})`;

export const selectRound = (kind: RoundKind) => selectNewest(kind, ROUND, FILTERED);

/** Bytes of the pages that stay cached. The responses of the pages hold as many again. */
const CACHED_BYTES = 8 * 1024 * 1024;

const STATUSES: readonly (PetStatus | undefined)[] = [undefined, ...PET_STATUSES];

/** The reads of animals, which SQLite keeps as JSON. */
export function openSqliteReads(reader: Reader): PetReads {
  const byId: Query<[json: Json<Pet>]> = reader.of('SELECT json FROM pets WHERE id = ?1');
  /** By limit and status. An array, because V8 promotes the entries of a cleared Map to the old generation. */
  const firstPages: (PetPage | undefined)[] = [];
  let cachedBytes = 0;
  /** `Reader.version` when they were read. */
  let cachedAt: bigint | undefined;

  function readPage(query: PetQuery): PetPage {
    const { limit, cursor } = query;
    const { kind, values } = choosePage(query, writeIds);
    // One animal more than asked for shows whether another page follows.
    const statement = reader.of<PageRow>(`page ${kind} ${limit}`, () => selectPage(kind, limit + 1));
    reader.begin();
    const [count, animals] = statement.get(firstId(cursor), ...values) ?? [];
    if (animals === undefined || animals === null) return toPetPage('', undefined);
    if (count === undefined || count <= limit) return toPetPage(animals, undefined);
    const end = animals.lastIndexOf(SEPARATOR);
    const last = animals.lastIndexOf(SEPARATOR, end - 1) + 1;
    const id = animals.slice(last + SEPARATOR.length - 1, animals.indexOf(',', last));
    return toPetPage(animals.slice(0, end), BigInt(id));
  }

  function look(query: PetQuery, from: bigint): Filtered[] {
    reader.begin();
    const { kind, values } = chooseRound(query);
    return reader.of<Filtered>(`round ${kind}`, () => selectRound(kind)).all(from, ...values);
  }

  const readInRounds = openRounds(look, readPage);

  function forgetPages(): void {
    firstPages.fill(undefined);
    cachedBytes = 0;
    cachedAt = reader.version;
  }

  return {
    /** First pages without other filters, which most clients ask for, stay cached until the next commit. */
    async list(query) {
      const { cursor, categoryId, accountId, id, name, reference } = query;
      if (name !== undefined) {
        reader.begin();
        requireFolded(reader.of(FIND_UNFOLDED.sqlite).all());
      }
      if (needsRounds(query)) return readInRounds(query);
      if ((cursor ?? categoryId ?? accountId ?? id ?? name ?? reference) !== undefined)
        return readPage(query);
      if (!reader.isFresh) await reader.check();
      const index = indexOf(query);
      if (reader.version !== cachedAt) forgetPages();
      const cached = firstPages[index];
      if (cached !== undefined) return cached;
      const read = { ...readPage(query), cache: {} };
      // V8 holds a text in one or two bytes a character.
      cachedBytes += Buffer.byteLength(read.items, 'utf16le');
      if (cachedBytes > CACHED_BYTES) forgetPages();
      else firstPages[index] = read;
      return read;
    },
    async get(id) {
      reader.begin();
      const row = byId.get(id);
      return row === undefined ? { error: 'not_found' } : { value: row[0] };
    },
  };
}

/** Each id once, because a join repeats the animal of an id that comes twice. */
const writeIds = (ids: ReadonlySet<bigint>) => `[${Array.from(ids).join()}]`;

/** A small number for each limit and status. */
function indexOf({ limit, status }: PetQuery): number {
  return limit * STATUSES.length + STATUSES.indexOf(status);
}

function toPetPage(animals: string, next: bigint | undefined): PetPage {
  return { items: `[${animals}]` as PetPage['items'], next };
}
