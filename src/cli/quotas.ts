// Contract: section 6.
import type { Command } from 'commander';
import { ServiceError } from '../domain/errors.ts';
import { existingKey } from '../management/keys.ts';
import { withQuotas } from './context.ts';
import { JSON_OPTION, type JsonOption, keyId } from './options.ts';
import { printJson, printLine, printRows } from './output.ts';

export function bansCommands(program: Command): void {
  const bans = program.command('bans').description('keys that are banned for calling on after a 429');

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
    const bans = await Promise.all(
      (await quotas.listBans()).map(async ({ keyId: id, until, count }) => {
        const { account } = await existingKey(store.accounts, id);
        return { keyId: id, account: account.name, until: new Date(until).toISOString(), count };
      }),
    );
    printRows(json, bans, ['KEY', 'ACCOUNT', 'BANNED UNTIL', 'BANS IN A ROW']);
  });
}

function liftBan(id: number, { json }: JsonOption): Promise<void> {
  return withQuotas(async ({ store, quotas }) => {
    await existingKey(store.accounts, id);
    if (!(await quotas.liftBan(id))) throw new ServiceError('not_found', `Key ${id} is not banned.`);
    await store.notices.banLifted(id);
    if (json) printJson({ keyId: id, lifted: true });
    else printLine(`The ban of key ${id} is lifted.`);
  });
}
