// Contract: sections 5 and 10.
import type { Account } from '../domain/account.ts';
import { auditInstant, type Author } from '../domain/audit.ts';
import { type Limits, PLANS, type Plan } from '../domain/plan.ts';
import { accountFromRow, type AccountRow, SELECT_ACCOUNTS } from './account-rows.ts';
import { accountChange, addAudit } from './audit.ts';
import type { Transaction } from './engine.ts';
import { noticeOfAccount } from './notices.ts';

/** The columns plan, per_minute and per_day: limits are stored only where the plan does not set them. */
export type PlanValues = readonly [Plan, number | null, number | null];

export function planValues(plan: Plan, { perMinute, perDay }: Limits): PlanValues {
  return PLANS[plan] === 'custom' ? [plan, perMinute, perDay] : [plan, null, null];
}

/** An account as it is until the commit. */
export async function lockAccount(transaction: Transaction, id: number): Promise<Account | undefined> {
  const [row] = await transaction.query<AccountRow>(`${SELECT_ACCOUNTS} WHERE id = $1 FOR UPDATE`, [id]);
  return row && accountFromRow(row);
}

/** Sets the columns plan, per_minute and per_day of an account. */
export async function setPlan(
  transaction: Transaction,
  author: Author,
  id: number,
  values: PlanValues,
): Promise<void> {
  const before = await lockAccount(transaction, id);
  const changed = await transaction.query(
    `UPDATE accounts SET plan = $1, per_minute = $2, per_day = $3
     WHERE id = $4 AND (plan <> $1 OR per_minute IS DISTINCT FROM $2 OR per_day IS DISTINCT FROM $3) RETURNING 1`,
    [...values, id],
  );
  if (before === undefined || changed.length === 0) return;
  await noticeOfAccount(transaction, 'plan changed', id);
  const [plan, perMinute, perDay] = values;
  await addAudit(
    transaction,
    author,
    accountChange('accounts set', before, {
      before: { plan: before.plan, ...(before.plan === 'enterprise' && before.limits) },
      after: { plan, ...(perMinute !== null && { perMinute, perDay }) },
    }),
  );
}

/** Suspends an account at the instant `at`, or resumes it when `at` is null. */
export async function setSuspended(
  transaction: Transaction,
  author: Author,
  id: number,
  at: number | null,
): Promise<void> {
  const account = await lockAccount(transaction, id);
  if (account === undefined || (account.suspendedAt === undefined) === (at === null)) return;
  await transaction.query('UPDATE accounts SET suspended_at = $1 WHERE id = $2', [at, id]);
  await noticeOfAccount(transaction, at === null ? 'account resumed' : 'account suspended', id);
  await addAudit(
    transaction,
    author,
    accountChange(at === null ? 'accounts resume' : 'accounts suspend', account, {
      before: { suspendedAt: auditInstant(account.suspendedAt) },
      after: { suspendedAt: auditInstant(at) },
    }),
  );
}
