// Contract: section 3.
import { setTimeout as wait } from 'node:timers/promises';
import { DAY, MINUTE } from '../domain/clock.ts';
import type { ErrorCode } from '../domain/errors.ts';
import { type Idempotency, IN_FLIGHT, type Repeatable, type Replay } from '../domain/idempotency.ts';
import { type Failure, type Result } from '../domain/result.ts';
import { toJson } from '../domain/json.ts';
import type { Transaction, Write } from './transaction.ts';
import type { Engine, Identified } from './engine.ts';
import { type Sql, sql } from './sql.ts';
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

/** `writeOnce` and `doOnce` of an engine. */
export function openOnce(
  engine: Pick<Engine, 'write'>,
  writeInTransaction: RecordedWrite,
): Pick<Engine, 'writeOnce' | 'doOnce'> {
  const inFlight = new Map<string, { readonly fingerprint: string; readonly result: Promise<AnyResult> }>();
  /** Does it, unless a request with this key is in flight: then it waits for that one. */
  const join = async (
    { waits, ...record }: Idempotency,
    write: (record: Idempotency) => Promise<AnyResult>,
  ): Promise<AnyResult> => {
    const { accountId, key, fingerprint } = record;
    const name = `${accountId} ${key}`;
    const first = inFlight.get(name);
    if (first !== undefined) {
      const awaited = waitFor(first.result);
      const result = await (waits?.until(awaited) ?? awaited);
      if (result === IN_FLIGHT) return IN_FLIGHT;
      // A request with another body must be compared with the record, if there is one. A refusal is not recorded, and it
      // can be about the key of the first request.
      if (first.fingerprint !== fingerprint || 'error' in result) return write(record);
      return 'value' in result ? toReplay(record, result.value) : result;
    }
    const result = write(record);
    inFlight.set(name, { fingerprint, result });
    try {
      return await result;
    } finally {
      inFlight.delete(name);
    }
  };
  const writeOnce = <A extends readonly unknown[], T extends Identified, Code extends ErrorCode>(
    idempotency: Idempotency | undefined,
    work: Write<A, Result<T, Code>>,
    ...args: A
  ): Promise<AnyResult> => {
    if (idempotency === undefined) return engine.write(work, ...args);
    const write = (record: Idempotency) => writeInTransaction(record, work, args);
    return idempotency.isClaimed ? write(idempotency) : join(idempotency, write);
  };
  const doOnce = (
    idempotency: Idempotency | undefined,
    work: (claimed: Idempotency | undefined) => Promise<AnyResult>,
  ): Promise<AnyResult> => {
    if (idempotency === undefined) return work(undefined);
    return join(idempotency, async (record) => {
      const recorded = await engine.write(claimKey, record);
      if (recorded !== undefined) return recorded;
      let result: AnyResult | undefined;
      try {
        return (result = await work({ ...record, isClaimed: true }));
      } finally {
        if (result === undefined || 'error' in result) await engine.write(dropClaim, record);
      }
    });
  };
  // Only with a key is there a replay.
  return { writeOnce, doOnce } as Pick<Engine, 'writeOnce' | 'doOnce'>;
}

/** The result of the first request, or `IN_FLIGHT` if it takes longer than IN_FLIGHT_PATIENCE. */
async function waitFor(first: Promise<AnyResult>): Promise<AnyResult> {
  const over = new AbortController();
  const late = wait(IN_FLIGHT_PATIENCE, IN_FLIGHT, { signal: over.signal });
  return Promise.race([first, late]).finally(() => over.abort());
}

/** The status of a record without an answer. */
const CLAIMED = 0;

/** Milliseconds after which a claim counts as none: no work takes so long, so its process has ended. */
const CLAIM_TIME = MINUTE;

function findRecord({ accountId, key }: Pick<Idempotency, 'accountId' | 'key'>): Sql {
  return sql`WHERE account_id = ${accountId} AND key = ${key}`;
}

/** Undefined: the key is claimed from now on. Otherwise its record says what to answer. */
async function claimKey(
  transaction: Transaction,
  idempotency: Idempotency,
): Promise<Replay | Failure<'conflict' | 'idempotency_key_reused'> | undefined> {
  const { accountId, key, fingerprint } = idempotency;
  const now = Math.floor(await transaction.now());
  let claimed: readonly unknown[];
  try {
    // Waits for a transaction that claims the key at the same time. An expired record counts as none.
    claimed = await transaction.query(sql`
      ${IDEMPOTENCY.insert({ accountId, key, fingerprint, status: CLAIMED, body: '', createdAt: now })}
      ON CONFLICT (account_id, key) DO UPDATE SET fingerprint = excluded.fingerprint, created_at = excluded.created_at
        WHERE idempotency.created_at <= ${now - DAY}
          OR (idempotency.status = ${CLAIMED} AND idempotency.created_at <= ${now - CLAIM_TIME})
      RETURNING 1`);
  } catch (error) {
    if (transaction.dialect.isLockTimeout(error)) return IN_FLIGHT;
    throw error;
  }
  if (claimed.length > 0) return undefined;
  const [before] = await transaction.select(IDEMPOTENCY, findRecord({ accountId, key }));
  return before === undefined ? IN_FLIGHT : parseReplay(before, fingerprint);
}

/** Frees a key whose work was refused or has failed. */
async function dropClaim(transaction: Transaction, idempotency: Idempotency): Promise<void> {
  await transaction.query(sql`DELETE FROM idempotency ${findRecord(idempotency)} AND status = ${CLAIMED}`);
}

/**
 * Does a write and records its answer in the same commit, unless there is a record of the last 24 hours: then it gives back
 * the recorded answer. A refusal is not recorded.
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
  const recorded = idempotency.isClaimed ? undefined : await claimKey(transaction, idempotency);
  if (recorded !== undefined) return recorded;
  const record = findRecord(idempotency);
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
): Replay | Failure<'conflict' | 'idempotency_key_reused'> {
  if (status === CLAIMED) return IN_FLIGHT;
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

export const WRITES = { claimKey, dropClaim, dropExpired };
