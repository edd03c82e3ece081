// Contract: section 6.
import type { Command } from 'commander';
import { textFromInstant } from '../../domain/instant.ts';
import { requireValue, type Terminal } from '../../terminal/command.ts';
import { JSON_OPTION, type JsonOption, keyId } from '../../terminal/options.ts';
import { type Column, instantCell } from '../../terminal/table.ts';
import type { BanRepository } from './repository.ts';

const COLUMNS: readonly Column[] = [
  'KEY',
  { title: 'ACCOUNT', shrinks: true },
  'BANNED UNTIL',
  'BANS IN A ROW',
];

export function bansCommands(
  program: Command,
  { withQuotas, printJson, printLine, printRows }: Terminal<{ readonly bans: BanRepository }>,
): void {
  const bans = program
    .command('bans')
    .description('keys that are banned because they kept sending requests after a 429');

  bans
    .command('list')
    .description('list the bans in force, and how many followed one another within a day')
    .option(...JSON_OPTION)
    .action(({ json }: JsonOption) =>
      withQuotas(async ({ store, quotas }) => {
        const found = await store.bans.describe(await quotas.listBans());
        const rows = found.map(({ keyId: id, account, until, count }) => ({
          keyId: id,
          account,
          until: textFromInstant(until),
          count,
        }));
        printRows(json, rows, COLUMNS, ({ keyId: id, account, until, count }) => [
          String(id),
          account,
          instantCell(until),
          count,
        ]);
      }),
    );

  bans
    .command('lift')
    .argument('<id>', 'the number of the key', keyId)
    .description('end a ban and forget the ones before it; a running service follows within a second')
    .option(...JSON_OPTION)
    .action((id: number, { json }: JsonOption) =>
      withQuotas(async ({ store, quotas, actor }) => {
        requireValue(await store.bans.lift(actor, id, quotas));
        if (json) printJson({ keyId: id, lifted: true });
        else printLine(`The ban of key ${id} is lifted.`);
      }),
    );
}
