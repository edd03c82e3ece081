import type { Command } from 'commander';
import { PetStoreError } from '../domain/errors.ts';
import { existingKey } from '../domain/issue-key.ts';
import { JSON_OPTION, keyId } from './options.ts';
import { printJson, printLine, printTable } from './output.ts';
import { withQuotas } from './with-store.ts';

export function bansCommands(program: Command): void {
  const bans = program.command('bans').description('keys that are banned for calling on after a 429');

  bans
    .command('list')
    .description('list the bans in force, and which in a row each one is')
    .option(...JSON_OPTION)
    .action(listBans);

  bans
    .command('lift')
    .argument('<id>', 'the number of the key', keyId)
    .description('end a ban and forget the ones before it; a running service hears of it within a second')
    .option(...JSON_OPTION)
    .action(liftBan);
}

function listBans({ json }: { json?: true }): Promise<void> {
  return withQuotas(async ({ store, quotas }) => {
    const bans = await Promise.all(
      (await quotas.listBans()).map(async ({ keyId: id, until, count }) => {
        const { account } = await existingKey(store.accounts, id);
        return { keyId: id, account: account.name, until: new Date(until).toISOString(), count };
      }),
    );
    if (json) printJson(bans);
    else
      printTable(
        ['KEY', 'ACCOUNT', 'UNTIL', 'COUNT'],
        bans.map((ban) => Object.values(ban).map(String)),
      );
  });
}

function liftBan(id: number, { json }: { json?: true }): Promise<void> {
  return withQuotas(async ({ store, quotas }) => {
    await existingKey(store.accounts, id);
    if (!(await quotas.liftBan(id))) throw new PetStoreError('not_found', `Key ${id} is not banned.`);
    if (json) printJson({ keyId: id, lifted: true });
    else printLine(`The ban of key ${id} is lifted.`);
  });
}
