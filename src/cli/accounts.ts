import type { Command } from 'commander';
import { type Account, limitsOf } from '../domain/account.ts';
import { existingAccount } from '../management/accounts.ts';
import type { Plan } from '../domain/plan.ts';
import type { AccountChange } from '../domain/account-ports.ts';
import { checkedName, nameTaken } from '../domain/text.ts';
import { instantOrNull } from '../domain/instant.ts';
import { withStore } from './context.ts';
import {
  JSON_OPTION,
  type JsonOption,
  type LimitOptions,
  limitOptions,
  planOption,
} from '../terminal/options.ts';
import { printJson, printLine, printRows } from '../terminal/output.ts';

type AccountOptions = JsonOption & LimitOptions & { readonly plan: Plan };

const SET_EXAMPLE = `
Example:
  petstore accounts set shop --plan enterprise --per-minute 5000 --per-day 1000000`;

export function accountsCommands(program: Command): void {
  const accounts = program.command('accounts').description('accounts, their plans and their limits');

  accounts
    .command('list')
    .description('list all accounts')
    .option(...JSON_OPTION)
    .action(listAccounts);

  limitOptions(
    accounts
      .command('create')
      .argument('<name>', 'unique; its case does not count')
      .description('create an account')
      .addOption(planOption('the plan that sets its limits').default('free')),
  )
    .option(...JSON_OPTION)
    .action(createAccount);

  limitOptions(
    accounts
      .command('set')
      .argument('<name>')
      .description('change the plan of an account; the service follows within 5 seconds')
      .addOption(planOption('the plan that sets its limits; needed').makeOptionMandatory()),
  )
    .option(...JSON_OPTION)
    .addHelpText('after', SET_EXAMPLE)
    .action(setPlan);

  accounts
    .command('suspend')
    .argument('<name>')
    .description('refuse all keys of an account with 401, within 5 seconds on every instance')
    .option(...JSON_OPTION)
    .action(suspend);

  accounts
    .command('resume')
    .argument('<name>')
    .description('accept the keys of a suspended account again, within 5 seconds')
    .option(...JSON_OPTION)
    .action(resume);

  accounts
    .command('rename')
    .argument('<name>')
    .argument('<new-name>', 'unique; its case does not count')
    .description('give an account another name; its keys and its usage stay')
    .option(...JSON_OPTION)
    .action(rename);
}

function listAccounts({ json }: JsonOption): Promise<void> {
  return withStore(async ({ store }) => {
    const accounts = (await store.accounts.listAccounts()).map(describeAccount);
    const header = ['NAME', 'PLAN', 'PER MINUTE', 'PER DAY', 'STATE'];
    printRows(json, accounts, header, ({ name, plan, perMinute, perDay, suspendedAt }) => [
      name,
      plan,
      String(perMinute),
      String(perDay),
      suspendedAt === null ? 'active' : `suspended since ${suspendedAt}`,
    ]);
  });
}

function createAccount(name: string, { plan, json, ...custom }: AccountOptions): Promise<void> {
  return withStore(async ({ store }) => {
    const account = await store.accounts.createAccount(
      checkedName('account', name),
      plan,
      limitsOf(plan, custom),
    );
    printAccount(account, json);
  });
}

function setPlan(name: string, { plan, json, ...custom }: AccountOptions): Promise<void> {
  return change(name, json, { plan, limits: limitsOf(plan, custom) });
}

function suspend(name: string, { json }: JsonOption): Promise<void> {
  return change(name, json, { suspended: true });
}

function resume(name: string, { json }: JsonOption): Promise<void> {
  return change(name, json, { suspended: false });
}

function rename(name: string, newName: string, { json }: JsonOption): Promise<void> {
  return change(name, json, { name: checkedName('account', newName) });
}

/** Changes an account and prints its new state. */
function change(name: string, json: true | undefined, given: AccountChange['given']): Promise<void> {
  return withStore(async ({ store: { accounts } }) => {
    const account = await existingAccount(accounts, name);
    const result = await accounts.changeAccount(account.id, { given, expected: {} });
    if (result.outcome === 'name_taken') throw nameTaken('an account', result.name);
    printAccount(await existingAccount(accounts, given.name ?? account.name), json);
  });
}

function printAccount(account: Account, json: true | undefined): void {
  if (json) return printJson(describeAccount(account));
  const { name, plan, limits, suspendedAt } = account;
  printLine(
    `Account ${name}: plan ${plan}, ${limits.perMinute} requests per minute, ${limits.perDay} per day.`,
  );
  if (suspendedAt !== undefined)
    printLine(
      'It is suspended: all its keys are refused. To accept them again, use petstore accounts resume.',
    );
}

function describeAccount({ name, plan, limits: { perMinute, perDay }, suspendedAt }: Account) {
  return { name, plan, perMinute, perDay, suspendedAt: instantOrNull(suspendedAt) };
}
