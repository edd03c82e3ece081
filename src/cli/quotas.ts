// Contract: section 6.
import type { Command } from 'commander';
import { textFromInstant } from '../domain/instant.ts';
import * as management from '../management/bans.ts';
import { withQuotas } from './context.ts';
import { JSON_OPTION, type JsonOption, keyId } from '../terminal/options.ts';
import { printJson, printLine, printRows } from '../terminal/output.ts';

export function bansCommands(program: Command): void {
  const bans = program
    .command('bans')
    .description('keys that are banned because they kept sending requests after a 429');

  bans
    .command('list')
    .description('list the bans in force, and how many followed one another within a day')
    .option(...JSON_OPTION)
    .action(listBans);

  bans
    .command('lift')
    .argument('<id>', 'the number of the key', keyId)
    .description('end a ban and forget the ones before it; a running service follows within a second')
    .option(...JSON_OPTION)
    .action(liftBan);
}

function listBans({ json }: JsonOption): Promise<void> {
  return withQuotas(async ({ store, quotas }) => {
    const found = await management.describeBans(store.accounts, await quotas.listBans());
    const bans = found.map(({ keyId: id, account, until, count }) => ({
      keyId: id,
      account,
      until: textFromInstant(until),
      count,
    }));
    printRows(json, bans, ['KEY', 'ACCOUNT', 'BANNED UNTIL', 'BANS IN A ROW']);
  });
}

function liftBan(id: number, { json }: JsonOption): Promise<void> {
  return withQuotas(async ({ store, quotas, actor }) => {
    await management.liftBan({ ...store, quotas }, actor, id);
    if (json) printJson({ keyId: id, lifted: true });
    else printLine(`The ban of key ${id} is lifted.`);
  });
}
