import type { Command } from 'commander';
import { type Account, accountName, limitsOf } from '../domain/account.ts';
import type { Plan } from '../domain/plan.ts';
import { existingAccount } from '../domain/issue-key.ts';
import { JSON_OPTION, type LimitOptions, limitOptions, planOption } from './options.ts';
import { printJson, printLine, printTable } from './output.ts';
import { withStore } from './with-store.ts';

interface AccountOptions extends LimitOptions {
  readonly plan: Plan;
  readonly json?: true;
}

export function accountsCommands(program: Command): void {
  const accounts = program.command('accounts').description('accounts, their plans and their limits');

  accounts
    .command('list')
    .description('list all accounts')
    .option(...JSON_OPTION)
    .action((options: { json?: true }) => listAccounts(options.json === true));

  const plan = () => planOption('the plan that sets its limits; needed').makeOptionMandatory();
  limitOptions(accounts.command('create').argument('<name>').description('make an account').addOption(plan()))
    .option(...JSON_OPTION)
    .action(createAccount);
  limitOptions(
    accounts
      .command('set')
      .argument('<name>')
      .description('change the plan of an account; it counts within 5 seconds')
      .addOption(plan()),
  )
    .option(...JSON_OPTION)
    .addHelpText(
      'after',
      '\nExample:\n  petstore accounts set shop --plan enterprise --per-minute 5000 --per-day 1000000',
    )
    .action(setPlan);
}

function listAccounts(json: boolean): Promise<void> {
  return withStore(async ({ store }) => {
    const all = (await store.accounts.listAccounts()).map(summary);
    if (json) printJson(all);
    else
      printTable(
        ['NAME', 'PLAN', 'PER MINUTE', 'PER DAY'],
        all.map((account) => Object.values(account).map(String)),
      );
  });
}

function createAccount(name: string, { plan, json, ...custom }: AccountOptions): Promise<void> {
  return withStore(async ({ store }) => {
    const account = await store.accounts.createAccount(accountName(name), plan, limitsOf(plan, custom));
    show(account, json);
  });
}

function setPlan(name: string, { plan, json, ...custom }: AccountOptions): Promise<void> {
  return withStore(async ({ store }) => {
    const account = await existingAccount(store.accounts, name);
    const limits = limitsOf(plan, custom);
    await store.accounts.setPlan(account.id, plan, limits);
    show({ ...account, plan, limits }, json);
  });
}

function show(account: Account, json: true | undefined): void {
  const { name, plan, perMinute, perDay } = summary(account);
  if (json) printJson(summary(account));
  else printLine(`Account ${name}: plan ${plan}, ${perMinute} requests per minute, ${perDay} per day.`);
}

function summary({ name, plan, limits: { perMinute, perDay } }: Account) {
  return { name, plan, perMinute, perDay };
}
