// Contract: section 6.
import { setImmediate as letOthersRun } from 'node:timers/promises';
import type { Environment } from '../domain/api-key.ts';
import type { Actor } from '../domain/audit.ts';
import { type Clock, DAY, MINUTE } from '../domain/clock.ts';
import {
  type CounterStore,
  type KeyBan,
  planName,
  type RateLimitAdmin,
  type StoredStanding,
} from '../limits/counter.ts';
import { peek, restored, UNUSED, type Usage } from '../limits/quota.ts';
import { recordLift } from '../resources/notices/repository.ts';
import type { Value } from './sql.ts';
import type { Transaction } from './transaction.ts';
import type { Engine } from './engine.ts';
import { columnsOf, type RowOf, STANDINGS, USAGE } from './tables.ts';

type UsageRow = RowOf<typeof USAGE>;
type StandingRow = RowOf<typeof STANDINGS>;

const SELECT_USAGE = `SELECT ${columnsOf(USAGE)} FROM usage WHERE environment = $1 AND caller = $2`;
const SELECT_STANDING = `SELECT ${columnsOf(STANDINGS)} FROM standings WHERE key_id = $1 AND lifted = 0`;

const OR_UPDATE_USAGE = `
  ON CONFLICT (environment, caller) DO UPDATE SET minute_start = excluded.minute_start,
    minute_count = excluded.minute_count, day = excluded.day, day_count = excluded.day_count`;

// `lifted` stays as it is: an order to lift wins over what the serving process still knows of the key.
const OR_UPDATE_STANDING = `
  ON CONFLICT (key_id) DO UPDATE SET refusals = excluded.refusals, banned_until = excluded.banned_until,
    ban_count = excluded.ban_count`;

// Guards for a service that has lost its lock and does not know it yet: it never overwrites newer rows of the next
// service. Days and their counts only go up, and so does the end of a ban. A row that no right clock can have written is
// overwritten: its day is later than tomorrow, or its ban ends in more than a day.
const UNLESS_NEWER_USAGE = `
  WHERE (excluded.day, excluded.day_count) >= (usage.day, usage.day_count) OR usage.day > excluded.day + 1`;
const unlessNewerStanding = (now: number) => `
  WHERE coalesce(excluded.banned_until, 0) >= coalesce(standings.banned_until, 0)
    OR standings.banned_until > ${now + DAY}`;

/** Bans in force. The index `standings_banned` has every ban and no other row. */
const BANNED = 'environment = $1 AND banned_until > $2 AND lifted = 0';

/** Bans in one read: a few milliseconds of the thread that also answers requests, when the database is SQLite. */
const BANS_READ = 2_000;

/** Rows that one statement prunes: all addresses of a day at once could take longer than a statement may. */
const PRUNED_ROWS = 10_000;

/**
 * Writes usage and standings, all or nothing. With `guardedAt`, the time in Unix milliseconds, it leaves rows alone that
 * are newer.
 */
export async function writeCounters(
  transaction: Transaction,
  usage: readonly (readonly Value[])[],
  standings: readonly (readonly Value[])[],
  guardedAt: number | undefined,
): Promise<void> {
  const [newerUsage, newerStanding] =
    guardedAt === undefined ? ['', ''] : [UNLESS_NEWER_USAGE, unlessNewerStanding(guardedAt)];
  if (usage.length > 0) await transaction.insert(USAGE, usage, `${OR_UPDATE_USAGE} ${newerUsage}`);
  if (standings.length > 0)
    await transaction.insert(STANDINGS, standings, `${OR_UPDATE_STANDING} ${newerStanding}`);
}

export async function dropLifted(transaction: Transaction, keyIds: readonly number[]): Promise<void> {
  for (const keyId of keyIds)
    await transaction.query('DELETE FROM standings WHERE key_id = $1 AND lifted = 1', [keyId]);
}

export const TABLES = [USAGE, STANDINGS];

/** Lifts the ban of a key that is in force at `now` (Unix milliseconds). */
async function liftBan(
  transaction: Transaction,
  actor: Actor,
  environment: Environment,
  keyId: number,
  now: number,
): Promise<KeyBan | undefined> {
  const [row] = await transaction.query<[until: bigint, count: bigint]>(
    `UPDATE standings SET lifted = 1
     WHERE environment = $1 AND key_id = $2 AND banned_until > $3 AND lifted = 0 RETURNING banned_until, ban_count`,
    [environment, keyId, now],
  );
  if (row === undefined) return undefined;
  const ban = { keyId, until: Number(row[0]), count: Number(row[1]) };
  await recordLift(transaction, actor, ban);
  return ban;
}

export const WRITES = { writeCounters, dropLifted, liftBan };

/** Counters of the serving process that outlive it, and what an operator sees of them from another process. */
export function open(
  engine: Engine,
  { clock, environment }: { readonly clock: Clock; readonly environment: Environment },
): CounterStore & RateLimitAdmin {
  const now = () => Math.floor(clock().unix);

  async function readUsage(caller: string): Promise<Usage | undefined> {
    const [row] = await engine.read<UsageRow>(SELECT_USAGE, [environment, caller]);
    return row && usageFromRow(row);
  }

  /** Deletes the rows of this environment to which `condition` applies. */
  async function pruneTable(table: string, key: string, condition: string, values: readonly number[]) {
    const sql = `DELETE FROM ${table} WHERE (${key}) IN
      (SELECT ${key} FROM ${table} WHERE environment = $1 AND ${condition} LIMIT ${PRUNED_ROWS}) RETURNING 1`;
    while ((await engine.change(sql, [environment, ...values])).length === PRUNED_ROWS);
  }

  async function readBans(condition: string, values: readonly Value[]): Promise<readonly KeyBan[]> {
    const rows = await engine.read<[keyId: bigint, until: bigint, count: bigint]>(
      `SELECT key_id, banned_until, ban_count FROM standings WHERE ${BANNED} ${condition}`,
      [environment, now(), ...values],
    );
    return rows.map(([keyId, until, count]) => ({
      keyId: Number(keyId),
      until: Number(until),
      count: Number(count),
    }));
  }

  /** All bans in force with larger key ids, some at a time. */
  async function* pagesOfBans(after: number, limit: number): AsyncGenerator<readonly KeyBan[]> {
    for (let last: number | undefined = after; last !== undefined; ) {
      const bans = await readBans('AND key_id > $3 ORDER BY key_id LIMIT $4', [last, limit]);
      yield bans;
      last = bans.length < limit ? undefined : bans.at(-1)?.keyId;
      if (last !== undefined) await letOthersRun();
    }
  }

  /** The bans of one account. An account can have far more keys than there are bans, so the bans are read first. */
  async function* bansOfAccount(accountId: number, after: number): AsyncGenerator<readonly KeyBan[]> {
    // A condition on the account would make the database read all keys of the account.
    const sql = `SELECT id, account_id FROM keys WHERE ${engine.isAnyOf('id', '$1')}`;
    for await (const bans of pagesOfBans(after, BANS_READ)) {
      const ids = JSON.stringify(bans.map(({ keyId }) => keyId));
      const rows = await engine.read<[id: bigint, accountId: bigint]>(sql, [ids]);
      const own = new Set(
        rows.filter(([, account]) => Number(account) === accountId).map(([id]) => Number(id)),
      );
      yield bans.filter(({ keyId }) => own.has(keyId));
    }
  }

  return {
    readUsage,
    async readStanding(keyId) {
      const [row] = await engine.read<StandingRow>(SELECT_STANDING, [keyId]);
      return row && standingFromRow(row);
    },
    write: ({ usage, standings }) =>
      engine.write(
        writeCounters,
        Array.from(usage, ([caller, each]) => usageRow(environment, caller, each)),
        Array.from(standings, ([keyId, each]) => standingRow(environment, keyId, each)),
        engine.mayLoseLock ? now() : undefined,
      ),
    async readLifted() {
      const sql = 'SELECT key_id FROM standings WHERE lifted = 1 AND environment = $1';
      return (await engine.read<[keyId: bigint]>(sql, [environment])).map(([keyId]) => Number(keyId));
    },
    dropLifted: (keyIds) => engine.write(dropLifted, keyIds),
    async prune(day, endedBefore) {
      const over = 'day < $2 AND minute_start < $3';
      await pruneTable('usage', 'environment, caller', over, [day, now() - MINUTE]);
      const ended = `coalesce(banned_until, 0) < $2 AND coalesce(${engine.lastElement('refusals')}, 0) < $2`;
      await pruneTable('standings', 'key_id', ended, [Math.floor(endedBefore)]);
    },
    async listBans({ accountId, after = 0, limit = Number.POSITIVE_INFINITY } = {}) {
      const pages =
        accountId === undefined
          ? pagesOfBans(after, Math.min(limit, BANS_READ))
          : bansOfAccount(accountId, after);
      const found: KeyBan[] = [];
      for await (const bans of pages) {
        found.push(...bans);
        if (found.length >= limit) break;
      }
      return found.slice(0, limit);
    },
    async countBans() {
      const [row] = await engine.read<[count: bigint]>(`SELECT count(*) FROM standings WHERE ${BANNED}`, [
        environment,
        now(),
      ]);
      return Number(row?.[0]);
    },
    async bansOf(keys) {
      if (keys.length === 0) return [];
      const ids = keys.map(({ id }) => id);
      const bans = await readBans(`AND ${engine.isAnyOf('key_id', '$3')}`, [JSON.stringify(ids)]);
      const byKey = new Map(bans.map((ban) => [ban.keyId, ban]));
      return ids.flatMap((id) => byKey.get(id) ?? []);
    },
    async liftBan(actor, { id: keyId }) {
      const ban = await engine.write(liftBan, actor, environment, keyId, now());
      return ban && { ban, isRecorded: true };
    },
    async usageOf(account) {
      const usage = (await readUsage(planName(account.id))) ?? UNUSED;
      const { unix } = clock();
      const moment = { unix, monotonic: unix };
      return peek(restored(usage, moment), account.limits, moment);
    },
  };
}

export function usageFromRow([, , minuteStart, minuteCount, day, dayCount]: UsageRow): Usage {
  return {
    minuteStart: Number(minuteStart),
    minuteCount: Number(minuteCount),
    day: Number(day),
    dayCount: Number(dayCount),
  };
}

/** Rounded up: a window that seems to begin a little later never ends too early. */
function usageRow(environment: Environment, caller: string, usage: Usage): readonly Value[] {
  const { minuteStart, minuteCount, day, dayCount } = usage;
  return [environment, caller, Math.ceil(minuteStart), minuteCount, day, dayCount];
}

export function standingFromRow([, , refusals, until, count]: StandingRow): StoredStanding {
  const ban = until === null || count === null ? undefined : { until: Number(until), count: Number(count) };
  return { refusals: JSON.parse(refusals) as number[], ban };
}

function standingRow(environment: Environment, keyId: number, standing: StoredStanding): readonly Value[] {
  const { refusals, ban } = standing;
  const until = ban === undefined ? null : Math.ceil(ban.until);
  return [keyId, environment, JSON.stringify(refusals.map(Math.ceil)), until, ban?.count ?? null, 0];
}
