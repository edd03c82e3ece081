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
import type { Pool } from './pool.ts';

// Both statements have a guard, so a service that has lost its lock and does not know it yet never overwrites newer rows of
// the next service. Days and their counts only go up, and so does the end of a ban.
const WRITE_USAGE = `
  INSERT INTO usage (environment, caller, ${USAGE_COLUMNS})
  SELECT $1, * FROM unnest($2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[])
  ON CONFLICT (environment, caller) DO UPDATE SET minute_start = excluded.minute_start, minute_count = excluded.minute_count,
    day = excluded.day, day_count = excluded.day_count
  WHERE (excluded.day, excluded.day_count) >= (usage.day, usage.day_count)`;

// Leaves `lifted` as it is: an order to lift comes before what the serving process still remembers of the key.
const WRITE_STANDINGS = `
  INSERT INTO standings (environment, key_id, ${STANDING_COLUMNS})
  SELECT $1, * FROM unnest($2::bigint[], $3::text[], $4::bigint[], $5::bigint[])
  ON CONFLICT (key_id) DO UPDATE SET refusals = excluded.refusals, banned_until = excluded.banned_until,
    ban_count = excluded.ban_count
  WHERE coalesce(excluded.banned_until, 0) >= coalesce(standings.banned_until, 0)`;

/** Rows pruned by one statement: the addresses of a whole day at once might take longer than a statement may. */
const PRUNED = 10_000;

const PRUNE_USAGE = `
  DELETE FROM usage WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM usage WHERE day < $1 AND minute_start < $2 LIMIT ${PRUNED}
  )) RETURNING 1`;

/** Counters of a process that counts by itself, as they outlast it; and what an operator sees of them. */
export class PostgresCounters implements CounterStore, QuotaAdmin {
  readonly #pool: Pool;
  readonly #clock: Clock;
  readonly #environment: Environment;

  constructor(pool: Pool, clock: Clock, environment: Environment) {
    this.#pool = pool;
    this.#clock = clock;
    this.#environment = environment;
  }

  async readUsage(caller: string): Promise<Usage | undefined> {
    const [row] = await this.#pool.query<UsageRow>(
      `SELECT ${USAGE_COLUMNS} FROM usage WHERE environment = $1 AND caller = $2`,
      [this.#environment, caller],
    );
    return row && usageOf(row);
  }

  async readStanding(keyId: number): Promise<StoredStanding | undefined> {
    const [row] = await this.#pool.query<StandingRow>(
      `SELECT ${STANDING_COLUMNS} FROM standings WHERE key_id = $1 AND lifted = 0`,
      [keyId],
    );
    return row && standingOf(row);
  }

  write({ usage, standings }: CounterChanges): Promise<void> {
    return this.#pool.transaction(async (database) => {
      if (usage.size > 0)
        await database.query(WRITE_USAGE, [this.#environment, ...columns(usage, usageValues)]);
      if (standings.size > 0)
        await database.query(WRITE_STANDINGS, [this.#environment, ...columns(standings, standingValues)]);
    });
  }

  async readLifted(): Promise<readonly number[]> {
    const rows = await this.#pool.query<[keyId: bigint]>(
      'SELECT key_id FROM standings WHERE lifted = 1 AND environment = $1',
      [this.#environment],
    );
    return rows.map(([keyId]) => Number(keyId));
  }

  async dropLifted(keyIds: readonly number[]): Promise<void> {
    await this.#pool.query('DELETE FROM standings WHERE lifted = 1 AND key_id = ANY($1)', [keyIds]);
  }

  async prune(day: number, endedBefore: number): Promise<void> {
    const before = [day, this.#now() - MINUTE];
    while ((await this.#pool.query(PRUNE_USAGE, before)).length === PRUNED);
    await this.#pool.query(
      `DELETE FROM standings
       WHERE greatest(coalesce(banned_until, 0), coalesce((refusals::json ->> -1)::bigint, 0)) < $1`,
      [Math.floor(endedBefore)],
    );
  }

  async listBans(): Promise<readonly KeyBan[]> {
    const rows = await this.#pool.query<BanRow>(
      `SELECT key_id, banned_until, ban_count FROM standings
       WHERE environment = $1 AND banned_until > $2 AND lifted = 0 ORDER BY key_id`,
      [this.#environment, this.#now()],
    );
    return rows.map(banOf);
  }

  async liftBan(keyId: number): Promise<boolean> {
    const rows = await this.#pool.query(
      `UPDATE standings SET lifted = 1 WHERE environment = $1 AND key_id = $2 AND banned_until > $3 AND lifted = 0
       RETURNING key_id`,
      [this.#environment, keyId, this.#now()],
    );
    return rows.length > 0;
  }

  async usageOf(account: Account): Promise<Quota> {
    const usage = (await this.readUsage(accountCaller(account.id))) ?? UNUSED;
    const { unix } = this.#clock();
    const now = { unix, monotonic: unix };
    return peek(restored(usage, now), account.limits, now);
  }

  #now(): number {
    return Math.floor(this.#clock().unix);
  }
}

/** A map as the arrays of its columns, as `unnest` takes them. */
function columns<K, V>(map: ReadonlyMap<K, V>, values: (value: V) => readonly unknown[]): unknown[][] {
  const rows = [...map].map(([key, value]) => [key as unknown].concat(values(value)));
  return (rows[0] ?? []).map((_, column) => rows.map((row) => row[column]));
}
