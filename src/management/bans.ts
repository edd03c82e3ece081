// Contract: section 6.
import type { Actor } from '../domain/audit.ts';
import { ServiceError } from '../domain/errors.ts';
import type { AccountRepository } from '../domain/account-ports.ts';
import type { KeyBan, RateLimitAdmin } from '../limits/counter.ts';
import type { NoticeRepository } from '../resources/notices/repository.ts';
import { existingKey } from './keys.ts';

/** A ban in force, with the key's account and label. */
export interface BanRecord extends KeyBan {
  readonly accountId: number;
  readonly account: string;
  readonly label: string | undefined;
}

/** Keys that one statement names. */
const KEYS_READ = 500;

interface Parts {
  readonly accounts: AccountRepository;
  readonly quotas: Pick<RateLimitAdmin, 'liftBan'>;
  readonly notices: NoticeRepository;
}

/**
 * These bans with their keys. Leaves out bans in Redis of keys that this database does not have, because they ban nobody
 * here.
 */
export async function describeBans(
  accounts: AccountRepository,
  bans: readonly KeyBan[],
): Promise<readonly BanRecord[]> {
  const records: BanRecord[] = [];
  for (let from = 0; from < bans.length; from += KEYS_READ) {
    const read = bans.slice(from, from + KEYS_READ);
    const keys = await accounts.findKeys(read.map(({ keyId }) => keyId));
    for (const ban of read) {
      const key = keys.get(ban.keyId);
      if (key === undefined) continue;
      const { account, label } = key;
      records.push({ ...ban, accountId: account.id, account: account.name, label });
    }
  }
  return records;
}

/**
 * Ends the ban of a key, with its notice and its entry in the audit log. With Redis, these follow right after
 * (docs/decisions/0069).
 * @throws ServiceError `not_found` when there is no such key, or it is not banned.
 */
export async function liftBan(
  { accounts, quotas, notices }: Parts,
  actor: Actor,
  keyId: number,
): Promise<void> {
  const lifted = await quotas.liftBan(actor, await existingKey(accounts, keyId));
  if (lifted === undefined) throw new ServiceError('not_found', `Key ${keyId} is not banned.`);
  if (!lifted.isRecorded) await notices.recordLift(actor, lifted.ban);
}
