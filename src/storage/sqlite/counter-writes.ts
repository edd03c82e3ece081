import type { DatabaseSync } from 'node:sqlite';
import type { Environment } from '../../domain/api-key.ts';
import type { standingValues, usageValues } from '../counter-rows.ts';
import { Query } from './rows.ts';

type UsageValues = ReturnType<typeof usageValues>;
type StandingValues = ReturnType<typeof standingValues>;

/** Counters and bans, written inside the transaction that the caller holds. Instants are Unix milliseconds. */
export function counterWrites(db: DatabaseSync) {
  const upsertUsage = new Query(
    db,
    `INSERT INTO usage VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET minute_start = excluded.minute_start,
     minute_count = excluded.minute_count, day = excluded.day, day_count = excluded.day_count`,
  );
  const pruneUsage = new Query(
    db,
    `DELETE FROM usage WHERE (environment, caller) IN
     (SELECT environment, caller FROM usage WHERE day < ? AND minute_start < ? AND environment = ? LIMIT ?)`,
  );
  // Leaves `lifted` as it is: an order to lift comes before what the serving process still remembers of the key.
  const upsertStanding = new Query(
    db,
    `INSERT INTO standings VALUES (?, ?, ?, ?, ?, 0) ON CONFLICT DO UPDATE SET refusals = excluded.refusals,
     banned_until = excluded.banned_until, ban_count = excluded.ban_count`,
  );
  const pruneStandings = new Query(
    db,
    `DELETE FROM standings WHERE key_id IN (SELECT key_id FROM standings WHERE environment = ? AND
     max(coalesce(banned_until, 0), coalesce(refusals ->> '$[#-1]', 0)) < ? LIMIT ?)`,
  );
  const lift = new Query(
    db,
    'UPDATE standings SET lifted = 1 WHERE environment = ? AND key_id = ? AND banned_until > ? AND lifted = 0',
  );
  const dropLifted = new Query(db, 'DELETE FROM standings WHERE key_id = ? AND lifted = 1');
  return {
    writeCounters(
      environment: Environment,
      usage: readonly (readonly [caller: string, values: UsageValues])[],
      standings: readonly (readonly [keyId: number, values: StandingValues])[],
    ): void {
      for (const [caller, values] of usage) upsertUsage.run(environment, caller, ...values);
      for (const [keyId, values] of standings) upsertStanding.run(keyId, environment, ...values);
    },
    dropLifted(keyIds: readonly number[]): void {
      for (const keyId of keyIds) dropLifted.run(keyId);
    },
    /**
     * Drops usage of days before `day` whose minute began before `begunBefore`, and standings that ended before
     * `endedBefore`, at most `limit` of each. Gives how many it dropped.
     */
    pruneCounters(
      environment: Environment,
      [day, begunBefore, endedBefore]: readonly [day: number, begunBefore: number, endedBefore: number],
      limit: number,
    ): number {
      const usage = pruneUsage.run(day, begunBefore, environment, limit);
      const standings = pruneStandings.run(environment, endedBefore, limit);
      return Number(usage.changes + standings.changes);
    },
    /** False when the key is not banned. */
    liftBan(environment: Environment, keyId: number, now: number): boolean {
      return lift.run(environment, keyId, now).changes > 0n;
    },
  };
}
