import type { DatabaseSync } from 'node:sqlite';
import type { Environment } from '../../domain/api-key.ts';
import type { Plan } from '../../domain/plan.ts';
import { type AccountRow, OR_FIND_ACCOUNT } from '../account-rows.ts';
import { Query } from './rows.ts';

/** The columns plan, per_minute and per_day of an account. */
export type PlanValues = readonly [plan: Plan, perMinute: number | null, perDay: number | null];

/** A key as the table takes it; instants are Unix milliseconds. */
export type KeyValues = readonly [
  accountId: number,
  hash: string,
  environment: Environment,
  label: string | null,
  scopes: string,
  createdAt: number,
  expiresAt: number | null,
];

/** Accounts and keys, written inside the transaction that the caller holds. Instants are Unix milliseconds. */
export function accountWrites(db: DatabaseSync) {
  const insertAccount = new Query(
    db,
    `INSERT INTO accounts (name, plan, per_minute, per_day, created_at) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (name) DO NOTHING`,
  );
  const findOrInsertAccount = new Query<AccountRow>(
    db,
    `INSERT INTO accounts (name, plan, per_minute, per_day, created_at) VALUES (?, ?, ?, ?, ?) ${OR_FIND_ACCOUNT}`,
  );
  const updatePlan = new Query(db, 'UPDATE accounts SET plan = ?, per_minute = ?, per_day = ? WHERE id = ?');
  const insertKey = new Query(
    db,
    `INSERT INTO keys (account_id, hash, environment, label, scopes, created_at, expires_at)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
  );
  const expireKey = new Query(db, 'UPDATE keys SET expires_at = ? WHERE id = ?');
  const revokeKey = new Query(db, 'UPDATE keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL');
  const touchKey = new Query(db, 'UPDATE keys SET last_used_at = ? WHERE id = ?');
  const addKey = (key: KeyValues): bigint => insertKey.run(...key).lastInsertRowid;
  return {
    /** Gives the id, or undefined when the name is taken. */
    createAccount(name: string, plan: PlanValues, now: number): bigint | undefined {
      const { changes, lastInsertRowid } = insertAccount.run(name, ...plan, now);
      return changes === 0n ? undefined : lastInsertRowid;
    },
    /** Gives the account of this name, which is made when there is none. */
    findOrCreateAccount(name: string, plan: PlanValues, now: number): AccountRow | undefined {
      return findOrInsertAccount.get(name, ...plan, now);
    },
    setPlan(accountId: number, plan: PlanValues): void {
      updatePlan.run(...plan, accountId);
    },
    /** Gives the id. */
    addKey,
    /** Gives the id of the new key. */
    replaceKey(id: number, expiresAt: number, key: KeyValues): bigint {
      expireKey.run(expiresAt, id);
      return addKey(key);
    },
    revokeKey(id: number, now: number): void {
      revokeKey.run(now, id);
    },
    /** When keys were last used. */
    touchKeys(used: readonly (readonly [keyId: number, at: number])[]): void {
      for (const [keyId, at] of used) touchKey.run(at, keyId);
    },
  };
}
