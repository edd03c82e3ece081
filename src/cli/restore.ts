import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { readConfig } from '../app/config.ts';
import { DEFAULT_DATABASE_URL, parseDatabaseUrl } from '../config/database-url.ts';
import { systemActor } from '../config/system-actor.ts';
import { textFromInstant } from '../domain/instant.ts';
import { reasonOf, StartupError } from '../domain/startup-error.ts';
import { ownCommand } from '../terminal/command.ts';
import type { System } from '../terminal/output.ts';
import { argument } from '../terminal/takers.ts';
import { view, type View } from '../terminal/view.ts';
import { type ProgramTerminal, systemClock } from './context.ts';
import { systemReason } from './import/source.ts';

const NOTES = `Stop the service first. The command checks the whole backup, brings it to the schema of this version, and puts it in the
place of the database. It keeps the old database beside the new one. All changes since the backup are gone.`;

export const restoreCommand = ownCommand('restore', {
  description: 'put a backup in the place of a SQLite database, and keep the old database',
  takes: { file: argument('<file>', 'a copy that petstore backup made; it stays as it is') },
  notes: NOTES,
  examples: ['petstore restore nightly.db'],
  run: ({ file }, { system }: ProgramTerminal) => restore(system, file),
});

async function restore(system: System, backup: string): Promise<View> {
  const config = readConfig(system.env);
  const { databaseUrl } = config;
  const address = parseDatabaseUrl(databaseUrl);
  if (address.kind !== 'sqlite')
    throw new StartupError(
      'restore is for SQLite. For PostgreSQL, restore a dump of pg_dump with pg_restore or psql into an empty database.',
    );
  // Loaded here, because the help of all commands loads this file.
  const [
    { openStore },
    { copyBackup, holdDatabase, placingSteps, removeCopy, undoPlacing },
    { createFolder },
  ] = await Promise.all([
    import('../app/store.ts'),
    import('../storage/sqlite/restore.ts'),
    import('../storage/sqlite/rights.ts'),
  ]);
  requireFile(backup);
  const { path } = address;
  // As serve does it: only the default folder is made.
  if (databaseUrl === DEFAULT_DATABASE_URL) createFolder(dirname(path));
  const clock = systemClock();
  const held = await holdDatabase(path);
  const { file, exists } = held;
  const replaced = `${file}.replaced-${textFromInstant(clock().unix).replaceAll(':', '-')}`;
  try {
    const copy = copyBackup(backup, held);
    try {
      // Also shows that this version can open it. Opening it brings it to the schema of this version.
      const store = await openStore({
        ...config,
        databaseUrl: `sqlite:${copy}`,
        clock,
        mustExist: true,
        onLost: () => undefined,
      });
      try {
        await store.audit.add(systemActor(), {
          action: 'restore',
          target: { kind: 'database', name: backup },
        });
      } finally {
        await store.close();
      }
    } catch (error) {
      const reason = reasonOf(error).replaceAll(copy, backup);
      throw new StartupError(`The backup ${backup} cannot be used: ${reason}.`, { cause: error });
    }
    try {
      for (const step of placingSteps(held, replaced)) step();
    } catch (error) {
      if (undoPlacing(held, replaced)) throw error;
      const old = exists ? ` The old database is ${replaced}.` : '';
      throw new StartupError(
        `${file} now holds the backup, but its disk did not confirm it: ${systemReason(error)}.${old}`,
        { cause: error },
      );
    }
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error;
    throw new StartupError(`The database ${file} cannot be replaced: ${systemReason(error)}.`, {
      cause: error,
    });
  } finally {
    removeCopy(file);
    await held.release();
  }
  const { size: bytes } = statSync(file);
  return view(
    { database: file, backup, bytes, kept: exists ? replaced : null },
    `${file} now holds the backup ${backup} (${bytes} bytes).`,
    ...(exists ? [`The old database is ${replaced}: delete it when you need nothing of it.`] : []),
  );
}

/** @throws StartupError when the backup cannot be read. */
function requireFile(backup: string): void {
  let isFile: boolean;
  try {
    isFile = statSync(backup).isFile();
  } catch (error) {
    throw new StartupError(`Cannot read ${backup}: ${systemReason(error)}.`, { cause: error });
  }
  if (!isFile) throw new StartupError(`Cannot read ${backup}: it is no file.`);
}
