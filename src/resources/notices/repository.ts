import { PLAN_NAMES } from '../../domain/plan.ts';
import type { Engine } from '../../storage/engine.ts';
import { sql } from '../../storage/sql.ts';
import { createParser, enumeration, integer, optional, Table, text } from '../../storage/table.ts';
import type { Transaction } from '../../storage/transaction.ts';

const KEY_EVENTS = ['ban lifted', 'key revoked', 'key rotated', 'key scopes changed'] as const;

const ACCOUNT_EVENTS = ['plan changed', 'account renamed', 'account suspended', 'account resumed'] as const;

/**
 * Changes by operators that no service has logged yet. A change and its notice commit together, and of several instances
 * the one that deletes a notice logs it (docs/design/keys-and-operators.md).
 */
const NOTICES = new Table(
  'notices',
  {
    id: integer,
    /** For the log. A later version has others. */
    event: text,
    /** Absent when the whole account has changed. */
    keyId: optional(integer),
    accountId: integer,
  },
  { key: ['id'], assignsIds: true },
);

export const TABLES = [NOTICES];

const parseNotice = createParser({ ...NOTICES.codecs, account: text, plan: enumeration(PLAN_NAMES) });

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

async function takeNotices(transaction: Transaction) {
  const rows = await transaction.query(sql`
    DELETE FROM notices RETURNING ${NOTICES.list}, (SELECT name FROM accounts WHERE accounts.id = account_id),
      (SELECT plan FROM accounts WHERE accounts.id = account_id)`);
  return rows.map(parseNotice).toSorted((one, other) => one.id - other.id);
}

export const WRITES = { takeNotices };

export function open(engine: Engine) {
  return {
    /** Removes all notices and returns them, the oldest first. */
    async take() {
      // Usually there are none, and a read costs less than a write.
      if ((await engine.read(sql`SELECT 1 FROM notices LIMIT 1`)).length === 0) return [];
      return engine.write(takeNotices);
    },
  };
}
