import type { DatabaseSync } from 'node:sqlite';
import type { Account } from '../../domain/account.ts';
import type { Environment } from '../../domain/api-key.ts';
import { type Clock, MINUTE } from '../../domain/clock.ts';
import {
  accountCaller,
  type CounterChanges,
  type CounterStore,
  type KeyBan,
  type QuotaAdmin,
  type StoredStanding,
} from '../../limits/counter.ts';
import { peek, type Quota, restored, UNUSED, type Usage } from '../../limits/quota.ts';
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
import type { Changes } from './changes.ts';
import { Query } from './rows.ts';
import type { Writer } from './writer.ts';

/** So many of what is over are dropped at a time: other writes come between. */
const PRUNED = 10_000;

/** Counters of the serving process, as they outlast it; and what an operator sees of them from another process. */
export class SqliteCounters implements CounterStore, QuotaAdmin {
  readonly #clock: Clock;
  readonly #environment: Environment;
  readonly #writer: Writer;
  readonly #changes: Changes;
  readonly #usage: Query<UsageRow>;
  readonly #standing: Query<StandingRow>;
  readonly #bans: Query<BanRow>;
  readonly #lifted: Query<[keyId: bigint]>;

  constructor(db: DatabaseSync, writer: Writer, clock: Clock, changes: Changes, environment: Environment) {
    this.#clock = clock;
    this.#changes = changes;
    this.#environment = environment;
    this.#writer = writer;
    this.#usage = new Query(db, `SELECT ${USAGE_COLUMNS} FROM usage WHERE environment = ? AND caller = ?`);
    this.#standing = new Query(
      db,
      `SELECT ${STANDING_COLUMNS} FROM standings WHERE key_id = ? AND lifted = 0`,
    );
    this.#bans = new Query(
      db,
      `SELECT key_id, banned_until, ban_count FROM standings WHERE environment = ? AND banned_until > ? AND lifted = 0 ORDER BY key_id`,
    );
    this.#lifted = new Query(db, 'SELECT key_id FROM standings WHERE lifted = 1 AND environment = ?');
  }

  async readUsage(caller: string): Promise<Usage | undefined> {
    this.#changes.begin();
    const row = this.#usage.get(this.#environment, caller);
    return row && usageOf(row);
  }

  async readStanding(keyId: number): Promise<StoredStanding | undefined> {
    this.#changes.begin();
    const row = this.#standing.get(keyId);
    return row && standingOf(row);
  }

  write({ usage, standings }: CounterChanges): Promise<void> {
    return this.#writer.run('writeCounters', [
      this.#environment,
      Array.from(usage, ([caller, each]) => [caller, usageValues(each)] as const),
      Array.from(standings, ([keyId, each]) => [keyId, standingValues(each)] as const),
    ]);
  }

  async readLifted(): Promise<readonly number[]> {
    return this.#lifted.all(this.#environment).map(([keyId]) => Number(keyId));
  }

  dropLifted(keyIds: readonly number[]): Promise<void> {
    return this.#writer.run('dropLifted', [keyIds]);
  }

  async prune(day: number, endedBefore: number): Promise<void> {
    const over = [day, Math.floor(this.#clock().unix) - MINUTE, Math.floor(endedBefore)] as const;
    let dropped: number;
    do dropped = await this.#writer.run('pruneCounters', [this.#environment, over, PRUNED]);
    while (dropped >= PRUNED);
  }

  async listBans(): Promise<readonly KeyBan[]> {
    return this.#bans.all(this.#environment, Math.floor(this.#clock().unix)).map(banOf);
  }

  liftBan(keyId: number): Promise<boolean> {
    return this.#writer.run('liftBan', [this.#environment, keyId, Math.floor(this.#clock().unix)]);
  }

  async usageOf(account: Account): Promise<Quota> {
    const usage = (await this.readUsage(accountCaller(account.id))) ?? UNUSED;
    const { unix } = this.#clock();
    const now = { unix, monotonic: unix };
    return peek(restored(usage, now), account.limits, now);
  }
}
