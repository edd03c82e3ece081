// Contract: sections 3.14, 5 and 10.
import { isInForce, type KeyRecord } from '../../domain/account.ts';
import type { KeyState } from '../../domain/states.ts';
import { repeatRounds } from '../../domain/rounds.ts';
import { refuseScopeAlone, type Scope } from '../../domain/scope.ts';
import type { ApiKey, ApiKeyHash, Environment } from '../../domain/api-key.ts';
import { type Actor, type AuditChange, type OperatorActor, SERVICE } from '../../domain/audit.ts';
import { type Clock, DAY } from '../../domain/clock.ts';
import type { ErrorCode } from '../../domain/errors.ts';
import { instantOrNull, textFromInstant } from '../../domain/instant.ts';
import { INT64_MAX, int64FromDecimal } from '../../domain/int64.ts';
import { toJson } from '../../domain/json.ts';
import { Listeners } from '../../domain/listeners.ts';
import type { Idempotency, Repeatable } from '../../domain/idempotency.ts';
import type { Page, PageQuery, Signal } from '../../domain/page.ts';
import type { Failure, Result } from '../../domain/result.ts';
import type { KeyUse } from '../../observability/key-usage.ts';
import { foldedPart } from '../../domain/text.ts';
import type { AnyEngine } from '../../storage/open.ts';
import {
  countInRounds,
  type Filters,
  listInRounds,
  type Sort,
  type Source,
} from '../../storage/lists-in-rounds.ts';
import { containing, empty, join, raw, type Sql, sql } from '../../storage/sql.ts';
import type { Stored } from '../../storage/table.ts';
import type { AccountRepository } from '../accounts/repository.ts';
import { ask, Question, type Transaction } from '../../storage/transaction.ts';
import { addAudit, countEntriesOfKeys } from '../audit/repository.ts';
import { markOnce, type NewEvent, recordEvents } from '../events/repository.ts';
import { type EventType, findStream } from '../events/rules.ts';
import { checkCaller, findKey, lockCaller, type RefusedCaller, selectById } from './caller.ts';
import { PostgresLookup, writeUses } from './postgres.ts';
import {
  toKey,
  type KeySort,
  MOST_KEYS_A_DAY,
  MOST_LIVE_KEYS,
  refuseEnded,
  refuseReplaced,
  refuseRotation,
  refuseScopes,
  rotatedExpiry,
  TOO_MANY_KEYS,
} from './rules.ts';
import { SqliteLookup } from './sqlite.ts';
import { SELECT_KEY_COLUMNS, KEYS, KEYS_WITH_ACCOUNTS, parseKey, SELECT_KEYS } from './table.ts';

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
  readonly id: number;
  readonly key: ApiKey;
  /** Milliseconds that the old key still works, but never past its own expiry. */
  readonly grace: number;
}

/** What is stored of a key itself. */
type StoredKey = Pick<Stored<typeof KEYS>, 'hash' | 'ending' | 'environment'>;

function toStored(key: ApiKey): StoredKey {
  return { hash: key.hash().hex, ending: key.ending, environment: key.environment };
}

/** What writes of keys need. */
const MANAGING: readonly Scope[] = ['keys:manage'];

const FOREVER = raw(String(INT64_MAX));

/** Keys that have neither ended nor been revoked at the instant `now`. */
const isLive = (now: number) => sql`k.revoked_at IS NULL AND coalesce(k.expires_at, ${FOREVER}) > ${now}`;

/** Keys of an account that work. The index `keys_live` has them, however many have ended. */
const isLiveIn = (accountId: number, environment: Environment, now: number) =>
  sql`k.account_id = ${accountId} AND k.environment = ${environment} AND ${isLive(now)}`;

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
  const midnight = now - (now % DAY);
  const created = sql`action IN ('keys create', 'keys rotate')`;
  if ((await countEntriesOfKeys(transaction, account.id, midnight, created)) < MOST_KEYS_A_DAY)
    return undefined;
  const message = `The account has created ${MOST_KEYS_A_DAY} keys in this UTC day: try again from ${textFromInstant(midnight + DAY)}.`;
  return { error: 'conflict', message };
}

/** Clients get the message of the operation instead. */
function notFound(id: number, caller?: KeyRecord): Failure<'not_found'> {
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
  const record = row && (await findKey(transaction, Number(row[0])));
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

/** An event of a key, with the key as its account sees it at the instant `now` (Unix milliseconds). */
export function keyEvent(type: EventType, actor: Actor, key: KeyRecord, now: number): NewEvent {
  const { account, environment } = key;
  const stream = findStream(type, { accountId: account.id, environment });
  return { ...stream, actor, data: toJson(toKey(key, now)) };
}

/**
 * Adds a key. Operators and the system may add a key with any scopes to any account. A key may only if it was not rotated
 * and has the scopes itself. The keys of an account add at most `MOST_KEYS_A_DAY` keys a day, and none while
 * `MOST_LIVE_KEYS` work.
 */
async function createKey(
  transaction: Transaction,
  actor: Actor,
  key: KeySettings & StoredKey,
): Promise<Result<KeyRecord, RefusedCaller | 'invalid_request' | 'conflict'>> {
  const locked = await lockCaller(transaction, actor, MANAGING);
  if ('error' in locked) return locked;
  const { caller, now } = locked.value;
  const refused = caller && (refuseReplaced(caller) ?? refuseScopes(key.scopes, caller));
  if (refused !== undefined) return refused;
  const alone = refuseScopeAlone(key.scopes);
  if (alone !== undefined) return { error: 'invalid_request', message: alone };
  if (key.expiresAt !== undefined && key.expiresAt <= now) return { error: 'invalid_request' };
  const tooMany = caller && (await refuseMore(transaction, caller, 'revoke one first', now));
  if (tooMany !== undefined) return tooMany;
  const record = await insertKey(transaction, key, now);
  const { environment, label, scopes, expiresAt } = record;
  const after = { environment, label: label ?? null, scopes, expiresAt: instantOrNull(expiresAt) };
  await recordEvents(transaction, [keyEvent('key.created', actor, record, now)]);
  await addAudit(transaction, actor, keyChange('keys create', record, { after }));
  return { value: record };
}

/** Replaces a key. Of several rotations at once one is done. */
async function rotateKey(
  transaction: Transaction,
  actor: Actor,
  { id, grace, ...stored }: Omit<Rotation, 'key'> & StoredKey,
): Promise<Result<KeyRecord, RefusedCaller | 'not_found' | 'conflict'>> {
  const locked = await lockCaller(transaction, actor, MANAGING, id);
  if ('error' in locked) return locked;
  const { caller, now } = locked.value;
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
  const rotated = { ...old, expiresAt: end, rotatedTo: record.id };
  await recordEvents(transaction, [
    keyEvent('key.created', actor, record, now),
    keyEvent('key.rotated', actor, rotated, now),
  ]);
  const before = { expiresAt: instantOrNull(expiresAt) };
  const after = { expiresAt: textFromInstant(end), rotatedTo: record.id };
  await addAudit(transaction, actor, keyChange('keys rotate', old, { before, after }));
  return { value: record };
}

interface Revocation {
  readonly ifMatch?: readonly string[] | undefined;
  /** Whether the webhooks that the key added or last pointed somewhere are disabled in the same commit. */
  readonly disablesWebhooks?: boolean | undefined;
}

/** Disables the webhooks of a key. */
export const DISABLE_WEBHOOKS = new Question<[actor: Actor, key: KeyRecord], void>(async () => undefined);

/** Ends a key now, unless it is revoked already. A key has no entity tag, so none is current. */
async function revokeKey(
  transaction: Transaction,
  actor: Actor,
  id: number,
  { ifMatch, disablesWebhooks = false }: Revocation,
): Promise<Result<KeyRecord, RefusedCaller | 'not_found' | 'precondition_failed'>> {
  const scopes: readonly Scope[] = disablesWebhooks ? [...MANAGING, 'webhooks:manage'] : MANAGING;
  const locked = await lockCaller(transaction, actor, scopes, id);
  if ('error' in locked) return locked;
  const { caller, now } = locked.value;
  const key = await findKey(transaction, id);
  if (key === undefined || !isVisible(key, caller)) return notFound(id, caller);
  if (ifMatch !== undefined && !ifMatch.includes('*')) return { error: 'precondition_failed' };
  if (disablesWebhooks) await ask(transaction, DISABLE_WEBHOOKS, actor, key);
  if (key.revokedAt !== undefined) return { value: key };
  await updateKey(transaction, key.id, { revokedAt: now });
  await recordEvents(transaction, [keyEvent('key.revoked', actor, { ...key, revokedAt: now }, now)]);
  const after = { revokedAt: textFromInstant(now) };
  await addAudit(transaction, actor, keyChange('keys revoke', key, { after }));
  return { value: { ...key, revokedAt: now } };
}

/** A key after a change, and the scopes that it had. */
interface ChangedKey {
  readonly key: KeyRecord;
  readonly before: readonly Scope[];
}

/** Gives a key other scopes, for operators and the system. `conflict`: the key works no longer. */
async function setScopes(
  transaction: Transaction,
  actor: OperatorActor,
  id: number,
  scopes: readonly Scope[],
): Promise<Result<ChangedKey, RefusedCaller | 'not_found' | 'conflict' | 'invalid_request'>> {
  const locked = await lockCaller(transaction, actor, MANAGING, id);
  if ('error' in locked) return locked;
  const key = await findKey(transaction, id);
  if (key === undefined) return notFound(id);
  const alone = refuseScopeAlone(scopes);
  if (alone !== undefined) return { error: 'invalid_request', message: alone };
  const refused = refuseEnded(key, locked.value.now);
  if (refused !== undefined) return refused;
  if (scopes.join() === key.scopes.join()) return { value: { key, before: scopes } };
  await updateKey(transaction, id, { scopes });
  const values = { before: { scopes: key.scopes }, after: { scopes } };
  await addAudit(transaction, actor, keyChange('keys set', key, values));
  return { value: { key: { ...key, scopes }, before: key.scopes } };
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

/** Before its end, in milliseconds, an account is told of a key that ends. */
const EXPIRING = 7 * DAY;

/** Keys of one transaction: few enough that it takes milliseconds. */
const EXPIRING_AT_ONCE = 100;

/** The keys that end soon and that nobody was told of. A rotated key has a newer one already. */
function selectExpiring(now: number): Sql {
  return sql`${SELECT_KEYS} WHERE k.expires_at > ${now} AND k.expires_at <= ${now + EXPIRING}
    AND k.revoked_at IS NULL AND k.rotated_to IS NULL
    AND NOT EXISTS (SELECT 1 FROM event_marks WHERE mark = 'key.expiring ' || k.id)
    ORDER BY k.expires_at LIMIT ${EXPIRING_AT_ONCE}`;
}

/** Tells of keys that end soon. Returns whether there may be more. */
async function recordExpiring(transaction: Transaction): Promise<boolean> {
  const now = Math.floor(await transaction.now());
  const keys = (await transaction.query(selectExpiring(now))).map(parseKey);
  for (const key of keys)
    if (await markOnce(transaction, `key.expiring ${key.id}`))
      await recordEvents(transaction, [keyEvent('key.expiring', SERVICE, key, now)]);
  return keys.length === EXPIRING_AT_ONCE;
}

export const WRITES = {
  create: createKey,
  rotate: rotateKey,
  revoke: revokeKey,
  setScopes,
  touch: touchKeys,
  recordExpiring,
};

interface KeyFilter {
  /** `valid`: requests with the key are accepted, unless it is banned. */
  readonly state?: KeyState | 'suspended' | 'valid' | undefined;
  /** Milliseconds in which nobody has used the key. */
  readonly unusedFor?: number | undefined;
  /** Milliseconds in which the key ends. Such a key still works. */
  readonly expiresWithin?: number | undefined;
  /** Part of the label or of the name of the account, ignoring case; or the whole ending or number of the key. */
  readonly search?: string | undefined;
}

interface KeyQuery {
  readonly accountId?: number | undefined;
  readonly filter?: KeyFilter | undefined;
}

export interface KeyListQuery extends KeyQuery {
  /** Only these keys. */
  readonly ids?: readonly number[] | undefined;
}

interface KeyPageQuery extends KeyListQuery, PageQuery {
  readonly sort?: KeySort | undefined;
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

function filterConditions({ state, unusedFor, expiresWithin, search = '' }: KeyFilter, now: number): Sql[] {
  const conditions: Sql[] = [];
  if (state !== undefined) conditions.push(IN_STATE[state](now));
  if (unusedFor !== undefined)
    conditions.push(sql`coalesce(k.last_used_at, k.created_at) <= ${now - unusedFor}`);
  if (expiresWithin !== undefined)
    conditions.push(sql`${isLive(now)} AND k.expires_at <= ${now + expiresWithin}`);
  if (search !== '') conditions.push(searchCondition(search));
  return conditions;
}

/** SQLite ignores the case of ASCII letters only, so a label is also compared as it was typed. */
function searchCondition(search: string): Sql {
  const [folded, typed] = [containing(foldedPart(search)), containing(search)];
  return sql`(lower(k.label) LIKE ${folded} ESCAPE '!' OR k.label LIKE ${typed} ESCAPE '!'
    OR replace(coalesce(a.folded_name, lower(a.name)), 'ς', 'σ') LIKE ${folded} ESCAPE '!'
    OR k.ending = ${search} OR k.id = ${int64FromDecimal(search) ?? 0n})`;
}

const SOURCE: Source<KeyRecord> = {
  select: SELECT_KEY_COLUMNS,
  from: KEYS_WITH_ACCOUNTS,
  ids: sql`keys k`,
  id: sql`k.id`,
  size: 4_000,
  parse: parseKey,
};

/** What a list of keys is sorted by, without its direction. A later key has a larger id. */
const SORT_KEYS: Readonly<Record<string, Sql>> = {
  lastUsed: sql`coalesce(k.last_used_at, 0)`,
  expires: sql`coalesce(k.expires_at, ${FOREVER})`,
};

function toSort(sort: KeySort): Sort {
  const by = SORT_KEYS[sort.replace('-', '')];
  return { ...(by && { by }), isAscending: !sort.startsWith('-') };
}

const REPEATED = {
  error: 'conflict',
  message:
    'A request with this Idempotency-Key created a key before, and the key itself is not stored: list the keys, revoke the one that it created, and create another with a key that was not rotated.',
} as const;

export type KeyRepository = ReturnType<typeof open>;

export function open(
  engine: AnyEngine,
  { clock }: { readonly clock: Clock },
  { accounts }: { readonly accounts: Pick<AccountRepository, 'changes'> },
) {
  const revocations = new Listeners<[keyId: number, revocation: Revocation]>();
  const lookup =
    engine.kind === 'sqlite' ? new SqliteLookup(engine.reader) : new PostgresLookup(engine.pool, clock);
  const now = () => Math.floor(clock().unix);
  const forget = () => lookup.forget();
  accounts.changes.listen(async () => forget());

  async function read(statement: Sql): Promise<readonly KeyRecord[]> {
    return (await engine.query(statement)).map(parseKey);
  }

  function toFilters(environment: Environment, { accountId, ids, filter = {} }: KeyListQuery): Filters {
    const indexed = [sql`k.environment = ${environment}`];
    if (accountId !== undefined) indexed.push(sql`k.account_id = ${accountId}`);
    if (ids !== undefined) indexed.push(engine.dialect.isAnyOf('k.id', ids));
    return { indexed, others: filterConditions(filter, now()) };
  }

  async function find(id: number): Promise<Result<KeyRecord, 'not_found'>> {
    const [key] = await read(selectById(id));
    return key === undefined ? notFound(id) : { value: key };
  }

  /**
   * What became of a write that checks its caller by `lockCaller`. That work is not done for a repeated request, so the caller is checked
   * here. A refusal of the caller is news for this process, which may have the key in mind as it was.
   */
  async function confirm<R extends object>(
    actor: Actor,
    scopes: readonly Scope[],
    writing: Promise<R>,
  ): Promise<R | Failure<RefusedCaller>> {
    const written = await writing;
    if ('value' in written || actor.kind !== 'key') return written;
    const [row] = await read(selectById(actor.id));
    const caller = checkCaller(row, scopes, now());
    if (!('error' in caller)) return written;
    forget();
    return caller;
  }

  /** What became of a write that adds a key. A request that repeats it gets no key, because the key itself is not stored. */
  async function complete<Code extends ErrorCode>(
    actor: Actor,
    writing: Promise<Repeatable<KeyRecord, Code>>,
  ): Promise<Result<KeyRecord, Code | RefusedCaller | 'conflict' | 'idempotency_key_reused'>> {
    const written = await confirm(actor, MANAGING, writing.finally(forget));
    return 'replay' in written ? REPEATED : written;
  }

  return {
    find,
    confirm,
    findByHash: (hash: ApiKeyHash) => lookup.findByHash(hash),
    revocations,
    /** Ascending id, of all environments, in one statement: for commands, because it can hold up requests. */
    listAll({ accountId, filter = {} }: KeyQuery = {}): Promise<readonly KeyRecord[]> {
      const conditions = filterConditions(filter, now());
      if (accountId !== undefined) conditions.push(sql`k.account_id = ${accountId}`);
      const where = conditions.length === 0 ? empty : sql`WHERE ${join(conditions, ' AND ')}`;
      return read(sql`${SELECT_KEYS} ${where} ORDER BY k.id`);
    },
    /** By default newest first. A filter that few keys fit reads many keys; requests run in between. */
    list: (
      environment: Environment,
      { limit, cursor, signal, sort = '-created', ...query }: KeyPageQuery,
    ): Promise<Page<KeyRecord>> =>
      listInRounds(engine, SOURCE, toFilters(environment, query), toSort(sort), { limit, cursor, signal }),
    /** How many keys a list with these filters has. Requests run in between. */
    count: (environment: Environment, query: KeyListQuery, signal?: Signal): Promise<number> =>
      countInRounds(engine, SOURCE, toFilters(environment, query), signal),
    /** Keys of an account that work at this moment, in no order. Operators may have made more than `limit`. */
    listLive: (accountId: number, environment: Environment, limit: number) =>
      read(sql`${SELECT_KEYS} WHERE ${isLiveIn(accountId, environment, now())} LIMIT ${limit}`),
    /** `invalid_request`: `expiresAt` has passed, or a scope needs another one. The other codes refuse only keys that create keys. */
    create: (actor: Actor, { key, ...settings }: NewKey, idempotency?: Idempotency) =>
      complete(actor, engine.writeOnce(idempotency, createKey, actor, { ...settings, ...toStored(key) })),
    /** `conflict`: the old key is rotated already, expired or revoked. The other codes are those of `create`. */
    rotate: (actor: Actor, { key, ...rotation }: Rotation, idempotency?: Idempotency) =>
      complete(actor, engine.writeOnce(idempotency, rotateKey, actor, { ...rotation, ...toStored(key) })),
    /** `invalid_request`: no key has these scopes together. `conflict`: the key works no longer. */
    async setScopes(actor: OperatorActor, id: number, scopes: readonly Scope[]) {
      try {
        return await engine.write(setScopes, actor, id, scopes);
      } finally {
        forget();
      }
    },
    /** Ends a key from now on. A key that was revoked before stays as it is. */
    async revoke(actor: Actor, id: number, revocation: Revocation = {}) {
      try {
        return await engine.write(revokeKey, actor, id, revocation);
      } finally {
        forget();
        await revocations.tell(id, revocation);
      }
    },
    /** Tells accounts of their keys that end within a week. Any number of processes may call it at once. */
    async recordExpiring(signal?: AbortSignal): Promise<void> {
      // Usually there are none, and a read costs less than a write.
      if ((await engine.query(selectExpiring(Math.floor(await engine.now())))).length === 0) return;
      await repeatRounds(() => engine.write(recordExpiring), signal);
    },
    /** Rejects when it has written nothing. */
    writeUses: (uses: readonly KeyUse[]): Promise<void> =>
      engine.kind === 'postgres' ? writeUses(engine.pool, uses) : engine.write(touchKeys, uses),
  };
}
