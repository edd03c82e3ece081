// Contract: section 5.
import {
  type Account,
  DEFAULT_SCOPES,
  type KeyRecord,
  limitsOf,
  type Scope,
  SCOPES,
} from '../domain/account.ts';
import type { Environment } from '../domain/api-key.ts';
import type { Plan } from '../domain/plan.ts';
import { ACCOUNTS, columnsOf, KEYS, type RowOf } from './tables.ts';

export type AccountRow = RowOf<typeof ACCOUNTS>;
export type KeyRow = readonly [...RowOf<typeof KEYS>, ...AccountRow];

export const SELECT_ACCOUNTS = `SELECT ${columnsOf(ACCOUNTS)} FROM accounts`;
export const SELECT_KEYS = `SELECT ${columnsOf(KEYS, 'k')}, ${columnsOf(ACCOUNTS, 'a')}
  FROM keys k JOIN accounts a ON a.id = k.account_id`;
export const KEY_BY_ID = `${SELECT_KEYS} WHERE k.id = $1`;
export const KEY_BY_HASH = `${SELECT_KEYS} WHERE k.hash = $1`;

export function accountFromRow([id, name, text, perMinute, perDay, , , suspendedAt]: AccountRow): Account {
  const custom =
    perMinute === null || perDay === null ? {} : { perMinute: Number(perMinute), perDay: Number(perDay) };
  const plan = text as Plan;
  return {
    id: Number(id),
    name,
    plan,
    limits: limitsOf(plan, custom),
    suspendedAt: numberOf(suspendedAt),
  };
}

export function keyFromRow(row: KeyRow): KeyRecord {
  const [id, , , environment, label, scopes, createdAt, expiresAt, revokedAt, lastUsedAt, ...rest] = row;
  const [ending, rotatedTo, ...account] = rest;
  return {
    id: Number(id),
    account: accountFromRow(account),
    environment: environment as Environment,
    label: label ?? undefined,
    scopes: scopesOf(scopes),
    createdAt: Number(createdAt),
    expiresAt: numberOf(expiresAt),
    revokedAt: numberOf(revokedAt),
    lastUsedAt: numberOf(lastUsedAt),
    ending: ending ?? undefined,
    rotatedTo: numberOf(rotatedTo),
  };
}

const DEFAULT_TEXT = DEFAULT_SCOPES.join(' ');

function scopesOf(text: string): readonly Scope[] {
  // Most keys have the default scopes. They share one list, because thousands of keys are cached.
  if (text === DEFAULT_TEXT) return DEFAULT_SCOPES;
  const granted = text.split(' ');
  return SCOPES.filter((scope) => granted.includes(scope));
}

function numberOf(value: bigint | null): number | undefined {
  return value === null ? undefined : Number(value);
}
