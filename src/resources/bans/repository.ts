// Contract: section 6.
import type { Actor } from '../../domain/audit.ts';
import type { Clock } from '../../domain/clock.ts';
import type { Environment } from '../../domain/api-key.ts';
import { textFromInstant } from '../../domain/instant.ts';
import type { KeyBan, RateLimitAdmin } from '../../limits/limiter.ts';
import * as stored from '../../limits/stored.ts';
import type { Engine } from '../../storage/engine.ts';
import { sql } from '../../storage/sql.ts';
import type { Transaction } from '../../storage/transaction.ts';
import { addAudit } from '../audit/repository.ts';
import { addKeyNotice } from '../notices/repository.ts';

/** A ban in force, with the key's label and account. */
export interface ListedBan extends KeyBan {
  readonly accountId: number;
  readonly account: string;
  readonly label: string | undefined;
}

/** Keys that one statement names. */
const KEYS_READ = 500;

/** Adds the notice and the entry in the audit log of a ban that was lifted. */
async function recordLift(
  transaction: Transaction,
  actor: Actor,
  { keyId, until, count }: KeyBan,
): Promise<void> {
  await addKeyNotice(transaction, 'ban lifted', keyId);
  const [key] = await transaction.query<[accountId: bigint]>(
    sql`SELECT account_id FROM keys WHERE id = ${keyId}`,
  );
  await addAudit(transaction, actor, {
    action: 'bans lift',
    target: { kind: 'ban', name: String(keyId) },
    accountId: key && Number(key[0]),
    before: { until: textFromInstant(until), count },
  });
}

/** Lifts a ban that is in force at `now` (Unix milliseconds), with its notice and its entry in the audit log. */
async function liftBan(
  transaction: Transaction,
  actor: Actor,
  environment: Environment,
  keyId: number,
  now: number,
): Promise<KeyBan | undefined> {
  const ban = await stored.liftBan(transaction, environment, keyId, now);
  if (ban !== undefined) await recordLift(transaction, actor, ban);
  return ban;
}

export const WRITES = { liftBan, recordLift };

const refuse = (message: string) => ({ error: 'not_found', message }) as const;

export type BanRepository = ReturnType<typeof open>;

export function open(
  engine: Engine,
  { clock, environment }: { readonly clock: Clock; readonly environment: Environment },
) {
  /** For bans in the database. */
  const liftStored: RateLimitAdmin['liftBan'] = async (actor, { id }) => {
    const ban = await engine.write(liftBan, actor, environment, id, Math.floor(clock().unix));
    return ban && { ban, isRecorded: true };
  };
  return {
    liftStored,
    /**
     * Ends the ban of a key, with its notice and its entry in the audit log. With Redis, these follow right after
     * (docs/design/keys-and-operators.md).
     */
    async lift(actor: Actor, keyId: number, quotas: Pick<RateLimitAdmin, 'liftBan'>) {
      const [row] = await engine.read<[accountId: bigint]>(
        sql`SELECT account_id FROM keys WHERE id = ${keyId}`,
      );
      if (row === undefined) return refuse(`There is no key ${keyId}.`);
      const lifted = await quotas.liftBan(actor, { id: keyId, account: { id: Number(row[0]) } });
      if (lifted === undefined) return refuse(`Key ${keyId} is not banned.`);
      if (!lifted.isRecorded) await engine.write(recordLift, actor, lifted.ban);
      return { value: undefined };
    },
    /**
     * These bans with their keys. Leaves out bans in Redis of keys that this database does not have, because they ban
     * nobody here.
     */
    async describe(bans: readonly KeyBan[]): Promise<readonly ListedBan[]> {
      const described: ListedBan[] = [];
      for (let from = 0; from < bans.length; from += KEYS_READ) {
        const part = bans.slice(from, from + KEYS_READ);
        const ids = part.map(({ keyId }) => keyId);
        const rows = await engine.read<
          [keyId: bigint, label: string | null, accountId: bigint, account: string]
        >(
          sql`SELECT keys.id, label, account_id, name FROM keys JOIN accounts ON accounts.id = account_id
            WHERE ${engine.dialect.isAnyOf('keys.id', ids)}`,
        );
        const keys = new Map(rows.map(([keyId, ...key]) => [Number(keyId), key]));
        for (const ban of part) {
          const key = keys.get(ban.keyId);
          if (key === undefined) continue;
          const [label, accountId, account] = key;
          described.push({ ...ban, accountId: Number(accountId), account, label: label ?? undefined });
        }
      }
      return described;
    },
  };
}
