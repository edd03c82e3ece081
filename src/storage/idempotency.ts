// Contract: section 3.
import { DAY } from '../domain/clock.ts';
import type { ErrorCode } from '../domain/errors.ts';
import type { Idempotency } from '../domain/ports.ts';
import type { Failure, Repeatable, Replay, Result } from '../domain/result.ts';
import { toJson } from '../domain/written.ts';
import type { Engine, Identified, Write } from './engine.ts';

/** Does a write, and only once if its request has an idempotency key. */
export function writeOnce<A extends readonly unknown[], T extends Identified, Code extends ErrorCode>(
  engine: Engine,
  idempotency: Idempotency | undefined,
  work: Write<A, Result<T, Code>>,
  ...args: A
): Promise<Repeatable<T, Code>> {
  return idempotency === undefined ? engine.write(work, ...args) : engine.once(idempotency, work, ...args);
}

/** What a repeated request needs of its record. */
export const RECORD_COLUMNS = 'fingerprint, status, location, body';

export type RecordRow = readonly [fingerprint: string, status: bigint, location: string | null, body: string];

/** The answer to a write, as its record has it. */
export function toReplay({ status, location }: Idempotency, value: Identified): Replay {
  return {
    replay: { status, location: location?.replace('{id}', String(value.id)), json: toJson(value) },
  };
}

/** The answer to a request with this fingerprint whose idempotency key has this record. */
export function parseReplay(
  [recorded, status, location, json]: RecordRow,
  fingerprint: string,
): Replay | Failure<'idempotency_key_reused'> {
  if (recorded !== fingerprint) return { error: 'idempotency_key_reused' };
  return { replay: { status: Number(status), location: location ?? undefined, json } };
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
