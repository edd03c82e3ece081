import type { Command } from 'commander';
import { JSON_OPTION } from './options.ts';
import { printJson, printLine } from './output.ts';
import { withStore } from './with-store.ts';

export function migrateCommand(program: Command): void {
  program
    .command('migrate')
    .description("bring the database to this version's schema, as every other command does too")
    .option(...JSON_OPTION)
    .action(({ json }: { json?: true }) =>
      // Opening is migrating: there is nothing left to do.
      withStore(async () => {
        if (json) printJson({ upToDate: true });
        else printLine("The database has this version's schema.");
      }),
    );
}
