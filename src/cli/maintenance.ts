import { stat } from 'node:fs/promises';
import { ServiceError } from '../domain/errors.ts';
import { StartupError } from '../domain/startup-error.ts';
import { command, ownCommand } from '../terminal/command.ts';
import { argument } from '../terminal/takers.ts';
import { view } from '../terminal/view.ts';
import type { CommandContext, ProgramTerminal } from './context.ts';
import { systemReason } from './import/source.ts';

export const backupCommand = command('backup', {
  description: 'write a consistent copy of a SQLite database, also while the service runs',
  takes: { file: argument('<file>', 'the copy; the file must not exist yet') },
  run: async ({ file }, { store }: CommandContext) => {
    try {
      await store.backup(file);
    } catch (error) {
      if (error instanceof ServiceError) throw error;
      throw new StartupError(`Cannot write ${file}: ${systemReason(error)}.`, { cause: error });
    }
    const { size: bytes } = await stat(file);
    return view({ file, bytes }, `${file} holds a copy of the database (${bytes} bytes).`);
  },
});

export const migrateCommand = ownCommand('migrate', {
  description: "make the database if there is none, and bring it to this version's schema",
  // Opening the store migrates it, so there is nothing left to do.
  run: (_, { withNewStore }: ProgramTerminal) =>
    withNewStore(async () => view({ upToDate: true }, "The database has this version's schema.")),
});
