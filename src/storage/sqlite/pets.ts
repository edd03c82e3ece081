import type { DatabaseSync } from 'node:sqlite';
import { type Clock, DAY } from '../../domain/clock.ts';
import { PetStoreError } from '../../domain/errors.ts';
import { FirstPages } from '../../domain/first-pages.ts';
import { INT64_MAX } from '../../domain/int64.ts';
import type { NewPet } from '../../domain/pet.ts';
import type { Creation, Idempotency, PetPage, PetQuery, PetStore } from '../../domain/ports.ts';
import { replayOf } from '../pet-rows.ts';
import type { Changes } from './changes.ts';
import type { PetValues } from './pet-writes.ts';
import { Query } from './rows.ts';
import type { Writer } from './writer.ts';

/** How long a request whose idempotency key is already in flight waits for the first one's outcome, in milliseconds. */
const IN_FLIGHT_PATIENCE = 1_000;

/** Stands before the id of each animal of a page but the first, and nowhere else: in a string of JSON a quote has a backslash before it. */
const NEXT = ',{"id":';

/** How many animals, and all of them in one text, with commas between them. */
type PageRow = readonly [count: bigint, animals: string | null];

interface FirstPage {
  /** What `Changes` said when it was read. */
  readonly at: bigint | undefined;
  readonly page: PetPage;
}

export class SqlitePets implements PetStore {
  readonly #clock: Clock;
  readonly #writer: Writer;
  readonly #changes: Changes;
  readonly #firstPages = new FirstPages<FirstPage>();
  readonly #inFlight = new Set<string>();
  readonly #db: DatabaseSync;
  readonly #queries = new Map<string, Query<PageRow>>();
  readonly #byId: Query<[json: string]>;

  constructor(db: DatabaseSync, writer: Writer, clock: Clock, changes: Changes) {
    this.#clock = clock;
    this.#changes = changes;
    this.#writer = writer;
    this.#db = db;
    this.#byId = new Query(db, 'SELECT json FROM pets WHERE id = ?');
  }

  /** Until the next commit a first page, which everybody asks for, is the same object; a walk passes through. */
  async list(query: PetQuery): Promise<PetPage> {
    if (query.before !== undefined) return this.#readPage(query);
    if (!this.#changes.isFresh) await this.#changes.check();
    const known = this.#firstPages.get(query);
    const at = this.#changes.all;
    if (known !== undefined && known.at === at) return known.page;
    const page = this.#readPage(query);
    this.#firstPages.set(query, { at, page });
    return page;
  }

  #readPage({ limit, status, before }: PetQuery): PetPage {
    const from = before === undefined ? INT64_MAX : before - 1n;
    const query = this.#pageQuery(limit, status !== undefined);
    this.#changes.begin();
    const row = status === undefined ? query.get(from) : query.get(status, from);
    const [count, animals] = row ?? [];
    if (animals === undefined || animals === null) return { json: '[]', next: undefined };
    if (count === undefined || count <= limit) return { json: `[${animals}]`, next: undefined };
    const end = animals.lastIndexOf(NEXT);
    const last = animals.lastIndexOf(NEXT, end - 1) + 1;
    const id = animals.slice(last + NEXT.length - 1, animals.indexOf(',', last));
    return { json: `[${animals.slice(0, end)}]`, next: BigInt(id) };
  }

  /**
   * The page is put together by SQLite: a row for each animal takes half as long again. One animal more than asked for
   * tells whether another page follows. A limit in the text of the query spares SQLite from planning anew each time.
   */
  #pageQuery(limit: number, ofStatus: boolean): Query<PageRow> {
    const name = `${limit} ${ofStatus}`;
    let query = this.#queries.get(name);
    if (query === undefined) {
      // The aggregate takes its rows in the order of the inner query, which SQLite must keep because of the LIMIT.
      query = new Query(
        this.#db,
        `SELECT count(*), group_concat(json) FROM
         (SELECT json FROM pets WHERE ${ofStatus ? 'status = ? AND ' : ''}id <= ? ORDER BY id DESC LIMIT ${limit + 1})`,
      );
      this.#queries.set(name, query);
    }
    return query;
  }

  async get(id: bigint): Promise<string | undefined> {
    this.#changes.begin();
    return this.#byId.get(id)?.[0];
  }

  async create(pet: NewPet, idempotency?: Idempotency): Promise<Creation> {
    if (idempotency === undefined)
      return createdWith(await this.#writer.run('createPet', [valuesOf(pet)]), pet);
    const name = `${idempotency.accountId} ${idempotency.key}`;
    if (this.#inFlight.has(name)) return this.#follow(name, pet, idempotency);
    this.#inFlight.add(name);
    try {
      return await this.#createOnce(pet, idempotency);
    } finally {
      this.#inFlight.delete(name);
    }
  }

  /** Drops the idempotency records that are older than 24 hours. */
  async forgetOld(): Promise<void> {
    await this.#writer.run('forgetIdempotency', [this.#clock().unix - DAY]);
  }

  /** A second request with a key in flight: the outcome of the first is its answer, if it comes soon. */
  async #follow(name: string, pet: NewPet, idempotency: Idempotency): Promise<Creation> {
    try {
      return await this.#createOnce(pet, idempotency, IN_FLIGHT_PATIENCE);
    } catch (error) {
      if (error instanceof PetStoreError && error.code === 'unavailable' && this.#inFlight.has(name))
        return { outcome: 'in_flight' };
      throw error;
    }
  }

  async #createOnce(pet: NewPet, idempotency: Idempotency, patience?: number): Promise<Creation> {
    const { accountId, key, fingerprint } = idempotency;
    const now = Math.floor(this.#clock().unix);
    const result = await this.#writer.run(
      'createPetOnce',
      [valuesOf(pet), [accountId, key, fingerprint], now, now - DAY],
      patience,
    );
    return typeof result === 'bigint' ? createdWith(result, pet) : replayOf(result, fingerprint);
  }
}

function valuesOf({ name, categoryId, status }: NewPet): PetValues {
  return [name, categoryId, status ?? null];
}

function createdWith(id: bigint, pet: NewPet): Creation {
  return { outcome: 'created', pet: { id, ...pet } };
}
