import type { RedisQuotas } from '../limits/redis/quotas.ts';
import { ENVIRONMENTS, type Environment } from '../domain/api-key.ts';
import type { Clock } from '../domain/clock.ts';
import type { AccountStore } from '../domain/ports.ts';
import { standingOf, type StandingRow, usageOf, type UsageRow } from '../storage/counter-rows.ts';
import type { Snapshot } from '../storage/transfer.ts';
import { tableOf } from '../storage/transfer-tables.ts';

type UsageTableRow = readonly [environment: Environment, caller: string, ...UsageRow];
type StandingsTableRow = readonly [keyId: bigint, environment: Environment, ...StandingRow, lifted: bigint];

/** The counters of `REDIS_URL`, one for each environment. */
export interface SharedCounters {
  readonly each: ReadonlyMap<Environment, RedisQuotas>;
  close(): void;
}

/** @throws StartupError in one line, when they cannot be used. */
export async function openSharedCounters(redisUrl: string, clock: Clock): Promise<SharedCounters> {
  const { openQuotas } = await import('../limits/redis/open.ts');
  const each = new Map<Environment, RedisQuotas>();
  const opened: (() => void)[] = [];
  const close = () => opened.forEach((disconnect) => disconnect());
  try {
    for (const environment of ENVIRONMENTS) {
      const { quotas, disconnect } = await openQuotas({ redisUrl, environment, clock });
      opened.push(disconnect);
      each.set(environment, quotas);
    }
  } catch (error) {
    close();
    throw error;
  }
  return { each, close };
}

/**
 * Takes over the usage and the bans of a database; what is there and goes further stays. Bans that are over count too:
 * the next one may have to last twice as long. Refusals of the last minute that led to no ban are forgiven.
 */
export async function restoreCounters(
  { each }: SharedCounters,
  from: Pick<Snapshot, 'rows'>,
  accounts: AccountStore,
): Promise<void> {
  for (const [environment, quotas] of each) {
    // The driver sends what is asked for at once together: a chunk costs about one round trip.
    for await (const chunk of from.rows(tableOf('usage'))) {
      const rows = chunk as unknown as readonly UsageTableRow[];
      const own = rows.filter(([of]) => of === environment);
      await Promise.all(
        own.map(([, caller, ...counts]) =>
          quotas.restore({ usage: new Map([[caller, usageOf(counts)]]) }, []),
        ),
      );
    }
    for await (const chunk of from.rows(tableOf('standings'))) {
      const rows = chunk as unknown as readonly StandingsTableRow[];
      const own = rows.filter(([, of, , , , lifted]) => of === environment && lifted === 0n);
      await Promise.all(own.map((row) => restoreBan(quotas, row, accounts)));
    }
  }
}

async function restoreBan(
  quotas: RedisQuotas,
  [keyId, , refusals, until, count]: StandingsTableRow,
  accounts: AccountStore,
): Promise<void> {
  const { ban } = standingOf([refusals, until, count]);
  if (ban === undefined) return;
  const key = await accounts.findKey(Number(keyId));
  if (key === undefined) throw new Error(`There is a ban of key ${keyId}, but no such key.`);
  await quotas.restore({ usage: new Map() }, [{ ...key, ...ban }]);
}
