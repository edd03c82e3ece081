// Contract: section 3.
import { DAY } from '../domain/clock.ts';
import type { ErrorCode } from '../domain/errors.ts';
import type { Answer, Idempotency, Outcome, RefusedWrite } from '../domain/ports.ts';
import type { Engine, Write } from './engine.ts';

/** Does a write, and only once if its request has an idempotency key. */
export async function writeOnce<A extends readonly unknown[], Status extends number, Code extends ErrorCode>(
  engine: Engine,
  idempotency: Idempotency | undefined,
  work: Write<A, Answer<Status> | RefusedWrite<Code>>,
  ...args: A
): Promise<Outcome<Status, Code>> {
  if (idempotency !== undefined) return engine.once(idempotency, work, ...args);
  const answer = await engine.write(work, ...args);
  return 'refused' in answer ? { outcome: 'refused', ...answer } : { outcome: 'done', answer };
}

/** What a repeated request needs of its record. */
export const RECORD_COLUMNS = 'fingerprint, status, location, body';

export type RecordRow = readonly [fingerprint: string, status: bigint, location: string | null, body: string];

/** The outcome of a request with this fingerprint whose idempotency key has this record. */
export function outcomeOf<Status extends number>(
  [recorded, status, location, json]: RecordRow,
  fingerprint: string,
): Outcome<Status> {
  if (recorded !== fingerprint) return { outcome: 'reused' };
  const answer = { status: Number(status) as Status, location: location ?? undefined, json };
  return { outcome: 'replayed', answer };
}

/** Idempotency records that one statement deletes: few enough that it takes milliseconds. */
const EXPIRED_ROWS = 5_000;

/** Deletes idempotency records that are older than 24 hours. Returns whether there may be more. */
export async function dropExpiredRecords(engine: Engine): Promise<boolean> {
  const dropped = await engine.change(
    `WITH expired AS MATERIALIZED (
       SELECT account_id, key FROM idempotency WHERE created_at <= $1
       ORDER BY created_at LIMIT ${EXPIRED_ROWS} FOR UPDATE SKIP LOCKED
     )
     DELETE FROM idempotency WHERE (account_id, key) IN (SELECT account_id, key FROM expired) RETURNING 1`,
    [Math.floor((await engine.now()) - DAY)],
  );
  return dropped.length === EXPIRED_ROWS;
}
