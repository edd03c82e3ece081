// Contract: section 3.
import { setTimeout as wait } from 'node:timers/promises';
import { DAY } from '../domain/clock.ts';
import type { ErrorCode } from '../domain/errors.ts';
import { type Idempotency, IN_FLIGHT, type Repeatable, type Replay } from '../domain/idempotency.ts';
import { type Failure, type Result } from '../domain/result.ts';
import { toJson } from '../domain/json.ts';
import type { Transaction, Write } from './transaction.ts';
import type { Engine, Identified } from './engine.ts';
import { sql } from './sql.ts';
import { instant, integer, optional, type Stored, Table, text } from './table.ts';

export const IDEMPOTENCY = new Table(
  'idempotency',
  {
    accountId: integer,
    key: text,
    fingerprint: text,
    status: integer,
    location: optional(text),
    body: text,
    createdAt: instant,
  },
  { key: ['account_id', 'key'] },
);

export const TABLES = [IDEMPOTENCY];

/** Milliseconds that a request waits for the first request with its idempotency key. */
const IN_FLIGHT_PATIENCE = 1_000;

type AnyResult = Repeatable<Identified, ErrorCode>;

/** Does a write in a transaction of its own, by `writeRecorded`. */
type RecordedWrite = <A extends readonly unknown[], T extends Identified, Code extends ErrorCode>(
  idempotency: Idempotency,
  work: Write<A, Result<T, Code>>,
  args: A,
) => Promise<Repeatable<T, Code>>;

/** `writeOnce` of an engine. */
export function openWriteOnce(
  engine: Pick<Engine, 'write'>,
  writeInTransaction: RecordedWrite,
): Engine['writeOnce'] {
  const inFlight = new Map<string, { readonly fingerprint: string; readonly result: Promise<AnyResult> }>();
  const writeOnce: <A extends readonly unknown[], T extends Identified, Code extends ErrorCode>(
    idempotency: Idempotency | undefined,
    work: Write<A, Result<T, Code>>,
    ...args: A
  ) => Promise<Repeatable<T, Code>> = async (idempotency, work, ...args) => {
    if (idempotency === undefined) return engine.write(work, ...args);
    const { waits, ...record } = idempotency;
    const { accountId, key, fingerprint } = record;
    const write = () => writeInTransaction(record, work, args);
    const name = `${accountId} ${key}`;
    const first = inFlight.get(name);
    if (first !== undefined) {
      const awaited = waitFor(first.result);
      const result = await (waits?.until(awaited) ?? awaited);
      if (result === IN_FLIGHT) return IN_FLIGHT;
      // A request with another body must be compared with the record, if there is one. A refusal is not recorded, and it
      // can be about the key of the first request.
      if (first.fingerprint !== fingerprint || 'error' in result) return write();
      return 'value' in result ? toReplay(idempotency, result.value) : result;
    }
    const result = write();
    inFlight.set(name, { fingerprint, result });
    try {
      return await result;
    } finally {
      inFlight.delete(name);
    }
  };
  // Only with a key is there a replay.
  return writeOnce as Engine['writeOnce'];
}

/** The result of the first request, or `IN_FLIGHT` if it takes longer than IN_FLIGHT_PATIENCE. */
async function waitFor(first: Promise<AnyResult>): Promise<AnyResult> {
  const over = new AbortController();
  const late = wait(IN_FLIGHT_PATIENCE, IN_FLIGHT, { signal: over.signal });
  return Promise.race([first, late]).finally(() => over.abort());
}

/**
 * Does a write and records its answer in the same commit, unless there is a record of the last 24 hours: then it gives back
 * the recorded answer. A refusal is not recorded. `now`: Unix milliseconds by the clock of the database.
 */
export async function writeRecorded<
  A extends readonly unknown[],
  T extends Identified,
  Code extends ErrorCode,
>(
  transaction: Transaction,
  idempotency: Idempotency,
  work: Write<A, Result<T, Code>>,
  args: A,
): Promise<Repeatable<T, Code>> {
  const { accountId, key, fingerprint } = idempotency;
  const now = Math.floor(await transaction.now());
  let claimed: readonly unknown[];
  try {
    // Waits for a transaction that claims the key at the same time. An expired record counts as none.
    claimed = await transaction.query(sql`
      ${IDEMPOTENCY.insert({ accountId, key, fingerprint, status: 0, body: '', createdAt: now })}
      ON CONFLICT (account_id, key) DO UPDATE SET fingerprint = excluded.fingerprint, created_at = excluded.created_at
        WHERE idempotency.created_at <= ${now - DAY}
      RETURNING 1`);
  } catch (error) {
    if (transaction.dialect.isLockTimeout(error)) return IN_FLIGHT;
    throw error;
  }
  const record = sql`WHERE account_id = ${accountId} AND key = ${key}`;
  if (claimed.length === 0) {
    const [before] = await transaction.select(IDEMPOTENCY, record);
    return before === undefined ? IN_FLIGHT : parseReplay(before, fingerprint);
  }
  const result = await work(transaction, ...args);
  if ('error' in result) {
    await transaction.query(sql`DELETE FROM idempotency ${record}`);
    return result;
  }
  const { status, location, json: body } = toReplay(idempotency, result.value).replay;
  await transaction.query(
    sql`UPDATE idempotency SET ${IDEMPOTENCY.set({ status, location, body })} ${record}`,
  );
  return result;
}

/** The answer to a write, as its record has it. */
export function toReplay({ status, location }: Idempotency, value: Identified): Replay {
  return {
    replay: { status, location: location?.replace('{id}', String(value.id)), json: toJson(value) },
  };
}

/** The answer to a request with this fingerprint whose idempotency key has this record. */
function parseReplay(
  { fingerprint: recorded, status, location, body }: Stored<typeof IDEMPOTENCY>,
  fingerprint: string,
): Replay | Failure<'idempotency_key_reused'> {
  if (recorded !== fingerprint) return { error: 'idempotency_key_reused' };
  return { replay: { status, location, json: body } };
}

/** Idempotency records that one statement deletes: few enough that it takes milliseconds. */
const EXPIRED_ROWS = 5_000;

/** Deletes idempotency records that are older than 24 hours. Returns whether there may be more. */
export async function dropExpired(transaction: Transaction): Promise<boolean> {
  const dropped = await transaction.query(sql`
    WITH expired AS MATERIALIZED (
      SELECT account_id, key FROM idempotency WHERE created_at <= ${Math.floor(await transaction.now()) - DAY}
      ORDER BY created_at LIMIT ${EXPIRED_ROWS} ${transaction.dialect.forUpdateOfUnlocked(IDEMPOTENCY)}
    )
    DELETE FROM idempotency WHERE (account_id, key) IN (SELECT account_id, key FROM expired) RETURNING 1`);
  return dropped.length === EXPIRED_ROWS;
}

export const WRITES = { dropExpired };
