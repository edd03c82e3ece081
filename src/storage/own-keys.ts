// Contract: section 3.14.
import { isInForce, type KeyRecord, rotatedExpiry } from '../domain/account.ts';
import type { KeyCaller, KeyRotation, OwnKey, OwnKeys } from '../domain/account-ports.ts';
import { INT64_MAX } from '../domain/int64.ts';
import type { Actor } from '../domain/audit.ts';
import { DAY } from '../domain/clock.ts';
import type { ErrorCode } from '../domain/errors.ts';
import { textFromInstant } from '../domain/instant.ts';
import {
  checkKey,
  keyAt,
  MOST_KEYS_A_DAY,
  MOST_LIVE_KEYS,
  rotationFault,
  scopeFault,
  successorFault,
  TOO_MANY_KEYS,
} from '../domain/key-rules.ts';
import type { Key } from '../domain/key.ts';
import type { Failure, Repeatable, Result } from '../domain/result.ts';
import { KEY_BY_ID, keyFromRow, type KeyRow, SELECT_KEYS } from './account-rows.ts';
import { countCreatedKeys } from '../resources/audit/repository.ts';
import type { Transaction } from './transaction.ts';
import type { Engine } from './engine.ts';
import { addKey, findKey, keyValues, replaceKey, revokeKey, type Stored } from './key-writes.ts';
import { firstId, pageOf } from './page.ts';

const PAGE = (rows: number) => `${SELECT_KEYS}
  WHERE k.account_id = $1 AND k.environment = $2 AND k.id <= $3 ORDER BY k.id DESC LIMIT ${rows}`;

/** The keys that work at the instant `$3`. The index `keys_live` has them, however many have ended. */
const LIVE = `k.account_id = $1 AND k.environment = $2
  AND k.revoked_at IS NULL AND coalesce(k.expires_at, ${INT64_MAX}) > $3`;

/** By ascending id, and before the account, as in every other transaction that locks several of these: others could deadlock. */
const LOCK_KEYS = 'SELECT id FROM keys WHERE id IN ($1, $2) ORDER BY id FOR UPDATE';
const LOCK_ACCOUNT =
  'SELECT id FROM accounts WHERE id = (SELECT account_id FROM keys WHERE id = $1) FOR UPDATE';

/**
 * Locks the calling key, the key with the id `target`, and their account until the commit. Each instance caches keys, so the
 * calling key can have been revoked, and its account suspended, although its request was authenticated.
 */
async function lockCaller(
  transaction: Transaction,
  callerId: number,
  target: number | bigint,
  now: number,
): Promise<KeyRecord | Failure<'unauthorized'>> {
  await transaction.query(LOCK_KEYS, [callerId, target]);
  await transaction.query(LOCK_ACCOUNT, [callerId]);
  return validCaller(await findKey(transaction, callerId), now);
}

function validCaller(found: KeyRecord | undefined, now: number): KeyRecord | Failure<'unauthorized'> {
  const { key, fault } = checkKey(found, now);
  return key ?? { error: 'unauthorized', message: fault };
}

export async function createOwnKey(
  transaction: Transaction,
  actor: Actor,
  callerId: number,
  key: Stored<OwnKey>,
  now: number,
): Promise<Result<Key, 'unauthorized' | 'conflict' | 'insufficient_scope' | 'invalid_request'>> {
  const caller = await lockCaller(transaction, callerId, callerId, now);
  if ('error' in caller) return caller;
  const lacking = successorFault(caller) ?? scopeFault(key.scopes, caller.scopes);
  if (lacking !== undefined) return { error: 'insufficient_scope', message: lacking };
  if (key.expiresAt !== undefined && key.expiresAt <= now) return { error: 'invalid_request' };
  if (!(await hasRoom(transaction, caller, now))) return { error: 'conflict' };
  const tooMany = await dayFault(transaction, caller);
  if (tooMany !== undefined) return { error: 'conflict', message: tooMany };
  const { environment, account } = caller;
  const values = keyValues({ ...key, environment, accountId: account.id }, now);
  return { value: keyAt(keyFromRow(await addKey(transaction, actor, values)), now) };
}

export async function rotateOwnKey(
  transaction: Transaction,
  actor: Actor,
  callerId: number,
  rotation: Stored<KeyRotation>,
  now: number,
): Promise<Result<Key, 'unauthorized' | 'not_found' | 'conflict' | 'insufficient_scope'>> {
  const caller = await lockCaller(transaction, callerId, rotation.id, now);
  if ('error' in caller) return caller;
  const replaced = successorFault(caller);
  if (replaced !== undefined) return { error: 'insufficient_scope', message: replaced };
  const old = await findKey(transaction, rotation.id);
  if (old === undefined || !isOf(old, caller)) return { error: 'not_found' };
  const fault = rotationFault(old, now);
  if (fault !== undefined) return { error: 'conflict', message: fault };
  const lacking = scopeFault(old.scopes, caller.scopes);
  if (lacking !== undefined) return { error: 'insufficient_scope', message: lacking };
  const goesOn = isInForce({ ...old, expiresAt: rotatedExpiry(old, now, rotation.grace) }, now);
  if (goesOn && !(await hasRoom(transaction, caller, now)))
    return { error: 'conflict', message: `${TOO_MANY_KEYS}: revoke one, or send a grace of 0.` };
  const tooMany = await dayFault(transaction, caller);
  if (tooMany !== undefined) return { error: 'conflict', message: tooMany };
  const { row } = await replaceKey(transaction, actor, old, rotation, now);
  return { value: keyAt(keyFromRow(row), now) };
}

export async function revokeOwnKey(
  transaction: Transaction,
  actor: Actor,
  callerId: number,
  id: bigint,
  ifMatch: readonly string[] | undefined,
  now: number,
): Promise<Result<undefined, 'unauthorized' | 'not_found' | 'precondition_failed'>> {
  const caller = await lockCaller(transaction, callerId, id, now);
  if ('error' in caller) return caller;
  const key = await findKey(transaction, id);
  if (key === undefined || !isOf(key, caller)) return { error: 'not_found' };
  if (ifMatch !== undefined && !ifMatch.includes('*')) return { error: 'precondition_failed' };
  await revokeKey(transaction, actor, key.id, now);
  return { value: undefined };
}

function isOf({ account, environment }: KeyRecord, caller: KeyCaller): boolean {
  return account.id === caller.account.id && environment === caller.environment;
}

/** Whether one more key of a locked account may work at the instant `now`. */
async function hasRoom(
  transaction: Transaction,
  { account, environment }: KeyCaller,
  now: number,
): Promise<boolean> {
  const sql = `SELECT 1 FROM keys k WHERE ${LIVE} LIMIT ${MOST_LIVE_KEYS}`;
  const live = await transaction.query(sql, [account.id, environment, now]);
  return live.length < MOST_LIVE_KEYS;
}

/** Why the keys of a locked account create no more keys today, or undefined if they may. */
async function dayFault(transaction: Transaction, { account }: KeyCaller): Promise<string | undefined> {
  // The clock of the audit log, which tells the keys that operators created from the account's own.
  const now = await transaction.now();
  const midnight = now - (now % DAY);
  if ((await countCreatedKeys(transaction, account.id, midnight)) < MOST_KEYS_A_DAY) return undefined;
  return `The account has created ${MOST_KEYS_A_DAY} keys in this UTC day: try again from ${textFromInstant(midnight + DAY)}.`;
}

export const WRITES = { create: createOwnKey, rotate: rotateOwnKey, revoke: revokeOwnKey };

/**
 * The keys of the account of `caller`. `cache` forgets what this process knew of keys: after a change, and when it knew the
 * caller as valid that is not. `now` is in Unix milliseconds, whole.
 */
export function ownKeysOf(
  engine: Engine,
  cache: { forget(): void },
  caller: KeyCaller,
  { actor, now }: { readonly actor: Actor; readonly now: () => number },
): OwnKeys {
  const { id: callerId, account, environment } = caller;

  /** The outcome for the caller. A request that repeats another one does no work that checks its caller. */
  async function checked<Code extends ErrorCode>(
    outcome: Repeatable<Key, Code>,
  ): Promise<Repeatable<Key, Code | 'unauthorized'>> {
    if ('value' in outcome) return outcome;
    const [row] = await engine.read<KeyRow>(KEY_BY_ID, [callerId]);
    const valid = validCaller(row && keyFromRow(row), now());
    return 'error' in valid ? valid : outcome;
  }

  return {
    async list({ limit, before }) {
      const rows = await engine.read<KeyRow>(PAGE(limit + 1), [account.id, environment, firstId(before)]);
      const at = now();
      return pageOf(
        rows.map((row) => keyAt(keyFromRow(row), at)),
        limit,
      );
    },
    async live(limit) {
      const sql = `${SELECT_KEYS} WHERE ${LIVE} LIMIT $4`;
      return (await engine.read<KeyRow>(sql, [account.id, environment, now(), limit])).map(keyFromRow);
    },
    async create({ hash, ...key }, idempotency) {
      const values = { ...key, hash: hash.hex };
      const work = engine.writeOnce(idempotency, createOwnKey, actor, callerId, values, now());
      const outcome = await checked(await work);
      if ('error' in outcome && outcome.error === 'unauthorized') cache.forget();
      return outcome;
    },
    async rotate({ hash, ...rotation }, idempotency) {
      const values = { ...rotation, hash: hash.hex };
      try {
        return await checked(
          await engine.writeOnce(idempotency, rotateOwnKey, actor, callerId, values, now()),
        );
      } finally {
        cache.forget();
      }
    },
    revoke: (id, ifMatch) =>
      engine.write(revokeOwnKey, actor, callerId, id, ifMatch, now()).finally(() => cache.forget()),
  };
}
