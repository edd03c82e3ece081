// Contract: section 3.
import { DAY } from '../../domain/clock.ts';
import type { ErrorCode } from '../../domain/errors.ts';
import type { Idempotency } from '../../domain/ports.ts';
import { IN_FLIGHT, type Repeatable, type Result } from '../../domain/result.ts';
import type { Engine, Identified, Transaction } from '../engine.ts';
import { RECORD_COLUMNS, type RecordRow, parseReplay, toReplay } from '../idempotency.ts';
import { type Connections, transactionOn } from './connections.ts';
import { LOCK_PATIENCE } from './database.ts';
import { sqlState } from './errors.ts';

/** lock_not_available: the first request with the key did not end in time. */
const LOCK_NOT_AVAILABLE = '55P03';

/** Unix milliseconds by the clock of the database, so that instances whose clocks differ agree on the age of a record. */
export const DATABASE_NOW = '(extract(epoch FROM now()) * 1000)::bigint';

/**
 * An idempotency record of the last 24 hours. The condition is on the age and not on `created_at`, so that the planner
 * does not read the index by age.
 */
export const RECORDED = `SELECT ${RECORD_COLUMNS} FROM idempotency
  WHERE account_id = $1 AND key = $2 AND ${DATABASE_NOW} - created_at < ${DAY}`;

/**
 * Claims the key. It waits for a transaction that claims the key at the same time. An expired record counts as none.
 * The answer follows in the same transaction.
 */
const CLAIM = `INSERT INTO idempotency (account_id, key, fingerprint, created_at)
  VALUES ($1, $2, $3, ${DATABASE_NOW})
  ON CONFLICT (account_id, key) DO UPDATE
    SET fingerprint = excluded.fingerprint, created_at = excluded.created_at
    WHERE idempotency.created_at <= ${DATABASE_NOW} - ${DAY}
  RETURNING 1`;

const UNCLAIM = 'DELETE FROM idempotency WHERE account_id = $1 AND key = $2';

const RECORD = `UPDATE idempotency SET status = $3, location = $4, body = $5 WHERE account_id = $1 AND key = $2`;

type Outcome = Repeatable<Identified, ErrorCode>;

/** Writes that clients may send again. */
export function onceOver(pool: Connections): Engine['once'] {
  const inFlight = new Map<string, { readonly fingerprint: string; readonly outcome: Promise<Outcome> }>();
  return async (idempotency, work, ...args) => {
    const { accountId, key, fingerprint } = idempotency;
    const write = () => claimAndWrite(pool, idempotency, (transaction) => work(transaction, ...args));
    const name = `${accountId} ${key}`;
    const first = inFlight.get(name);
    if (first !== undefined) {
      const outcome = await outcomeInTime(first.outcome);
      if (outcome === IN_FLIGHT) return IN_FLIGHT;
      // A request with another body must be compared with the record, if there is one. A refusal is not recorded, and it
      // can be about the key of the first request.
      if (first.fingerprint !== fingerprint || 'error' in outcome) return write();
      return 'value' in outcome ? toReplay(idempotency, outcome.value) : outcome;
    }
    const outcome = write();
    inFlight.set(name, { fingerprint, outcome });
    try {
      return await outcome;
    } finally {
      inFlight.delete(name);
    }
  };
}

function claimAndWrite<T extends Identified, Code extends ErrorCode>(
  pool: Connections,
  idempotency: Idempotency,
  work: (transaction: Transaction) => Promise<Result<T, Code>>,
): Promise<Repeatable<T, Code>> {
  const { accountId, key, fingerprint } = idempotency;
  return pool.transaction(async (database): Promise<Repeatable<T, Code>> => {
    try {
      const claimed = await database.query(CLAIM, [accountId, key, fingerprint], 'claim');
      if (claimed.length === 0) {
        const [row] = await database.query<RecordRow>(RECORDED, [accountId, key], 'recorded');
        return row === undefined ? IN_FLIGHT : parseReplay(row, fingerprint);
      }
    } catch (error) {
      // The server turns the COMMIT of a transaction with an error into a ROLLBACK.
      if (sqlState(error) === LOCK_NOT_AVAILABLE) return IN_FLIGHT;
      throw error;
    }
    const result = await work(transactionOn(database));
    if ('error' in result) {
      await database.query(UNCLAIM, [accountId, key], 'unclaim');
      return result;
    }
    const { status, location, json } = toReplay(idempotency, result.value).replay;
    await database.query(RECORD, [accountId, key, status, location, json], 'record');
    return result;
  });
}

/** The outcome of the first request, or `IN_FLIGHT` if it takes longer than LOCK_PATIENCE. */
async function outcomeInTime(first: Promise<Outcome>): Promise<Outcome> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Outcome>((resolve) => {
    timer = setTimeout(() => resolve(IN_FLIGHT), LOCK_PATIENCE);
  });
  return Promise.race([first, late]).finally(() => clearTimeout(timer));
}
