import { readConfig } from '../app/config.ts';
import { ENVIRONMENTS, type Environment } from '../domain/api-key.ts';
import type { Clock } from '../domain/clock.ts';
import { ServiceError } from '../domain/errors.ts';
import { planName } from '../limits/limiter.ts';
import { BAN_RECORDS, lastBan, parseCounts, WINDOWS } from '../limits/stored.ts';
import type { RedisQuotas } from '../limits/redis/quotas.ts';
import { addAudit } from '../resources/audit/repository.ts';
import { findDatabaseUrlIssue, describeDatabase, parseDatabaseUrl } from '../config/database-url.ts';
import type { TableReader } from '../storage/engine.ts';
import { openStore } from '../app/store.ts';
import { systemActor } from '../config/system-actor.ts';
import { type Store, TABLES } from '../resources/repositories.ts';
import type { KeyRepository } from '../resources/keys/repository.ts';
import type { Stored } from '../storage/table.ts';
import { copyTables, type Step, type TableSummary } from '../storage/transfer.ts';
import { type ProgramTerminal, systemClock } from './context.ts';
import { ownCommand } from '../terminal/command.ts';
import type { System } from '../terminal/output.ts';
import type { Column } from '../terminal/table.ts';
import { option, required } from '../terminal/takers.ts';
import { table, view } from '../terminal/view.ts';
import { Progress } from '../terminal/progress.ts';

const NOTES = `The command copies animals, categories and orders with their ids, accounts, keys (the same keys stay valid), idempotency
records, usage, bans, operators and the audit log, to which it adds an entry. With REDIS_URL, it copies usage and bans
into Redis too. Counts that are in Redis stay there. It copies everything as of one instant and verifies the copy before
it commits, or it copies nothing. A service may run on the source, but its later changes are not copied: stop it first
to move.`;

/**
 * Two connections: one reads or writes all tables, the other one finds keys. A statement may take an hour, because sorting
 * a large table is one statement and no request waits for it.
 */
const COPY_POOL = { connections: 2, statementTimeout: 3_600_000 };

const COLUMNS: readonly Column<TableSummary>[] = [
  ['TABLE', ({ name }) => name],
  ['ROWS', ({ rows }) => rows],
  ['SHA-256', ({ sha256 }) => sha256],
];

export const copyCommand = ownCommand('copy', {
  description: 'copy everything into an empty database, to move from SQLite to PostgreSQL or back',
  takes: {
    from: required(option('<url>', 'the database to copy: sqlite:PATH or postgres://…')),
    to: required(option('<url>', 'an empty database: sqlite:PATH or postgres://…')),
  },
  notes: NOTES,
  examples: ['petstore copy --from sqlite:data/petstore.db --to postgres://petstore@db.example/petstore'],
  run: async ({ from, to }, { system }: ProgramTerminal) => {
    const tables = await copy(system, from, to);
    return view({ tables }, table(COLUMNS, tables));
  },
});

async function copy(system: System, from: string, to: string): Promise<readonly TableSummary[]> {
  // Checked here, because an error of commander would repeat the address with its password.
  for (const [name, url] of Object.entries({ from, to })) {
    const issue = findDatabaseUrlIssue(url);
    if (issue !== undefined) throw new ServiceError('invalid_parameter', `--${name} ${issue}`);
  }
  const config = readConfig(system.env);
  const clock = systemClock();
  const actor = systemActor();
  await using opened = new AsyncDisposableStack();
  const open = async (databaseUrl: string, isTarget: boolean): Promise<Store> =>
    opened.adopt(
      await openStore({
        ...config,
        pool: { ...config.pool, ...COPY_POOL },
        databaseUrl,
        mustExist: !isTarget,
        mustWrite: isTarget,
        clock,
        onLost: () => undefined,
      }),
      (store) => store.close(),
    );
  const source = await open(from, false);
  const target = await open(to, true);
  const limits =
    config.redisUrl === undefined ? undefined : await openSharedLimits(config.redisUrl, clock, opened);
  let progress: Progress | undefined;
  /** A line of progress for each table that is copied, and for each that is verified. */
  const onProgress = (step: Step, rows: number) => {
    const things = `rows of ${step.table.name} ${step.work}`;
    if (progress?.things !== things) progress = new Progress(system.stderr, clock, things);
    progress.update(rows);
  };
  const copying = copyTables(TABLES, source.database, target.database, {
    onProgress,
    // Before the commit, because a failed command can then be repeated.
    beforeCommit: async (copied) => {
      await addAudit(copied, actor, {
        action: 'copy',
        target: { kind: 'database', name: describeDatabase(parseDatabaseUrl(from)) },
      });
      if (limits !== undefined) await restoreLimits(limits, copied, source.keys);
    },
  });
  return await copying.finally(() => progress?.clear());
}

/** The limits in Redis. */
type SharedLimits = ReadonlyMap<Environment, RedisQuotas>;

/** Opens the limits in Redis. Disposing `opened` closes them. @throws StartupError when they cannot be used. */
async function openSharedLimits(
  redisUrl: string,
  clock: Clock,
  opened: AsyncDisposableStack,
): Promise<SharedLimits> {
  const { openQuotas } = await import('../limits/redis/open.ts');
  const limits = new Map<Environment, RedisQuotas>();
  for (const environment of ENVIRONMENTS) {
    const quotas = await openQuotas({ redisUrl, environment, clock });
    opened.defer(() => quotas.close());
    limits.set(environment, quotas);
  }
  return limits;
}

/**
 * Copies the counts and the bans of a database to Redis, which keeps its own where that is newer. Bans that are over are
 * copied too, because the next one may last twice as long. Refusals that led to no ban are not copied.
 */
async function restoreLimits(limits: SharedLimits, from: TableReader, keys: KeyRepository): Promise<void> {
  for (const [environment, quotas] of limits) {
    // The driver pipelines all calls of a chunk, so a chunk costs about one round trip.
    for await (const rows of from.rows(WINDOWS)) {
      const stored = rows.map(WINDOWS.parse).filter((row) => row.environment === environment);
      await Promise.all(stored.map((row) => quotas.restoreCounts(row.caller, parseCounts(row))));
    }
    for await (const rows of from.rows(BAN_RECORDS)) {
      const records = rows.map(BAN_RECORDS.parse);
      const restored = records.filter((record) => record.environment === environment && !record.lifted);
      await Promise.all(restored.map((record) => restoreBan(quotas, record, keys)));
    }
  }
}

async function restoreBan(
  quotas: RedisQuotas,
  record: Stored<typeof BAN_RECORDS>,
  keys: KeyRepository,
): Promise<void> {
  const ban = lastBan(record);
  if (ban === undefined) return;
  const key = await keys.find(record.keyId);
  if ('error' in key) throw new Error(`There is a ban of key ${record.keyId}, but no such key.`);
  await quotas.restoreBan(planName(key.value.account.id), key.value.id, ban);
}
