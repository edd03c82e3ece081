import { stat } from 'node:fs/promises';
import type { Command } from 'commander';
import { ServiceError } from '../domain/errors.ts';
import { StartupError } from '../domain/startup-error.ts';
import type { ProgramTerminal } from './context.ts';
import { systemReason } from './import/source.ts';
import { JSON_OPTION, type JsonOption } from '../terminal/options.ts';

export function backupCommand(program: Command, terminal: ProgramTerminal): void {
  program
    .command('backup')
    .argument('<file>', 'the copy; the file must not exist yet')
    .description('write a consistent copy of a SQLite database, also while the service runs')
    .option(...JSON_OPTION)
    .action((file: string, options: JsonOption) => backup(terminal, file, options));
}

export function migrateCommand(program: Command, terminal: ProgramTerminal): void {
  program
    .command('migrate')
    .description("make the database if there is none, and bring it to this version's schema")
    .option(...JSON_OPTION)
    .action((options: JsonOption) => migrate(terminal, options));
}

function backup(
  { withStore, printJson, printLine }: ProgramTerminal,
  file: string,
  { json }: JsonOption,
): Promise<void> {
  return withStore(async ({ store }) => {
    try {
      await store.backup(file);
    } catch (error) {
      if (error instanceof ServiceError) throw error;
      throw new StartupError(`Cannot write ${file}: ${systemReason(error)}.`, { cause: error });
    }
    const { size } = await stat(file);
    if (json) printJson({ file, bytes: size });
    else printLine(`${file} holds a copy of the database (${size} bytes).`);
  });
}

function migrate(
  { withNewStore, printJson, printLine }: ProgramTerminal,
  { json }: JsonOption,
): Promise<void> {
  // Opening the store migrates it, so there is nothing left to do.
  return withNewStore(async () => {
    if (json) printJson({ upToDate: true });
    else printLine("The database has this version's schema.");
  });
}
