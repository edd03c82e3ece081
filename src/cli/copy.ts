import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { readConfig } from '../config.ts';
import type { Clock } from '../domain/clock.ts';
import { PetStoreError } from '../domain/errors.ts';
import { StartupError } from '../startup-error.ts';
import { isDatabaseUrl } from '../storage/database-url.ts';
import { openStore } from '../storage/open.ts';
import type { Store } from '../storage/store.ts';
import { copyTables, type Step, type TransferOptions } from '../storage/transfer.ts';
import { openSharedCounters, restoreCounters } from './copy-counters.ts';
import { JSON_OPTION } from './options.ts';
import { printJson, printTable } from './output.ts';
import { Progress } from './progress.ts';
import { systemClock } from './with-store.ts';

const NOTES = `
Copied are animals with their ids, accounts, keys (the same keys go on working), idempotency records, usage and bans;
with REDIS_URL, usage and bans also into Redis. What was counted in Redis stays there. All of it as of one instant,
verified before it is committed, or nothing. A service may be running on the source, but what it does after that instant
stays behind: stop it first to move.

Example:
  petstore copy --from sqlite:data/petstore.db --to postgres://petstore@db.example/petstore`;

interface CopyOptions {
  readonly from: string;
  readonly to: string;
  readonly json?: true;
}

export function copyCommand(program: Command): void {
  program
    .command('copy')
    .description('copy everything into an empty database, to move from SQLite to PostgreSQL or back')
    .requiredOption('--from <url>', 'what to copy: sqlite:PATH or postgres://…')
    .requiredOption('--to <url>', 'an empty database: sqlite:PATH or postgres://…')
    .option(...JSON_OPTION)
    .addHelpText('after', NOTES)
    .action(copy);
}

async function copy({ from, to, json }: CopyOptions): Promise<void> {
  // Not by commander, which would repeat the address with its password.
  for (const [name, url] of Object.entries({ from, to })) {
    if (!isDatabaseUrl(url))
      throw new PetStoreError('invalid_parameter', `--${name} must be sqlite:PATH or postgres://…`);
  }
  refuseMissing(from);
  const config = readConfig();
  const clock = systemClock();
  await using opened = new AsyncDisposableStack();
  const open = async (databaseUrl: string): Promise<Store> =>
    opened.adopt(await openStore({ ...config, databaseUrl, clock, onLost: () => undefined }), (store) =>
      store.close(),
    );
  const source = await open(from);
  const target = await open(to);
  const counters =
    config.redisUrl === undefined
      ? undefined
      : opened.adopt(await openSharedCounters(config.redisUrl, clock), (each) => each.close());
  const progress = progressOf(clock);
  const copying = copyTables(source.transfer, target.transfer, {
    onProgress: progress.update,
    // Before the commit: afterwards the copy could not be repeated for their sake.
    beforeCommit: async (copied) => counters && restoreCounters(counters, copied, source.accounts),
  });
  const tables = await copying.finally(progress.clear);
  if (json) printJson({ tables });
  else
    printTable(
      ['TABLE', 'ROWS', 'SHA-256'],
      tables.map(({ name, rows, sha256 }) => [name, String(rows), sha256]),
    );
}

/** Opening would make the file. */
function refuseMissing(databaseUrl: string): void {
  const file = databaseUrl.replace(/^sqlite:/, '');
  if (file !== databaseUrl && !existsSync(file))
    throw new StartupError(`There is no database ${file} to copy from.`);
}

/** A line of progress for each table that is copied, and for each that is verified. */
function progressOf(clock: Clock): { update: TransferOptions['onProgress']; clear: () => void } {
  let step: Step | undefined;
  let progress: Progress | undefined;
  return {
    update(next, rows) {
      if (step?.table !== next.table || step.work !== next.work) {
        step = next;
        progress = new Progress(process.stderr, clock, `rows of ${next.table.name} ${next.work}`);
      }
      progress?.update(rows);
    },
    clear: () => progress?.clear(),
  };
}
