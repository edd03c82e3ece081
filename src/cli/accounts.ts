import type { Command } from 'commander';
import { type Account, accountName, limitsOf } from '../domain/account.ts';
import { existingAccount } from './issue-key.ts';
import type { Plan } from '../domain/plan.ts';
import { withStore } from './context.ts';
import { JSON_OPTION, type JsonOption, type LimitOptions, limitOptions, planOption } from './options.ts';
import { printJson, printLine, printRows } from './output.ts';

type AccountOptions = JsonOption & LimitOptions & { readonly plan: Plan };

const SET_EXAMPLE = `
Example:
  petstore accounts set shop --plan enterprise --per-minute 5000 --per-day 1000000`;

export function accountsCommands(program: Command): void {
  const accounts = program.command('accounts').description('accounts, their plans and their limits');
  const plan = () => planOption('the plan that sets its limits; needed').makeOptionMandatory();

  accounts
    .command('list')
    .description('list all accounts')
    .option(...JSON_OPTION)
    .action(listAccounts);

  limitOptions(
    accounts.command('create').argument('<name>').description('create an account').addOption(plan()),
  )
    .option(...JSON_OPTION)
    .action(createAccount);

  limitOptions(
    accounts
      .command('set')
      .argument('<name>')
      .description('change the plan of an account; the service follows within 5 seconds')
      .addOption(plan()),
  )
    .option(...JSON_OPTION)
    .addHelpText('after', SET_EXAMPLE)
    .action(setPlan);
}

function listAccounts({ json }: JsonOption): Promise<void> {
  return withStore(async ({ store }) => {
    const accounts = (await store.accounts.listAccounts()).map(describeAccount);
    printRows(json, accounts, ['NAME', 'PLAN', 'PER MINUTE', 'PER DAY']);
  });
}

function createAccount(name: string, { plan, json, ...custom }: AccountOptions): Promise<void> {
  return withStore(async ({ store }) => {
    const account = await store.accounts.createAccount(accountName(name), plan, limitsOf(plan, custom));
    printAccount(account, json);
  });
}

function setPlan(name: string, { plan, json, ...custom }: AccountOptions): Promise<void> {
  return withStore(async ({ store }) => {
    const account = await existingAccount(store.accounts, name);
    const limits = limitsOf(plan, custom);
    await store.accounts.setPlan(account.id, plan, limits);
    printAccount({ ...account, plan, limits }, json);
  });
}

function printAccount(account: Account, json: true | undefined): void {
  const described = describeAccount(account);
  const { name, plan, perMinute, perDay } = described;
  if (json) printJson(described);
  else printLine(`Account ${name}: plan ${plan}, ${perMinute} requests per minute, ${perDay} per day.`);
}

function describeAccount({ name, plan, limits: { perMinute, perDay } }: Account) {
  return { name, plan, perMinute, perDay };
}
