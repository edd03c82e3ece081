// Contract: section 3.
import type { NewPet } from '../../domain/pet.ts';
import type { Creation, Idempotency } from '../../domain/ports.ts';
import { DAY } from '../../domain/clock.ts';
import { PET_COLUMNS, type RecordRow, replayOf } from '../pet-rows.ts';
import { LOCK_PATIENCE } from './database.ts';
import type { Pool } from './pool.ts';
import { sqlState } from './errors.ts';

/** lock_not_available: the first request with the key did not end in time. */
const LOCK_NOT_AVAILABLE = '55P03';

/** Records dropped by one statement: few enough that it is over in milliseconds. */
const CHUNK = 5_000;

/** In Unix milliseconds, by the clock of the database: instances whose clocks differ agree on the age of a record. */
const NOW = '(extract(epoch FROM now()) * 1000)::bigint';
const FORGOTTEN_UNTIL = `${NOW} - ${DAY}`;

/**
 * An idempotency record that is not too old, with its animal. A condition on the age, not on `created_at`, keeps the
 * planner from reading the index by age.
 */
export const RECORDED = `SELECT fingerprint, ${PET_COLUMNS} FROM idempotency JOIN pets ON id = pet_id
  WHERE account_id = $1 AND key = $2 AND ${NOW} - created_at < ${DAY}`;

/** Claims the key, or waits for the transaction that claims it now; an old record counts as none. One statement: both or neither. */
const CREATE = `
  WITH claimed AS (
    INSERT INTO idempotency (account_id, key, fingerprint, pet_id, created_at)
    VALUES ($1, $2, $3, nextval('pets_id_seq'), ${NOW})
    ON CONFLICT (account_id, key) DO UPDATE
      SET fingerprint = excluded.fingerprint, pet_id = excluded.pet_id, created_at = excluded.created_at
      WHERE idempotency.created_at <= ${FORGOTTEN_UNTIL}
    RETURNING pet_id
  )
  INSERT INTO pets (id, name, category_id, status) SELECT pet_id, $4, $5, $6 FROM claimed RETURNING id`;

/** Several instances may do this at once: none waits for the rows that another one drops. */
const FORGET = `
  DELETE FROM idempotency WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM idempotency WHERE created_at <= ${FORGOTTEN_UNTIL}
    ORDER BY created_at LIMIT ${CHUNK} FOR UPDATE SKIP LOCKED
  )) RETURNING 1`;

interface First {
  readonly fingerprint: string;
  readonly creation: Promise<Creation>;
}

/** Creates that may be sent again. */
export class IdempotentCreates {
  readonly #pool: Pool;
  readonly #inFlight = new Map<string, First>();

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  async create(pet: NewPet, idempotency: Idempotency): Promise<Creation> {
    const { accountId, key, fingerprint } = idempotency;
    const name = `${accountId} ${key}`;
    const first = this.#inFlight.get(name);
    if (first !== undefined) {
      const outcome = await outcomeInTime(first.creation);
      // Another body has to be compared with what is recorded, if anything is.
      if (outcome.outcome === 'in_flight' || first.fingerprint === fingerprint) return repeated(outcome);
      return this.#create(pet, idempotency);
    }
    const creation = this.#create(pet, idempotency);
    this.#inFlight.set(name, { fingerprint, creation });
    try {
      return await creation;
    } finally {
      this.#inFlight.delete(name);
    }
  }

  /** Drops records that are older than 24 hours, some thousand at a time. Gives whether there may be more. */
  async forgetOld(): Promise<boolean> {
    const dropped = await this.#pool.query(FORGET);
    return dropped.length === CHUNK;
  }

  async #create(pet: NewPet, { accountId, key, fingerprint }: Idempotency): Promise<Creation> {
    const recorded = async () => {
      const [row] = await this.#pool.query<RecordRow>(RECORDED, [accountId, key], 'recorded');
      return row && replayOf(row, fingerprint);
    };
    const replay = await recorded();
    if (replay !== undefined) return replay;
    const values = [accountId, key, fingerprint, pet.name, pet.categoryId, pet.status ?? null];
    try {
      const [row] = await this.#pool.query<[id: bigint]>(CREATE, values, 'createOnce');
      if (row !== undefined) return { outcome: 'created', pet: { id: row[0], ...pet } };
    } catch (error) {
      if (sqlState(error) === LOCK_NOT_AVAILABLE) return { outcome: 'in_flight' };
      throw error;
    }
    // Another instance was first: its record is there now.
    return (await recorded()) ?? { outcome: 'in_flight' };
  }
}

/** What a request gets that is the same as the one with this outcome. */
function repeated(creation: Creation): Creation {
  return creation.outcome === 'created' ? { outcome: 'replayed', pet: creation.pet } : creation;
}

/** The outcome of the first request, or that it has none when the patience is over. */
async function outcomeInTime(first: Promise<Creation>): Promise<Creation> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Creation>((resolve) => {
    timer = setTimeout(() => resolve({ outcome: 'in_flight' }), LOCK_PATIENCE);
  });
  return Promise.race([first, late]).finally(() => clearTimeout(timer));
}
