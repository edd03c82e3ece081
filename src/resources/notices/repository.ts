import type { Plan } from '../../domain/plan.ts';
import type { Engine } from '../../storage/engine.ts';
import { sql } from '../../storage/sql.ts';
import { enumeration, integer, optional, Table } from '../../storage/table.ts';
import type { Transaction } from '../../storage/transaction.ts';

const KEY_EVENTS = ['ban lifted', 'key revoked', 'key rotated'] as const;

const ACCOUNT_EVENTS = ['plan changed', 'account renamed', 'account suspended', 'account resumed'] as const;

/**
 * Changes by operators that no service has logged yet. A change and its notice commit together, and of several instances
 * the one that deletes a notice logs it (docs/design/keys-and-operators.md).
 */
const NOTICES = new Table(
  'notices',
  {
    id: integer,
    event: enumeration([...KEY_EVENTS, ...ACCOUNT_EVENTS]),
    /** Absent when the whole account has changed. */
    keyId: optional(integer),
    accountId: integer,
  },
  { key: ['id'], assignsIds: true },
);

export const TABLES = [NOTICES];

/** Adds a notice of a key to the transaction of its change. */
export async function addKeyNotice(
  transaction: Transaction,
  event: (typeof KEY_EVENTS)[number],
  keyId: number,
): Promise<void> {
  await transaction.query(sql`
    INSERT INTO notices (event, key_id, account_id)
    SELECT CAST(${event} AS text), id, account_id FROM keys WHERE id = ${keyId}`);
}

/** Adds a notice of an account to the transaction of its change. */
export async function addAccountNotice(
  transaction: Transaction,
  event: (typeof ACCOUNT_EVENTS)[number],
  accountId: number,
): Promise<void> {
  await transaction.query(NOTICES.insert({ event, accountId }));
}

export function open(engine: Engine) {
  return {
    /** Removes all notices and returns them, the oldest first. */
    async take() {
      // Usually there are none, and a read costs less than a write.
      if ((await engine.read(sql`SELECT 1 FROM notices LIMIT 1`)).length === 0) return [];
      const rows = await engine.change(sql`
        DELETE FROM notices RETURNING ${NOTICES.list}, (SELECT name FROM accounts WHERE accounts.id = account_id),
          (SELECT plan FROM accounts WHERE accounts.id = account_id)`);
      return rows
        .map((row) => {
          const [account, plan] = row.slice(-2) as [string, Plan];
          return Object.assign(NOTICES.parse(row), { account, plan });
        })
        .toSorted((one, other) => one.id - other.id);
    },
  };
}
