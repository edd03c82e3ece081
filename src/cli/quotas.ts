// Contract: section 6.
import type { Command } from 'commander';
import { existingAccount } from '../management/accounts.ts';
import * as management from '../management/bans.ts';
import { describeWindow } from '../management/windows.ts';
import { withQuotas } from './context.ts';
import { JSON_OPTION, type JsonOption, keyId } from './options.ts';
import { printJson, printLine, printRows } from './output.ts';

export function usageCommand(program: Command): void {
  program
    .command('usage')
    .description('show the requests that each account has left in its minute and its day, as of a second ago')
    .option('--account <name>', 'only one account')
    .option(...JSON_OPTION)
    .action(showUsage);
}

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

function showUsage({ account: name, json }: JsonOption & { account?: string }): Promise<void> {
  return withQuotas(async ({ store: { accounts }, quotas }) => {
    const chosen =
      name === undefined ? await accounts.listAccounts() : [await existingAccount(accounts, name)];
    const usage = await Promise.all(
      chosen.map(async (account) => {
        const { minute, day } = await quotas.usageOf(account);
        return {
          account: account.name,
          plan: account.plan,
          minute: describeWindow(minute),
          day: describeWindow(day),
        };
      }),
    );
    const header = ['ACCOUNT', 'PLAN', 'MINUTE LEFT', 'RESETS', 'DAY LEFT', 'RESETS'];
    printRows(json, usage, header, ({ account, plan, minute, day }) => [
      account,
      plan,
      ...windowCells(minute),
      ...windowCells(day),
    ]);
  });
}

function windowCells({ limit, remaining, reset }: ReturnType<typeof describeWindow>): readonly string[] {
  return [`${remaining} of ${limit}`, new Date(reset * 1_000).toISOString()];
}

function listBans({ json }: JsonOption): Promise<void> {
  return withQuotas(async ({ store, quotas }) => {
    const found = await management.listBans({ accounts: store.accounts, quotas });
    const bans = found.map(({ keyId: id, account, until, count }) => ({
      keyId: id,
      account,
      until: new Date(until).toISOString(),
      count,
    }));
    printRows(json, bans, ['KEY', 'ACCOUNT', 'BANNED UNTIL', 'BANS IN A ROW']);
  });
}

function liftBan(id: number, { json }: JsonOption): Promise<void> {
  return withQuotas(async ({ store, quotas, author }) => {
    await management.liftBan({ ...store, quotas }, author, id);
    if (json) printJson({ keyId: id, lifted: true });
    else printLine(`The ban of key ${id} is lifted.`);
  });
}
