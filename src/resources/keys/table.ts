// Contract: section 5.
import type { KeyRecord } from '../../domain/account.ts';
import { type Scope, SCOPES } from '../../domain/scope.ts';
import { type ApiKeyHash, ENVIRONMENTS } from '../../domain/api-key.ts';
import { type Row, sql } from '../../storage/sql.ts';
import { type Codec, enumeration, instant, integer, optional, Table, text } from '../../storage/table.ts';
import { ACCOUNTS, parseAccount } from '../accounts/repository.ts';

/** Names with spaces between them, in the order of SCOPES. */
const scopeList: Codec<readonly Scope[], false> = {
  type: 'text',
  isOptional: false,
  decode(stored: string) {
    const names = stored.split(' ');
    return SCOPES.filter((scope) => names.includes(scope));
  },
  encode: (scopes) => SCOPES.filter((scope) => scopes.includes(scope)).join(' '),
};

export const KEYS = new Table(
  'keys',
  {
    id: integer,
    accountId: integer,
    /** SHA-256 of the key, in hexadecimal. */
    hash: text,
    environment: enumeration(ENVIRONMENTS),
    label: optional(text),
    scopes: scopeList,
    createdAt: instant,
    expiresAt: optional(instant),
    revokedAt: optional(instant),
    lastUsedAt: optional(instant),
    ending: optional(text),
    rotatedTo: optional(integer),
  },
  { key: ['id'], assignsIds: true },
);

/** Keys by their hash: every request asks, so each database has a cache of its own. */
export interface KeyLookup {
  findByHash(hash: ApiKeyHash): Promise<KeyRecord | undefined>;
  /** Called after this process has changed an account or a key. */
  forget(): void;
}

/** The columns of keys `k` with their accounts `a`, and where they come from. */
export const SELECT_KEY_COLUMNS = sql`SELECT ${KEYS.listAs('k')}, ${ACCOUNTS.listAs('a')}`;
export const KEYS_WITH_ACCOUNTS = sql`keys k JOIN accounts a ON a.id = k.account_id`;

/** A SELECT of keys `k` with their accounts `a`, without its end. */
export const SELECT_KEYS = sql`${SELECT_KEY_COLUMNS} FROM ${KEYS_WITH_ACCOUNTS}`;

/** Each engine prepares this text, and gives it the hash with each call. */
export const KEY_BY_HASH = sql`${SELECT_KEYS} WHERE k.hash = ${null}`;

/** The key of a row of SELECT_KEYS. */
export function parseKey(row: Row): KeyRecord {
  const key = KEYS.parse(row);
  const { id, environment, label, scopes, createdAt, expiresAt, revokedAt, lastUsedAt, ending, rotatedTo } =
    key;
  const account = parseAccount(ACCOUNTS.parse(row.slice(KEYS.columns.length)));
  // Every key has all properties, so that the cached ones have one shape.
  return {
    id,
    account,
    environment,
    label,
    scopes,
    createdAt,
    expiresAt,
    revokedAt,
    lastUsedAt,
    ending,
    rotatedTo,
  };
}
