import type { DatabaseSync } from 'node:sqlite';
import type { Account } from '../../domain/account.ts';
import type { Standing } from '../../domain/ban.ts';
import type { Environment } from '../../domain/api-key.ts';
import type { Clock } from '../../domain/clock.ts';
import {
  accountCaller,
  type CounterChanges,
  type CounterStore,
  type KeyBan,
  type QuotaAdmin,
} from '../../domain/ports.ts';
import { MINUTE, peek, type Quota, UNUSED, type Usage } from '../../domain/quota.ts';
import {
  banOf,
  type BanRow,
  STANDING_COLUMNS,
  standingOf,
  type StandingRow,
  standingValues,
  USAGE_COLUMNS,
  usageOf,
  type UsageRow,
  usageValues,
} from '../counter-rows.ts';
import { Query } from './rows.ts';
import type { Writer } from './writer.ts';

/** Counters of the serving process, as they outlast it; and what an operator sees of them from another process. */
export class SqliteCounters implements CounterStore, QuotaAdmin {
  readonly #clock: Clock;
  readonly #environment: Environment;
  readonly #writer: Writer;
  readonly #usage: Query<UsageRow>;
  readonly #writeUsage: Query<never>;
  readonly #pruneUsage: Query<never>;
  readonly #standing: Query<StandingRow>;
  readonly #writeStanding: Query<never>;
  readonly #pruneStandings: Query<never>;
  readonly #bans: Query<BanRow>;
  readonly #lift: Query<never>;
  readonly #lifted: Query<[keyId: bigint]>;
  readonly #deleteLifted: Query<never>;

  constructor(db: DatabaseSync, writer: Writer, clock: Clock, environment: Environment) {
    this.#clock = clock;
    this.#environment = environment;
    this.#writer = writer;
    this.#usage = new Query(db, `SELECT ${USAGE_COLUMNS} FROM usage WHERE environment = ? AND caller = ?`);
    this.#writeUsage = new Query(
      db,
      `INSERT INTO usage VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET minute_start = excluded.minute_start,
       minute_count = excluded.minute_count, day = excluded.day, day_count = excluded.day_count`,
    );
    this.#pruneUsage = new Query(db, 'DELETE FROM usage WHERE day < ? AND minute_start < ?');
    this.#standing = new Query(
      db,
      `SELECT ${STANDING_COLUMNS} FROM standings WHERE key_id = ? AND lifted = 0`,
    );
    this.#writeStanding = new Query(db, 'INSERT OR REPLACE INTO standings VALUES (?, ?, ?, ?, ?, 0)');
    this.#pruneStandings = new Query(
      db,
      `DELETE FROM standings WHERE max(coalesce(banned_until, 0), coalesce(refusals ->> '$[#-1]', 0)) < ?`,
    );
    this.#bans = new Query(
      db,
      `SELECT key_id, banned_until, ban_count FROM standings WHERE environment = ? AND banned_until > ? AND lifted = 0 ORDER BY key_id`,
    );
    this.#lift = new Query(
      db,
      'UPDATE standings SET lifted = 1 WHERE key_id = ? AND banned_until > ? AND lifted = 0',
    );
    this.#lifted = new Query(db, 'SELECT key_id FROM standings WHERE lifted = 1 AND environment = ?');
    this.#deleteLifted = new Query(db, 'DELETE FROM standings WHERE lifted = 1 AND environment = ?');
  }

  async readUsage(caller: string): Promise<Usage | undefined> {
    const row = this.#usage.get(this.#environment, caller);
    return row && usageOf(row);
  }

  async readStanding(keyId: number): Promise<Standing | undefined> {
    const row = this.#standing.get(keyId);
    return row && standingOf(row);
  }

  async write({ usage, standings }: CounterChanges): Promise<readonly number[]> {
    if (usage.size === 0 && standings.size === 0 && this.#lifted.get(this.#environment) === undefined)
      return [];
    return this.#writer.run(() => {
      for (const [caller, each] of usage)
        this.#writeUsage.run(this.#environment, caller, ...usageValues(each));
      // An order to lift comes before what this process still remembers of the key.
      const lifted = this.#lifted.all(this.#environment).map(([keyId]) => Number(keyId));
      this.#deleteLifted.run(this.#environment);
      for (const [keyId, standing] of standings) {
        if (!lifted.includes(keyId))
          this.#writeStanding.run(keyId, this.#environment, ...standingValues(standing));
      }
      return lifted;
    });
  }

  async prune(day: number, endedBefore: number): Promise<void> {
    const now = Math.floor(this.#clock().unix);
    await this.#writer.run(() => {
      this.#pruneUsage.run(day, now - MINUTE);
      this.#pruneStandings.run(Math.floor(endedBefore));
    });
  }

  async listBans(): Promise<readonly KeyBan[]> {
    return this.#bans.all(this.#environment, Math.floor(this.#clock().unix)).map(banOf);
  }

  async liftBan(keyId: number): Promise<boolean> {
    const { changes } = await this.#writer.run(() => this.#lift.run(keyId, Math.floor(this.#clock().unix)));
    return changes > 0n;
  }

  async usageOf(account: Account): Promise<Quota> {
    const usage = (await this.readUsage(accountCaller(account.id))) ?? UNUSED;
    const { unix } = this.#clock();
    return peek(usage, account.limits, { unix, monotonic: unix });
  }
}
