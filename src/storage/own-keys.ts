// Contract: section 3.14.
import type { Author } from '../domain/audit.ts';
import { keyAt, scopeFault } from '../domain/key-rules.ts';
import type { KeyCaller, KeyRotation, OwnKey, OwnKeys } from '../domain/account-ports.ts';
import type { Answer, RefusedWrite } from '../domain/ports.ts';
import { toJson } from '../domain/written.ts';
import { keyFromRow, type KeyRow, SELECT_KEYS } from './account-rows.ts';
import type { Engine, Transaction } from './engine.ts';
import { writeOnce } from './idempotency.ts';
import {
  addKey,
  hasRoom,
  isOf,
  keyValues,
  LIVE,
  lockKey,
  revokeKey,
  rotateKey,
  type Stored,
} from './key-writes.ts';
import { firstId, pageOf } from './page.ts';

const PAGE = (rows: number) => `${SELECT_KEYS}
  WHERE k.account_id = $1 AND k.environment = $2 AND k.id <= $3 ORDER BY k.id DESC LIMIT ${rows}`;

export async function createOwnKey(
  transaction: Transaction,
  author: Author,
  caller: KeyCaller,
  key: Stored<OwnKey>,
  now: number,
): Promise<Answer<201> | RefusedWrite<'conflict' | 'insufficient_scope' | 'invalid_request'>> {
  if (key.expiresAt !== undefined && key.expiresAt <= now) return { refused: 'invalid_request' };
  const lacking = scopeFault(key.scopes, caller.scopes);
  if (lacking !== undefined) return { refused: 'insufficient_scope', message: lacking };
  if (!(await hasRoom(transaction, caller, now))) return { refused: 'conflict' };
  return issued(await addKey(transaction, author, keyValues({ ...caller, ...key }, now)), now);
}

export async function rotateOwnKey(
  transaction: Transaction,
  author: Author,
  caller: KeyCaller,
  rotation: Stored<KeyRotation>,
  now: number,
): Promise<Answer<201> | RefusedWrite<'not_found' | 'conflict' | 'insufficient_scope'>> {
  const rotated = await rotateKey(transaction, author, rotation, now, caller);
  return 'refused' in rotated ? rotated : issued(rotated.row, now);
}

export async function revokeOwnKey(
  transaction: Transaction,
  author: Author,
  caller: KeyCaller,
  id: bigint,
  ifMatch: readonly string[] | undefined,
  now: number,
): Promise<Answer<204> | RefusedWrite<'not_found' | 'precondition_failed'>> {
  const key = await lockKey(transaction, id);
  if (key === undefined || !isOf(key, caller)) return { refused: 'not_found' };
  if (ifMatch !== undefined && !ifMatch.includes('*')) return { refused: 'precondition_failed' };
  await revokeKey(transaction, author, key.id, now);
  return { status: 204, location: undefined, json: '' };
}

/** The answer about a key that was created, without the key itself. */
function issued(row: KeyRow, now: number): Answer<201> {
  const key = keyAt(keyFromRow(row), now);
  return { status: 201, location: `/account/keys/${key.id}`, json: toJson(key) };
}

/** The keys of the account of `caller`. `cache` forgets what this process knew of keys. `now` is in Unix milliseconds, whole. */
export function ownKeysOf(
  engine: Engine,
  cache: { forget(): void },
  caller: KeyCaller,
  { author, now }: { readonly author: Author; readonly now: () => number },
): OwnKeys {
  const { accountId, environment } = caller;
  return {
    async list({ limit, before }) {
      const rows = await engine.read<KeyRow>(PAGE(limit + 1), [accountId, environment, firstId(before)]);
      const at = now();
      return pageOf(
        rows.map((row) => keyAt(keyFromRow(row), at)),
        limit,
      );
    },
    async live(limit) {
      const sql = `${SELECT_KEYS} WHERE ${LIVE} LIMIT $4`;
      return (await engine.read<KeyRow>(sql, [accountId, environment, now(), limit])).map(keyFromRow);
    },
    create({ hash, ...key }, idempotency) {
      const values = { ...key, hash: hash.hex };
      return writeOnce(engine, idempotency, createOwnKey, author, caller, values, now());
    },
    rotate({ hash, ...rotation }, idempotency) {
      const values = { ...rotation, hash: hash.hex };
      const work = writeOnce(engine, idempotency, rotateOwnKey, author, caller, values, now());
      return work.finally(() => cache.forget());
    },
    revoke: (id, ifMatch) =>
      engine.write(revokeOwnKey, author, caller, id, ifMatch, now()).finally(() => cache.forget()),
  };
}
