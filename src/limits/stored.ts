// Contract: section 6.
import { setImmediate as letOthersRun } from 'node:timers/promises';
import { ENVIRONMENTS, type Environment } from '../domain/api-key.ts';
import { repeatRounds } from '../domain/rounds.ts';
import { type Clock, DAY, MINUTE } from '../domain/clock.ts';
import type { Signal } from '../domain/page.ts';
import type { Engine } from '../storage/engine.ts';
import { raw, type Sql, sql, type Value } from '../storage/sql.ts';
import {
  boolean,
  createParser,
  enumeration,
  instant,
  integer,
  numberList,
  optional,
  type Stored,
  Table,
  text,
} from '../storage/table.ts';
import type { Transaction } from '../storage/transaction.ts';
import type { Ban, BanRecord } from './ban.ts';
import { callerName, type KeyBan, type LimiterStore, type RateLimitAdmin } from './limiter.ts';
import { type Counts, peek, correctCounts, UNUSED } from './quota.ts';

/** The counts of callers in their windows. */
export const WINDOWS = new Table(
  'usage',
  {
    environment: enumeration(ENVIRONMENTS),
    caller: text,
    minuteStart: instant,
    minuteCount: integer,
    day: integer,
    dayCount: integer,
  },
  { key: ['environment', 'caller'] },
);

/** The refusals and the last bans of keys. */
export const BAN_RECORDS = new Table(
  'standings',
  {
    keyId: integer,
    environment: enumeration(ENVIRONMENTS),
    refusals: numberList,
    bannedUntil: optional(instant),
    banCount: optional(integer),
    /** An operator has lifted the ban, and the serving process has not heard of it yet. */
    lifted: boolean,
  },
  { key: ['key_id'] },
);

export const TABLES = [WINDOWS, BAN_RECORDS];

const OR_UPDATE_COUNTS = `
  ON CONFLICT (environment, caller) DO UPDATE SET minute_start = excluded.minute_start,
    minute_count = excluded.minute_count, day = excluded.day, day_count = excluded.day_count`;

// `lifted` stays as it is: a lift wins over what the serving process still knows of the key.
const OR_UPDATE_RECORD = `
  ON CONFLICT (key_id) DO UPDATE SET refusals = excluded.refusals, banned_until = excluded.banned_until,
    ban_count = excluded.ban_count`;

// Guards for a service that has lost its lock and does not know it yet: it never overwrites newer rows of the next
// service. Days and their counts only go up, and so does the end of a ban. A row that no right clock can have written is
// overwritten: its day is later than tomorrow, or its ban ends in more than a day.
const UNLESS_NEWER_COUNTS = `
  WHERE (excluded.day, excluded.day_count) >= (usage.day, usage.day_count) OR usage.day > excluded.day + 1`;
const unlessNewerRecord = (now: number) => `
  WHERE coalesce(excluded.banned_until, 0) >= coalesce(standings.banned_until, 0)
    OR standings.banned_until > ${now + DAY}`;

/** Rows in one read: a few milliseconds of the thread that also answers requests, when the database is SQLite. */
const ROWS_READ = 2_000;

/** Rows that one statement prunes: all addresses of a day at once could take longer than a statement may. */
const PRUNED_ROWS = 10_000;

type Rows = readonly (readonly Value[])[];

/** Writes all rows of `WINDOWS` or none. `isGuarded`: rows that are newer stay. */
async function writeCounts(transaction: Transaction, rows: Rows, isGuarded: boolean): Promise<void> {
  await transaction.insert(WINDOWS, rows, `${OR_UPDATE_COUNTS} ${isGuarded ? UNLESS_NEWER_COUNTS : ''}`);
}

/** Writes all rows of `BAN_RECORDS` or none. With `guardedAt`, Unix milliseconds, rows that are newer stay. */
async function writeBanRecords(
  transaction: Transaction,
  rows: Rows,
  guardedAt: number | undefined,
): Promise<void> {
  const guard = guardedAt === undefined ? '' : unlessNewerRecord(guardedAt);
  await transaction.insert(BAN_RECORDS, rows, `${OR_UPDATE_RECORD} ${guard}`);
}

async function dropLifted(transaction: Transaction, keyIds: readonly number[]): Promise<void> {
  for (const keyId of keyIds)
    await transaction.query(sql`DELETE FROM standings WHERE key_id = ${keyId} AND lifted = 1`);
}

/** Deletes rows of a table to which `condition` applies. Returns whether there may be more. */
async function deleteSome(
  transaction: Transaction,
  { name, key }: typeof WINDOWS | typeof BAN_RECORDS,
  condition: Sql,
): Promise<boolean> {
  const columns = raw(key.join(', '));
  const deleted = await transaction.query(sql`DELETE FROM ${raw(name)} WHERE (${columns}) IN (
    SELECT ${columns} FROM ${raw(name)} WHERE ${condition} LIMIT ${PRUNED_ROWS}) RETURNING 1`);
  return deleted.length === PRUNED_ROWS;
}

/** Deletes counts of days before `day` whose minute began before `minute`. Returns whether there may be more. */
function pruneCounts(transaction: Transaction, environment: Environment, day: number, minute: number) {
  return deleteSome(
    transaction,
    WINDOWS,
    sql`environment = ${environment} AND day < ${day} AND minute_start < ${minute}`,
  );
}

/** Deletes records whose bans and refusals are all before `endedBefore`. Returns whether there may be more. */
function pruneBanRecords(transaction: Transaction, environment: Environment, endedBefore: number) {
  const lastRefusal = transaction.dialect.lastElement('refusals');
  return deleteSome(
    transaction,
    BAN_RECORDS,
    sql`environment = ${environment} AND coalesce(banned_until, 0) < ${endedBefore}
      AND coalesce(${lastRefusal}, 0) < ${endedBefore}`,
  );
}

export const WRITES = { writeCounts, writeBanRecords, dropLifted, pruneCounts, pruneBanRecords };

/** Bans in force at `now` (Unix milliseconds). The index `standings_banned` has every ban and no other row. */
function inForce(environment: Environment, now: number): Sql {
  return sql`environment = ${environment} AND banned_until > ${now} AND lifted = 0`;
}

/** Without the columns that tell rows apart, because there may be very many counts in memory. */
export function parseCounts({ minuteStart, minuteCount, day, dayCount }: Stored<typeof WINDOWS>): Counts {
  return { minuteStart, minuteCount, day, dayCount };
}

export function lastBan({ bannedUntil, banCount }: Stored<typeof BAN_RECORDS>): Ban | undefined {
  return bannedUntil === undefined || banCount === undefined
    ? undefined
    : { until: bannedUntil, count: banCount };
}

const BAN_COLUMNS = raw('key_id, banned_until, ban_count');

const parseBan = createParser({ keyId: integer, until: instant, count: integer });

/**
 * Lifts the ban of a key that is in force at `now` (Unix milliseconds). Bans end by the clock of the service, not by that
 * of the database. The serving process follows within a second.
 */
export async function liftBan(
  transaction: Transaction,
  environment: Environment,
  keyId: number,
  now: number,
): Promise<KeyBan | undefined> {
  const [row] = await transaction.query(
    sql`UPDATE standings SET lifted = 1 WHERE key_id = ${keyId} AND ${inForce(environment, now)} RETURNING ${BAN_COLUMNS}`,
  );
  return row && parseBan(row);
}

/** What outlives the serving process, and what an operator sees of it from another process. */
export function open(
  engine: Engine,
  { clock, environment }: { readonly clock: Clock; readonly environment: Environment },
): LimiterStore & RateLimitAdmin {
  const now = () => Math.floor(clock().unix);

  async function readCounts(caller: string): Promise<Counts | undefined> {
    const [row] = await engine.select(
      WINDOWS,
      sql`WHERE environment = ${environment} AND caller = ${caller}`,
    );
    return row && parseCounts(row);
  }

  async function readBans(end: Sql): Promise<readonly KeyBan[]> {
    const rows = await engine.query(
      sql`SELECT ${BAN_COLUMNS} FROM standings WHERE ${inForce(environment, now())} ${end}`,
    );
    return rows.map(parseBan);
  }

  /** All bans in force with larger key ids, some at a time. */
  async function* readPages(
    after: number | bigint,
    limit: number,
    signal: Signal | undefined,
  ): AsyncGenerator<readonly KeyBan[]> {
    for (let last: number | bigint | undefined = after; last !== undefined; ) {
      const bans = await readBans(sql`AND key_id > ${last} ORDER BY key_id LIMIT ${limit}`);
      yield bans;
      last = bans.length < limit ? undefined : bans.at(-1)?.keyId;
      if (last === undefined) return;
      await letOthersRun();
      signal?.throwIfAborted();
    }
  }

  /** The bans of one account. An account can have far more keys than there are bans, so the bans are read first. */
  async function* readPagesOfAccount(
    accountId: number,
    after: number | bigint,
    signal: Signal | undefined,
  ): AsyncGenerator<readonly KeyBan[]> {
    for await (const bans of readPages(after, ROWS_READ, signal)) {
      // A condition on the account would make the database read all keys of the account.
      const isBanned = engine.dialect.isAnyOf(
        'id',
        bans.map(({ keyId }) => keyId),
      );
      const rows = await engine.query<[id: bigint, accountId: bigint]>(
        sql`SELECT id, account_id FROM keys WHERE ${isBanned}`,
      );
      const keyIds = new Set(
        rows.filter(([, account]) => Number(account) === accountId).map(([id]) => Number(id)),
      );
      yield bans.filter(({ keyId }) => keyIds.has(keyId));
    }
  }

  return {
    readCounts,
    async readBanRecords() {
      const records = new Map<number, BanRecord>();
      for (let last = 0; ; await letOthersRun()) {
        const rows = await engine.select(
          BAN_RECORDS,
          sql`WHERE key_id > ${last} AND environment = ${environment} AND lifted = 0 ORDER BY key_id LIMIT ${ROWS_READ}`,
        );
        for (const row of rows) records.set(row.keyId, { refusals: row.refusals, ban: lastBan(row) });
        if (rows.length < ROWS_READ) return records;
        last = rows.at(-1)?.keyId ?? last;
      }
    },
    writeCounts: (counts) =>
      engine.write(
        writeCounts,
        Array.from(counts, ([caller, { minuteStart, ...rest }]) =>
          // Rounded up: a window that seems to begin a little later never ends too early.
          WINDOWS.encode({ environment, caller, minuteStart: Math.ceil(minuteStart), ...rest }),
        ),
        engine.mayLoseLock,
      ),
    writeBanRecords: (records) =>
      engine.write(
        writeBanRecords,
        Array.from(records, ([keyId, { refusals, ban }]) =>
          BAN_RECORDS.encode({
            keyId,
            environment,
            refusals: refusals.map(Math.ceil),
            ...(ban !== undefined && { bannedUntil: Math.ceil(ban.until), banCount: ban.count }),
            lifted: false,
          }),
        ),
        engine.mayLoseLock ? now() : undefined,
      ),
    async readLifted() {
      const rows = await engine.query<[keyId: bigint]>(
        sql`SELECT key_id FROM standings WHERE lifted = 1 AND environment = ${environment}`,
      );
      return rows.map(([keyId]) => Number(keyId));
    },
    dropLifted: (keyIds) => engine.write(dropLifted, keyIds),
    async prune(day, endedBefore, signal) {
      await repeatRounds(() => engine.write(pruneCounts, environment, day, now() - MINUTE), signal);
      await repeatRounds(() => engine.write(pruneBanRecords, environment, Math.floor(endedBefore)), signal);
    },
    async listBans({ accountId, after = 0, limit = Number.POSITIVE_INFINITY, signal } = {}) {
      const pages =
        accountId === undefined
          ? readPages(after, Math.min(limit, ROWS_READ), signal)
          : readPagesOfAccount(accountId, after, signal);
      const found: KeyBan[] = [];
      for await (const bans of pages) {
        found.push(...bans);
        if (found.length >= limit) break;
      }
      return found.slice(0, limit);
    },
    async countBans() {
      const [row] = await engine.query<[count: bigint]>(
        sql`SELECT count(*) FROM standings WHERE ${inForce(environment, now())}`,
      );
      return Number(row?.[0]);
    },
    async findBans(keys) {
      if (keys.length === 0) return [];
      const ids = keys.map(({ id }) => id);
      const bans = await readBans(sql`AND ${engine.dialect.isAnyOf('key_id', ids)}`);
      const byKey = new Map(bans.map((ban) => [ban.keyId, ban]));
      return ids.flatMap((id) => byKey.get(id) ?? []);
    },
    async peek(windows) {
      const counts = (await readCounts(callerName(windows))) ?? UNUSED;
      const { unix } = clock();
      const moment = { unix, monotonic: unix };
      return peek(correctCounts(counts, moment), windows.limits, moment);
    },
  };
}
