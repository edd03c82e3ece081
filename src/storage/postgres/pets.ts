import type { Clock } from '../../domain/clock.ts';
import { PetStoreError } from '../../domain/errors.ts';
import { INT64_MAX } from '../../domain/int64.ts';
import type { NewPet, Pet } from '../../domain/pet.ts';
import type { Creation, Idempotency, PetPage, PetQuery, PetStore } from '../../domain/ports.ts';
import { DAY } from '../../domain/quota.ts';
import { PET_COLUMNS, petOf, type PetRow, type RecordRow, replayOf } from '../pet-rows.ts';
import { LOCK_PATIENCE, type Pool } from './database.ts';
import { sqlState } from './errors.ts';
import { InsertBatch } from './insert-batch.ts';
import { SharedReads } from './shared-reads.ts';

/** lock_not_available: the first request with the key did not end in time. */
const LOCK_NOT_AVAILABLE = '55P03';

/** Every hot query; a test shows that each is answered by an index alone, whatever the size of the table. */
export const HOT_QUERIES = {
  page: `SELECT ${PET_COLUMNS} FROM pets WHERE id <= $1 ORDER BY id DESC LIMIT $2`,
  pageOfStatus: `SELECT ${PET_COLUMNS} FROM pets WHERE status = $1 AND id <= $2 ORDER BY id DESC LIMIT $3`,
  pet: `SELECT ${PET_COLUMNS} FROM pets WHERE id = $1`,
  recorded: `SELECT fingerprint, ${PET_COLUMNS} FROM idempotency JOIN pets ON id = pet_id
    WHERE account_id = $1 AND key = $2 AND created_at > $3`,
} as const;

/** Claims the key, or waits for the transaction that claims it now; an old record counts as none. One statement: both or neither. */
const CREATE_ONCE = `
  WITH claimed AS (
    INSERT INTO idempotency VALUES ($1, $2, $3, nextval(pg_get_serial_sequence('pets', 'id')), $4)
    ON CONFLICT (account_id, key) DO UPDATE
      SET fingerprint = excluded.fingerprint, pet_id = excluded.pet_id, created_at = excluded.created_at
      WHERE idempotency.created_at <= $5
    RETURNING pet_id
  )
  INSERT INTO pets SELECT pet_id, $6, $7, $8 FROM claimed RETURNING id`;

export class PostgresPets implements PetStore {
  readonly #pool: Pool;
  readonly #clock: Clock;
  readonly #inserts: InsertBatch;
  readonly #pages = new SharedReads<PetPage>();
  readonly #inFlight = new Map<string, Promise<unknown>>();

  constructor(pool: Pool, clock: Clock) {
    this.#pool = pool;
    this.#clock = clock;
    this.#inserts = new InsertBatch(pool);
  }

  list(query: PetQuery): Promise<PetPage> {
    const { limit, status, before } = query;
    return this.#pages.read(`${limit} ${status} ${before}`, () => this.#readPage(query));
  }

  async get(id: bigint): Promise<Pet | undefined> {
    const [row] = await this.#pool.query<PetRow>(HOT_QUERIES.pet, [id], 'pet');
    return row && petOf(row);
  }

  async create(pet: NewPet, idempotency?: Idempotency): Promise<Creation> {
    if (idempotency === undefined) return { outcome: 'created', pet: await this.#inserts.add(pet) };
    const name = `${idempotency.accountId} ${idempotency.key}`;
    const first = this.#inFlight.get(name);
    if (first !== undefined) {
      if (!(await endsInTime(first))) return { outcome: 'in_flight' };
      return this.#createOnce(pet, idempotency);
    }
    const creation = this.#createOnce(pet, idempotency);
    this.#inFlight.set(name, creation);
    try {
      return await creation;
    } finally {
      this.#inFlight.delete(name);
    }
  }

  /** Drops the idempotency records that are older than 24 hours. */
  async forgetOld(): Promise<void> {
    await this.#pool.query('DELETE FROM idempotency WHERE created_at <= $1', [this.#now() - DAY]);
  }

  async #readPage({ limit, status, before }: PetQuery): Promise<PetPage> {
    const from = before === undefined ? INT64_MAX : before - 1n;
    // One row more than asked for tells whether another page follows.
    const rows =
      status === undefined
        ? await this.#pool.query<PetRow>(HOT_QUERIES.page, [from, limit + 1], 'page')
        : await this.#pool.query<PetRow>(HOT_QUERIES.pageOfStatus, [status, from, limit + 1], 'pageOfStatus');
    return { pets: rows.slice(0, limit).map(petOf), more: rows.length > limit };
  }

  async #createOnce(pet: NewPet, idempotency: Idempotency): Promise<Creation> {
    const { accountId, key, fingerprint } = idempotency;
    const now = this.#now();
    const [known] = await this.#pool.query<RecordRow>(
      HOT_QUERIES.recorded,
      [accountId, key, now - DAY],
      'recorded',
    );
    const replay = replayOf(known, fingerprint);
    if (replay !== undefined) return replay;
    const values = [
      accountId,
      key,
      fingerprint,
      now,
      now - DAY,
      pet.name,
      pet.categoryId,
      pet.status ?? null,
    ];
    try {
      const [row] = await this.#pool.query<[id: bigint]>(CREATE_ONCE, values, 'createOnce');
      if (row !== undefined) return { outcome: 'created', pet: { id: row[0], ...pet } };
    } catch (error) {
      if (error instanceof PetStoreError && sqlState(error.cause) === LOCK_NOT_AVAILABLE)
        return { outcome: 'in_flight' };
      throw error;
    }
    // Another instance was first: its record is there now.
    const [theirs] = await this.#pool.query<RecordRow>(
      HOT_QUERIES.recorded,
      [accountId, key, now - DAY],
      'recorded',
    );
    return replayOf(theirs, fingerprint) ?? { outcome: 'in_flight' };
  }

  #now(): number {
    return Math.floor(this.#clock().unix);
  }
}

/** Whether a promise is settled, either way, before the patience is over. */
async function endsInTime(first: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), LOCK_PATIENCE);
  });
  const ended = first.then(
    () => true as const,
    () => true as const,
  );
  return Promise.race([ended, late]).finally(() => clearTimeout(timer));
}
