// Contract: sections 3.14, 5 and 10.
import { setImmediate as letOthersRun } from 'node:timers/promises';
import { checkKey, isInForce, type KeyRecord, type KeyState, type Scope } from '../../domain/account.ts';
import type { ApiKey, ApiKeyHash, Environment } from '../../domain/api-key.ts';
import type { Actor, AuditChange, OperatorActor } from '../../domain/audit.ts';
import { type Clock, DAY } from '../../domain/clock.ts';
import type { ErrorCode } from '../../domain/errors.ts';
import { instantOrNull, textFromInstant } from '../../domain/instant.ts';
import { INT64_MAX } from '../../domain/int64.ts';
import type { Idempotency, Repeatable } from '../../domain/idempotency.ts';
import type { Failure, Result } from '../../domain/result.ts';
import type { KeyUse } from '../../observability/key-usage.ts';
import type { AnyEngine } from '../../storage/open.ts';
import { empty, join, raw, type Sql, sql } from '../../storage/sql.ts';
import type { Stored } from '../../storage/table.ts';
import type { Transaction } from '../../storage/transaction.ts';
import { addAudit, countCreatedKeys } from '../audit/repository.ts';
import { addKeyNotice } from '../notices/repository.ts';
import { PostgresLookup, writeUses } from './postgres.ts';
import {
  MOST_KEYS_A_DAY,
  MOST_LIVE_KEYS,
  refuseReplaced,
  refuseRotation,
  refuseScopes,
  rotatedExpiry,
  TOO_MANY_KEYS,
} from './rules.ts';
import { SqliteLookup } from './sqlite.ts';
import { KEYS, parseKey, SELECT_KEYS } from './table.ts';

export const TABLES = [KEYS];

interface KeySettings {
  readonly accountId: number;
  readonly label?: string | undefined;
  readonly scopes: readonly Scope[];
  /** Unix milliseconds. */
  readonly expiresAt?: number | undefined;
}

export interface NewKey extends KeySettings {
  /** The key itself, of which only hash and ending are stored. */
  readonly key: ApiKey;
}

/** A new key that replaces another one and has its settings. */
export interface Rotation {
  readonly id: number | bigint;
  readonly key: ApiKey;
  /** Milliseconds that the old key still works, but never past its own expiry. */
  readonly grace: number;
}

/** What is stored of a key itself. */
type StoredKey = Pick<Stored<typeof KEYS>, 'hash' | 'ending' | 'environment'>;

function toStored(key: ApiKey): StoredKey {
  return { hash: key.hash().hex, ending: key.ending, environment: key.environment };
}

const FOREVER = raw(String(INT64_MAX));

/** Keys that have neither ended nor been revoked at the instant `now`. */
const isLive = (now: number) => sql`k.revoked_at IS NULL AND coalesce(k.expires_at, ${FOREVER}) > ${now}`;

/** Keys of an account that work. The index `keys_live` has them, however many have ended. */
const isLiveIn = (accountId: number, environment: Environment, now: number) =>
  sql`k.account_id = ${accountId} AND k.environment = ${environment} AND ${isLive(now)}`;

const selectById = (id: number | bigint) => sql`${SELECT_KEYS} WHERE k.id = ${id}`;

async function findKey(transaction: Transaction, id: number | bigint): Promise<KeyRecord | undefined> {
  const [row] = await transaction.query(selectById(id));
  return row && parseKey(row);
}

/**
 * Locks the key that makes a change, if the actor is one, its account, and the key `target` until the commit. Gives back the
 * actor's key. Each instance caches keys, so it can have been revoked, and its account suspended, although its request was
 * authenticated.
 */
async function lockKeys(
  transaction: Transaction,
  actor: Actor,
  target: number | bigint | undefined,
  now: number,
): Promise<Result<KeyRecord | undefined, 'unauthorized'>> {
  const callerId = actor.kind === 'key' ? actor.id : undefined;
  const ids = [callerId, target].filter((id) => id !== undefined);
  // By ascending id, and before the account, as in every other transaction that locks several of these: others could deadlock.
  if (ids.length > 0)
    await transaction.query(
      sql`SELECT id FROM keys WHERE id IN (${join(ids)}) ORDER BY id ${transaction.dialect.forUpdate()}`,
    );
  if (callerId === undefined) return { value: undefined };
  await transaction.query(sql`
    SELECT id FROM accounts WHERE id = (SELECT account_id FROM keys WHERE id = ${callerId})
    ${transaction.dialect.forUpdate()}`);
  return checkKey(await findKey(transaction, callerId), now);
}

/** A key that a calling key may see: one of its account and environment. */
function isVisible({ account, environment }: KeyRecord, caller: KeyRecord | undefined): boolean {
  return caller === undefined || (account.id === caller.account.id && environment === caller.environment);
}

/**
 * Why the keys of a locked account create no more keys, or undefined if they may. With `advice`, one more key would work
 * than before.
 */
async function refuseMore(
  transaction: Transaction,
  { account, environment }: KeyRecord,
  advice: string | undefined,
  now: number,
): Promise<Failure<'conflict'> | undefined> {
  if (advice !== undefined) {
    const live = await transaction.query(
      sql`SELECT 1 FROM keys k WHERE ${isLiveIn(account.id, environment, now)} LIMIT ${MOST_LIVE_KEYS}`,
    );
    if (live.length === MOST_LIVE_KEYS) return { error: 'conflict', message: `${TOO_MANY_KEYS}: ${advice}.` };
  }
  // The clock of the audit log, which tells the keys that operators created from the account's own.
  const today = await transaction.now();
  const midnight = today - (today % DAY);
  if ((await countCreatedKeys(transaction, account.id, midnight)) < MOST_KEYS_A_DAY) return undefined;
  const message = `The account has created ${MOST_KEYS_A_DAY} keys in this UTC day: try again from ${textFromInstant(midnight + DAY)}.`;
  return { error: 'conflict', message };
}

/** Clients get the message of the operation instead. */
function notFound(id: number | bigint, caller?: KeyRecord): Failure<'not_found'> {
  return caller === undefined
    ? { error: 'not_found', message: `There is no key ${id}.` }
    : { error: 'not_found' };
}

async function insertKey(
  transaction: Transaction,
  key: KeySettings & StoredKey,
  now: number,
): Promise<KeyRecord> {
  const [row] = await transaction.query<[id: bigint]>(
    sql`${KEYS.insert({ ...key, createdAt: now })} RETURNING id`,
  );
  const record = row && (await findKey(transaction, row[0]));
  if (record === undefined) throw new Error('The new key is not in the database.');
  return record;
}

function keyChange(
  action: string,
  { id, account }: KeyRecord,
  values: Pick<AuditChange, 'before' | 'after'>,
): AuditChange {
  return { action, target: { kind: 'key', name: String(id) }, accountId: account.id, ...values };
}

/** Adds a key. Keys that add keys have rules; operators and the system have none. */
async function createKey(
  transaction: Transaction,
  actor: Actor,
  key: KeySettings & StoredKey,
  now: number,
): Promise<Result<KeyRecord, 'unauthorized' | 'insufficient_scope' | 'invalid_request' | 'conflict'>> {
  const locked = await lockKeys(transaction, actor, undefined, now);
  if ('error' in locked) return locked;
  const { value: caller } = locked;
  if (caller !== undefined) {
    const lacking = refuseReplaced(caller) ?? refuseScopes(key.scopes, caller);
    if (lacking !== undefined) return lacking;
    if (key.expiresAt !== undefined && key.expiresAt <= now) return { error: 'invalid_request' };
    const tooMany = await refuseMore(transaction, caller, 'revoke one first', now);
    if (tooMany !== undefined) return tooMany;
  }
  const record = await insertKey(transaction, key, now);
  const { environment, label, scopes, expiresAt } = record;
  const after = { environment, label: label ?? null, scopes, expiresAt: instantOrNull(expiresAt) };
  await addAudit(transaction, actor, keyChange('keys create', record, { after }));
  return { value: record };
}

/** Replaces a key. Of several rotations at once one is done. */
async function rotateKey(
  transaction: Transaction,
  actor: Actor,
  { id, grace, ...stored }: Omit<Rotation, 'key'> & StoredKey,
  now: number,
): Promise<Result<KeyRecord, 'unauthorized' | 'insufficient_scope' | 'not_found' | 'conflict'>> {
  const locked = await lockKeys(transaction, actor, id, now);
  if ('error' in locked) return locked;
  const { value: caller } = locked;
  const replaced = caller && refuseReplaced(caller);
  if (replaced !== undefined) return replaced;
  const old = await findKey(transaction, id);
  if (old === undefined || !isVisible(old, caller)) return notFound(id, caller);
  const refused = refuseRotation(old, now) ?? (caller && refuseScopes(old.scopes, caller));
  if (refused !== undefined) return refused;
  const { account, label, scopes, expiresAt } = old;
  const end = rotatedExpiry(old, now, grace);
  if (caller !== undefined) {
    const advice = isInForce({ ...old, expiresAt: end }, now)
      ? 'revoke one, or send a grace of 0'
      : undefined;
    const tooMany = await refuseMore(transaction, caller, advice, now);
    if (tooMany !== undefined) return tooMany;
  }
  const key = { accountId: account.id, label, scopes, expiresAt, ...stored };
  const record = await insertKey(transaction, key, now);
  await updateKey(transaction, old.id, { expiresAt: end, rotatedTo: record.id });
  await addKeyNotice(transaction, 'key rotated', old.id);
  const before = { expiresAt: instantOrNull(expiresAt) };
  const after = { expiresAt: textFromInstant(end), rotatedTo: record.id };
  await addAudit(transaction, actor, keyChange('keys rotate', old, { before, after }));
  return { value: record };
}

/** Ends a key now, unless it is revoked already. A key has no entity tag, so none is current. */
async function revokeKey(
  transaction: Transaction,
  actor: Actor,
  id: number | bigint,
  ifMatch: readonly string[] | undefined,
  now: number,
): Promise<Result<KeyRecord, 'unauthorized' | 'not_found' | 'precondition_failed'>> {
  const locked = await lockKeys(transaction, actor, id, now);
  if ('error' in locked) return locked;
  const key = await findKey(transaction, id);
  if (key === undefined || !isVisible(key, locked.value)) return notFound(id, locked.value);
  if (ifMatch !== undefined && !ifMatch.includes('*')) return { error: 'precondition_failed' };
  if (key.revokedAt !== undefined) return { value: key };
  await updateKey(transaction, key.id, { revokedAt: now });
  await addKeyNotice(transaction, 'key revoked', key.id);
  const after = { revokedAt: textFromInstant(now) };
  await addAudit(transaction, actor, keyChange('keys revoke', key, { after }));
  return { value: { ...key, revokedAt: now } };
}

async function updateKey(
  transaction: Transaction,
  id: number,
  columns: Parameters<typeof KEYS.set>[0],
): Promise<void> {
  await transaction.query(sql`UPDATE keys SET ${KEYS.set(columns)} WHERE id = ${id}`);
}

/** Writes when keys were last used. PostgreSQL has one statement for all of them instead. */
async function touchKeys(transaction: Transaction, uses: readonly KeyUse[]): Promise<void> {
  for (const [id, lastUsedAt] of uses) await updateKey(transaction, id, { lastUsedAt });
}

export const WRITES = { create: createKey, rotate: rotateKey, revoke: revokeKey, touch: touchKeys };

export interface KeyFilter {
  /** `valid`: requests with the key are accepted, unless it is banned. */
  readonly state?: KeyState | 'suspended' | 'valid' | undefined;
  /** Milliseconds in which nobody has used the key. */
  readonly unusedFor?: number | undefined;
  /** Milliseconds in which the key ends. Such a key still works. */
  readonly expiresWithin?: number | undefined;
}

interface KeyQuery {
  readonly accountId?: number | undefined;
  readonly filter?: KeyFilter | undefined;
}

export interface KeyPageQuery extends KeyQuery {
  /** Only keys with a smaller id: where the page before ended. */
  readonly before?: number | bigint | undefined;
  /** Only these keys: at most some hundreds. */
  readonly ids?: readonly number[] | undefined;
  readonly limit: number;
}

/** The keys in each state at the instant `now`, as `keyState` and `checkKey` have it. */
const IN_STATE: Readonly<Record<NonNullable<KeyFilter['state']>, (now: number) => Sql>> = {
  active: (now) => sql`${isLive(now)} AND k.rotated_to IS NULL`,
  rotated: (now) => sql`${isLive(now)} AND k.rotated_to IS NOT NULL`,
  expired: (now) => sql`k.revoked_at IS NULL AND k.expires_at <= ${now}`,
  revoked: () => sql`k.revoked_at IS NOT NULL`,
  suspended: () => sql`a.suspended_at IS NOT NULL`,
  valid: (now) => sql`${isLive(now)} AND a.suspended_at IS NULL`,
};

function filterConditions({ state, unusedFor, expiresWithin }: KeyFilter, now: number): Sql[] {
  const conditions: Sql[] = [];
  if (state !== undefined) conditions.push(IN_STATE[state](now));
  if (unusedFor !== undefined)
    conditions.push(sql`coalesce(k.last_used_at, k.created_at) <= ${now - unusedFor}`);
  if (expiresWithin !== undefined)
    conditions.push(sql`${isLive(now)} AND k.expires_at <= ${now + expiresWithin}`);
  return conditions;
}

/** Keys that one statement looks at: a few milliseconds of the thread that also answers requests, with SQLite. */
const KEYS_READ = 4_000;

const REPEATED = {
  error: 'conflict',
  message:
    'A request with this Idempotency-Key created a key before, and the key itself is not stored: list the keys, revoke the one that it created, and create another with a key that was not rotated.',
} as const;

/** The codes that refuse a key as the actor a new key. */
type IssueCode = 'unauthorized' | 'insufficient_scope' | 'conflict' | 'idempotency_key_reused';

export type KeyRepository = ReturnType<typeof open>;

export function open(engine: AnyEngine, { clock }: { readonly clock: Clock }) {
  const lookup =
    engine.kind === 'sqlite' ? new SqliteLookup(engine.reader) : new PostgresLookup(engine.pool, clock);
  const now = () => Math.floor(clock().unix);
  const forget = () => lookup.forget();

  async function read(statement: Sql): Promise<readonly KeyRecord[]> {
    return (await engine.read(statement)).map(parseKey);
  }

  async function find(id: number): Promise<Result<KeyRecord, 'not_found'>> {
    const [key] = await read(selectById(id));
    return key === undefined ? notFound(id) : { value: key };
  }

  /** What became of a write that adds a key. A request that repeats it gets no key, because the key itself is not stored. */
  async function complete<Code extends ErrorCode>(
    actor: Actor,
    writing: Promise<Repeatable<KeyRecord, Code>>,
  ): Promise<Result<KeyRecord, Code | IssueCode>> {
    const written = await writing.finally(forget);
    if ('value' in written) return written;
    if (actor.kind === 'key') {
      // The work that checks the caller is not done for a repeated request.
      const [row] = await read(selectById(actor.id));
      const caller = checkKey(row, now());
      if ('error' in caller) return caller;
    }
    return 'replay' in written ? REPEATED : written;
  }

  /**
   * Adds a key. The codes are only for a key as the actor. `unauthorized`: it is not valid. `insufficient_scope`: it lacks a
   * scope, or was rotated. `invalid_request`: `expiresAt` has passed. `conflict`: `MOST_LIVE_KEYS` work, `MOST_KEYS_A_DAY` were
   * created today, or the request repeats one that created a key.
   */
  async function create(actor: OperatorActor, key: NewKey): Promise<Result<KeyRecord>>;
  async function create(
    actor: Actor,
    key: NewKey,
    idempotency?: Idempotency,
  ): Promise<Result<KeyRecord, IssueCode | 'invalid_request'>>;
  async function create(actor: Actor, { key, ...settings }: NewKey, idempotency?: Idempotency) {
    const stored = { ...settings, ...toStored(key) };
    return complete(actor, engine.writeOnce(idempotency, createKey, actor, stored, now()));
  }

  /** `conflict`: the old key is rotated already, expired or revoked. The other codes are those of `create`. */
  async function rotate(
    actor: OperatorActor,
    rotation: Rotation,
  ): Promise<Result<KeyRecord, 'not_found' | 'conflict'>>;
  async function rotate(
    actor: Actor,
    rotation: Rotation,
    idempotency?: Idempotency,
  ): Promise<Result<KeyRecord, IssueCode | 'not_found'>>;
  async function rotate(actor: Actor, { key, ...rotation }: Rotation, idempotency?: Idempotency) {
    const stored = { ...rotation, ...toStored(key) };
    return complete(actor, engine.writeOnce(idempotency, rotateKey, actor, stored, now()));
  }

  /** Ends a key from now on. A key that was revoked before stays as it is. */
  async function revoke(actor: OperatorActor, id: number): Promise<Result<KeyRecord, 'not_found'>>;
  async function revoke(
    actor: Actor,
    id: number | bigint,
    ifMatch?: readonly string[],
  ): ReturnType<typeof revokeKey>;
  async function revoke(actor: Actor, id: number | bigint, ifMatch?: readonly string[]) {
    return engine.write(revokeKey, actor, id, ifMatch, now()).finally(forget);
  }

  return {
    find,
    findByHash: (hash: ApiKeyHash) => lookup.findByHash(hash),
    /** Forgets what this process knows of keys. Call it after a change of an account. */
    forget,
    /** Ascending id, of all environments, in one statement: for commands, because it can hold up requests. */
    list({ accountId, filter = {} }: KeyQuery = {}): Promise<readonly KeyRecord[]> {
      const conditions = filterConditions(filter, now());
      if (accountId !== undefined) conditions.push(sql`k.account_id = ${accountId}`);
      const where = conditions.length === 0 ? empty : sql`WHERE ${join(conditions, ' AND ')}`;
      return read(sql`${SELECT_KEYS} ${where} ORDER BY k.id`);
    },
    /** Newest first. A filter that few keys fit reads many keys; requests run in between. */
    async page(
      environment: Environment,
      { accountId, before, ids, limit, filter = {} }: KeyPageQuery,
    ): Promise<readonly KeyRecord[]> {
      const keys = [sql`k.environment = ${environment}`];
      if (accountId !== undefined) keys.push(sql`k.account_id = ${accountId}`);
      if (ids !== undefined) keys.push(engine.dialect.isAnyOf('k.id', ids));
      const conditions = filterConditions(filter, now());
      const found: KeyRecord[] = [];
      for (let end = before ?? INT64_MAX; ; ) {
        const where = join([...keys, sql`k.id < ${end}`], ' AND ');
        // The last key that this round looks at. A page without a filter, or of a few keys, is read at once.
        const [last] =
          conditions.length > 0 && ids === undefined
            ? await engine.read<[bigint]>(
                sql`SELECT k.id FROM keys k WHERE ${where} ORDER BY k.id DESC LIMIT 1 OFFSET ${KEYS_READ - 1}`,
              )
            : [];
        const range = last === undefined ? [] : [sql`k.id >= ${last[0]}`];
        found.push(
          ...(await read(sql`${SELECT_KEYS} WHERE ${join([where, ...conditions, ...range], ' AND ')}
            ORDER BY k.id DESC LIMIT ${limit - found.length}`)),
        );
        if (last === undefined || found.length === limit) return found;
        end = last[0];
        await letOthersRun();
      }
    },
    /** Keys of an account that work at this moment, in no order. Operators may have made more than `limit`. */
    listLive: (accountId: number, environment: Environment, limit: number) =>
      read(sql`${SELECT_KEYS} WHERE ${isLiveIn(accountId, environment, now())} LIMIT ${limit}`),
    create,
    rotate,
    revoke,
    /** Rejects when it has written nothing. */
    writeUses: (uses: readonly KeyUse[]): Promise<void> =>
      engine.kind === 'postgres' ? writeUses(engine.pool, uses) : engine.write(touchKeys, uses),
  };
}
