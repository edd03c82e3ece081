// Contract: section 6.
import { type Actor, SERVICE } from '../../domain/audit.ts';
import { chunksOf } from '../../domain/chunks.ts';
import type { Clock } from '../../domain/clock.ts';
import type { Environment } from '../../domain/api-key.ts';
import { textFromInstant } from '../../domain/instant.ts';
import { type Page, type PageQuery, toPage } from '../../domain/page.ts';
import type { KeyBan, RateLimitAdmin } from '../../limits/limiter.ts';
import * as stored from '../../limits/stored.ts';
import type { Engine } from '../../storage/engine.ts';
import { sql } from '../../storage/sql.ts';
import { createParser, integer, optional, text } from '../../storage/table.ts';
import type { Transaction } from '../../storage/transaction.ts';
import { addAudit } from '../audit/repository.ts';
import { markOnce, recordEvents } from '../events/repository.ts';
import { keyEvent } from '../keys/repository.ts';
import { KEYS, parseKey, SELECT_KEYS } from '../keys/table.ts';

/** A ban in force, with the key's label and account. */
export interface ListedBan extends KeyBan {
  readonly accountId: number;
  readonly account: string;
  readonly label: string | undefined;
}

interface ListQuery extends PageQuery {
  readonly accountId?: number | undefined;
}

const parseListed = createParser({ id: integer, label: optional(text), accountId: integer, account: text });

/** Keys that one statement names. */
const KEYS_READ = 500;

/** Adds the entry in the audit log of a ban that was lifted. */
async function recordLift(
  transaction: Transaction,
  actor: Actor,
  { keyId, until, count }: KeyBan,
): Promise<void> {
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

/** Lifts a ban that is in force at `now` (Unix milliseconds), with its entry in the audit log. */
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

/** Tells accounts, once for each ban, that a key of theirs was banned. Bans of keys that are not in this database tell nobody. */
async function recordBans(transaction: Transaction, bans: readonly KeyBan[]): Promise<void> {
  const now = Math.floor(await transaction.now());
  for (const { keyId, until } of bans) {
    const [row] = await transaction.query(sql`${SELECT_KEYS} WHERE k.id = ${keyId}`);
    if (row !== undefined && (await markOnce(transaction, `key.banned ${keyId} ${until}`)))
      await recordEvents(transaction, [keyEvent('key.banned', SERVICE, parseKey(row), now)]);
  }
}

export const WRITES = { liftBan, recordLift, recordBans };

const refuse = (message: string) => ({ error: 'not_found', message }) as const;

export type BanRepository = ReturnType<typeof open>;

export function open(
  engine: Engine,
  { clock, environment }: { readonly clock: Clock; readonly environment: Environment },
) {
  async function describe(bans: readonly KeyBan[]): Promise<readonly ListedBan[]> {
    const described: ListedBan[] = [];
    for (const part of chunksOf(bans, KEYS_READ)) {
      const ids = part.map(({ keyId }) => keyId);
      const rows = await engine.query(
        sql`SELECT keys.id, label, account_id, name FROM keys JOIN accounts ON accounts.id = account_id
          WHERE ${engine.dialect.isAnyOf('keys.id', ids)}`,
      );
      const keys = new Map(rows.map(parseListed).map((key) => [key.id, key]));
      for (const ban of part) {
        const key = keys.get(ban.keyId);
        if (key === undefined) continue;
        const { accountId, account, label } = key;
        described.push({ ...ban, accountId, account, label });
      }
    }
    return described;
  }

  return {
    /** The bans in force, by the numbers of their keys. */
    async list(
      { accountId, limit, cursor, signal }: ListQuery,
      quotas: Pick<RateLimitAdmin, 'listBans'>,
    ): Promise<Page<ListedBan>> {
      const bans = await quotas.listBans({ accountId, after: cursor, limit: limit + 1, signal });
      const { items, next } = toPage(bans, limit, ({ keyId }) => BigInt(keyId));
      return { items: await describe(items), next };
    },
    /**
     * Ends the ban of a key, with its entry in the audit log. With Redis, this follows right after
     * (docs/design/keys-and-operators.md).
     */
    async lift(actor: Actor, keyId: number, quotas: Pick<RateLimitAdmin, 'liftBan'>) {
      const [key] = await engine.select(KEYS, sql`WHERE id = ${keyId}`);
      const ban =
        quotas.liftBan === undefined
          ? await engine.write(liftBan, actor, environment, keyId, Math.floor(clock().unix))
          : key && (await quotas.liftBan({ id: keyId, account: { id: key.accountId } }));
      if (ban === undefined)
        return refuse(key === undefined ? `There is no key ${keyId}.` : `Key ${keyId} is not banned.`);
      if (quotas.liftBan !== undefined) await engine.write(recordLift, actor, ban);
      return { value: undefined };
    },
    async record(bans: readonly KeyBan[]): Promise<void> {
      for (const part of chunksOf(bans, KEYS_READ)) await engine.write(recordBans, part);
    },
    /**
     * These bans with their keys. Leaves out bans in Redis of keys that this database does not have, because they ban
     * nobody here.
     */
    describe,
  };
}
