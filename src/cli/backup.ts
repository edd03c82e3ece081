import { stat } from 'node:fs/promises';
import type { Command } from 'commander';
import { PetStoreError } from '../domain/errors.ts';
import { JSON_OPTION } from './options.ts';
import { printJson, printLine } from './output.ts';
import { withStore } from './with-store.ts';

export function backupCommand(program: Command): void {
  program
    .command('backup')
    .argument('<file>', 'where to; there must be no such file yet')
    .description('write a consistent copy of a SQLite database, also while the service runs')
    .option(...JSON_OPTION)
    .action(backup);
}

function backup(file: string, { json }: { json?: true }): Promise<void> {
  return withStore(async ({ store }) => {
    try {
      await store.backup(file);
    } catch (error) {
      if (error instanceof PetStoreError) throw error;
      throw new PetStoreError('unavailable', `The backup ${file} cannot be written.`, { cause: error });
    }
    const { size } = await stat(file);
    if (json) printJson({ file, bytes: size });
    else printLine(`${file} holds a copy of the database (${size} bytes).`);
  });
}
