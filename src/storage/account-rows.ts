import { type Account, type KeyRecord, limitsOf, type Scope, SCOPES } from '../domain/account.ts';
import type { Environment } from '../domain/api-key.ts';
import { type Limits, PLANS, type Plan } from '../domain/plan.ts';

/*
 * Rows of accounts and keys as both databases give them: in these columns, integers as bigint.
 */

export type AccountRow = readonly [
  id: bigint,
  name: string,
  plan: Plan,
  perMinute: bigint | null,
  perDay: bigint | null,
];

export type KeyRow = readonly [
  id: bigint,
  environment: Environment,
  label: string | null,
  scopes: string,
  createdAt: bigint,
  expiresAt: bigint | null,
  revokedAt: bigint | null,
  lastUsedAt: bigint | null,
  ...AccountRow,
];

const ALL_SCOPES = SCOPES.join(' ');

const ACCOUNT_COLUMNS = 'a.id, a.name, a.plan, a.per_minute, a.per_day';
const KEY_COLUMNS = `k.id, k.environment, k.label, k.scopes, k.created_at, k.expires_at, k.revoked_at, k.last_used_at`;

export const SELECT_ACCOUNTS = `SELECT ${ACCOUNT_COLUMNS} FROM accounts a`;

/** Ends an insert of an account: it gives the account of this name, whether it is new or not. */
export const OR_FIND_ACCOUNT = `ON CONFLICT (name) DO UPDATE SET name = excluded.name
  RETURNING id, name, plan, per_minute, per_day`;

export const SELECT_KEYS = `SELECT ${KEY_COLUMNS}, ${ACCOUNT_COLUMNS} FROM keys k JOIN accounts a ON a.id = k.account_id`;

/** The columns per_minute and per_day of an account: only what its plan does not say is stored. */
export function customLimits(plan: Plan, { perMinute, perDay }: Limits): [number | null, number | null] {
  return PLANS[plan] === 'custom' ? [perMinute, perDay] : [null, null];
}

export function accountOf([id, name, plan, perMinute, perDay]: AccountRow): Account {
  const custom =
    perMinute === null || perDay === null ? {} : { perMinute: Number(perMinute), perDay: Number(perDay) };
  return { id: Number(id), name, plan, limits: limitsOf(plan, custom) };
}

/** The account that a write gave back. */
export function writtenAccount(row: AccountRow | undefined): Account {
  if (row === undefined) throw new Error('The account is not there after its insertion.');
  return accountOf(row);
}

export function keyOf(row: KeyRow): KeyRecord {
  const [id, environment, label, scopes, createdAt, expiresAt, revokedAt, lastUsedAt, ...account] = row;
  return {
    id: Number(id),
    account: accountOf(account),
    environment,
    label: label ?? undefined,
    scopes: scopesOf(scopes),
    createdAt: Number(createdAt),
    expiresAt: instant(expiresAt),
    revokedAt: instant(revokedAt),
    lastUsedAt: instant(lastUsedAt),
  };
}

function scopesOf(text: string): readonly Scope[] {
  // Most keys have them all, and then no list of their own: thousands are remembered.
  if (text === ALL_SCOPES) return SCOPES;
  const granted = text.split(' ');
  return SCOPES.filter((scope) => granted.includes(scope));
}

function instant(value: bigint | null): number | undefined {
  return value === null ? undefined : Number(value);
}
