import type { Actor } from '../domain/audit.ts';
import { textFromInstant } from '../domain/instant.ts';
import type { Plan } from '../domain/plan.ts';
import type { KeyBan } from '../limits/counter.ts';
import { addAudit } from '../resources/audit/repository.ts';
import type { Transaction } from './transaction.ts';
import type { Engine } from './engine.ts';
import type { Table } from './tables.ts';

/*
 * Changes by operators that no service has logged yet. A change and its notice commit together, and of several instances
 * the one that deletes a notice logs it (docs/decisions/0044).
 */

const NOTICES = {
  name: 'notices',
  key: ['id'],
  columns: [
    ['id', 'integer'],
    ['event', 'text'],
    ['key_id', 'integer?'],
    ['account_id', 'integer'],
  ],
  assignsIds: true,
} as const satisfies Table;

export const TABLES = [NOTICES];

type KeyEvent = 'ban lifted' | 'key revoked' | 'key rotated';

type AccountEvent = 'plan changed' | 'account renamed' | 'account suspended' | 'account resumed';

export interface Notice {
  readonly event: KeyEvent | AccountEvent;
  /** Undefined when the whole account has changed. */
  readonly keyId: number | undefined;
  readonly account: string;
  readonly plan: Plan;
}

type NoticeRow = readonly [id: bigint, event: string, keyId: bigint | null, account: string, plan: string];

const ADD_OF_KEY = `INSERT INTO notices (event, key_id, account_id)
  SELECT CAST($1 AS text), id, account_id FROM keys WHERE id = $2`;

const TAKE = `DELETE FROM notices RETURNING id, event, key_id,
  (SELECT name FROM accounts WHERE accounts.id = account_id),
  (SELECT plan FROM accounts WHERE accounts.id = account_id)`;

/** Adds a notice of a key to the transaction of its change. */
export async function noticeOfKey(transaction: Transaction, event: KeyEvent, keyId: number): Promise<void> {
  await transaction.query(ADD_OF_KEY, [event, keyId]);
}

/** Adds a notice of an account to the transaction of its change. */
export async function noticeOfAccount(
  transaction: Transaction,
  event: AccountEvent,
  accountId: number,
): Promise<void> {
  await transaction.query('INSERT INTO notices (event, account_id) VALUES ($1, $2)', [event, accountId]);
}

/** Adds a notice and an entry of the audit log for a ban that was lifted. */
export async function recordLift(
  transaction: Transaction,
  actor: Actor,
  { keyId, until, count }: KeyBan,
): Promise<void> {
  await noticeOfKey(transaction, 'ban lifted', keyId);
  const [key] = await transaction.query<[bigint]>('SELECT account_id FROM keys WHERE id = $1', [keyId]);
  await addAudit(transaction, actor, {
    action: 'bans lift',
    target: { kind: 'ban', name: String(keyId) },
    accountId: key && Number(key[0]),
    before: { until: textFromInstant(until), count },
  });
}

export const WRITES = { recordLift };

export type Notices = ReturnType<typeof open>;

export function open(engine: Engine) {
  return {
    /** Records a ban that was lifted in Redis: see `recordLift`. */
    banLifted: (actor: Actor, ban: KeyBan) => engine.write(recordLift, actor, ban),
    /** Removes all notices and returns them, the oldest first. */
    async take(): Promise<readonly Notice[]> {
      // Usually there are none, and a read costs less than a write.
      if ((await engine.read('SELECT 1 FROM notices LIMIT 1')).length === 0) return [];
      const rows = [...(await engine.change<NoticeRow>(TAKE))].toSorted((a, b) => Number(a[0] - b[0]));
      return rows.map(([, event, keyId, account, plan]) => ({
        event: event as Notice['event'],
        keyId: keyId === null ? undefined : Number(keyId),
        account,
        plan: plan as Plan,
      }));
    },
  };
}
