// Contract: sections 5 and 8.
import type { Command } from 'commander';
import { type Account, chooseLimits } from '../../domain/account.ts';
import { instantOrNull } from '../../domain/instant.ts';
import type { Plan } from '../../domain/plan.ts';
import { findNameFault } from '../../domain/text.ts';
import { requireValue, type Terminal } from '../../terminal/command.ts';
import {
  JSON_OPTION,
  type JsonOption,
  type LimitOptions,
  limitOptions,
  planOption,
} from '../../terminal/options.ts';
import { type Cell, type Column, describeDistance } from '../../terminal/table.ts';
import type { AccountRepository } from './repository.ts';
import type { AccountPatch } from './rules.ts';

interface Repositories {
  readonly accounts: AccountRepository;
}

type AccountOptions = JsonOption & LimitOptions & { readonly plan: Plan };

const SET_EXAMPLE = `
Example:
  petstore accounts set shop --plan enterprise --per-minute 5000 --per-day 1000000`;

const COLUMNS: readonly Column[] = [
  { title: 'NAME', shrinks: true },
  'PLAN',
  'PER MINUTE',
  'PER DAY',
  'STATE',
];

export function accountsCommands(
  program: Command,
  { withStore, printJson, printLine, printRows }: Terminal<Repositories>,
): void {
  const group = program.command('accounts').description('accounts, their plans and their limits');

  const printAccount = (account: Account, json: true | undefined): void => {
    if (json) return printJson(describeAccount(account));
    const { name, plan, limits, suspendedAt } = account;
    printLine(
      `Account ${name}: plan ${plan}, ${limits.perMinute} requests per minute, ${limits.perDay} per day.`,
    );
    if (suspendedAt !== undefined)
      printLine(
        'It is suspended: all its keys are refused. To accept them again, use petstore accounts resume.',
      );
  };

  /** Changes an account and prints its new state. */
  const change = (name: string, json: true | undefined, patch: AccountPatch) =>
    withStore(async ({ store: { accounts }, actor }) => {
      const { id } = requireValue(await accounts.find(name));
      printAccount(requireValue(await accounts.change(actor, id, patch)), json);
    });

  group
    .command('list')
    .description('list all accounts')
    .option(...JSON_OPTION)
    .action(({ json }: JsonOption) =>
      withStore(async ({ store }) => {
        const rows = (await store.accounts.listAll()).map(describeAccount);
        printRows(json, rows, COLUMNS, ({ name, plan, perMinute, perDay, suspendedAt }) => [
          name,
          plan,
          perMinute,
          perDay,
          stateCell(suspendedAt),
        ]);
      }),
    );

  limitOptions(
    group
      .command('create')
      .argument('<name>', 'unique; its case does not count')
      .description('create an account')
      .addOption(planOption('the plan that sets its limits').default('free')),
  )
    .option(...JSON_OPTION)
    .action((name: string, { plan, json, ...custom }: AccountOptions) =>
      withStore(async ({ store, actor }) => {
        printAccount(requireValue(await store.accounts.create(actor, name, plan, custom)), json);
      }),
    );

  limitOptions(
    group
      .command('set')
      .argument('<name>')
      .description('change the plan of an account; the service follows within 5 seconds')
      .addOption(planOption('the plan that sets its limits; needed').makeOptionMandatory()),
  )
    .option(...JSON_OPTION)
    .addHelpText('after', SET_EXAMPLE)
    .action((name: string, { plan, json, ...custom }: AccountOptions) => {
      // Both numbers of Enterprise are needed, also if the account has some.
      requireValue(chooseLimits(plan, custom));
      return change(name, json, { plan, ...custom });
    });

  group
    .command('suspend')
    .argument('<name>')
    .description('refuse all keys of an account with 401, within 5 seconds on every instance')
    .option(...JSON_OPTION)
    .action((name: string, { json }: JsonOption) => change(name, json, { suspended: true }));

  group
    .command('resume')
    .argument('<name>')
    .description('accept the keys of a suspended account again, within 5 seconds')
    .option(...JSON_OPTION)
    .action((name: string, { json }: JsonOption) => change(name, json, { suspended: false }));

  group
    .command('rename')
    .argument('<name>')
    .argument('<new-name>', 'unique; its case does not count')
    .description('give an account another name; its keys and its usage stay')
    .option(...JSON_OPTION)
    .action((name: string, newName: string, { json }: JsonOption) =>
      change(name, json, { name: requireValue(findNameFault('account', newName) ?? { value: newName }) }),
    );
}

function stateCell(suspendedAt: string | null): Cell {
  if (suspendedAt === null) return 'active';
  return {
    exact: `suspended since ${suspendedAt}`,
    short: (now) => `suspended ${describeDistance(Date.parse(suspendedAt), now)}`,
  };
}

function describeAccount({ name, plan, limits: { perMinute, perDay }, suspendedAt }: Account) {
  return { name, plan, perMinute, perDay, suspendedAt: instantOrNull(suspendedAt) };
}
