// Contract: sections 5 and 8.
import type { Command } from 'commander';
import { ServiceError } from '../../domain/errors.ts';
import type { Plan } from '../../domain/plan.ts';
import { findNameIssue, isPartOf } from '../../domain/text.ts';
import { requireValue, type Terminal } from '../../terminal/command.ts';
import {
  JSON_OPTION,
  type JsonOption,
  type LimitOptions,
  limitOptions,
  planOption,
} from '../../terminal/options.ts';
import { type Cell, type Column, describeDistance } from '../../terminal/table.ts';
import type { AccountPatch } from './rules.ts';
import { toAccount, printAccount } from './show.ts';
import type { AccountRepository } from './repository.ts';

interface Repositories {
  readonly accounts: AccountRepository;
}

type CreateOptions = JsonOption & LimitOptions & { readonly plan: Plan; readonly note?: string };

type SetOptions = Partial<CreateOptions>;

interface ListOptions extends JsonOption {
  readonly search?: string;
}

const SET_EXAMPLE = `
Examples:
  petstore accounts set shop --plan enterprise --per-minute 5000 --per-day 1000000
  petstore accounts set shop --per-minute 6000
  petstore accounts set shop --note "Ask for Ada, ada@example.com."`;

const NOTE_OPTION = [
  '--note <text>',
  'what operators should know, at most 500 characters; an empty text removes it',
] as const;

const COLUMNS: readonly Column[] = [
  { title: 'NAME', shrinks: true },
  'PLAN',
  'PER MINUTE',
  'PER DAY',
  'STATE',
];

export function accountsCommands(program: Command, terminal: Terminal<Repositories>): void {
  const { withStore, printLine, printRows } = terminal;
  const group = program.command('accounts').description('accounts, their plans and their limits');

  /** Changes an account and prints its new state. */
  const change = (name: string, json: true | undefined, patch: AccountPatch) =>
    withStore(async ({ store: { accounts }, actor }) => {
      const { id } = requireValue(await accounts.find(name));
      printAccount(terminal, requireValue(await accounts.change(actor, id, patch)), json);
    });

  group
    .command('list')
    .description('list all accounts')
    .option('--search <text>', 'only the accounts whose name contains this text; its case does not count')
    .option(...JSON_OPTION)
    .action(({ search = '', json }: ListOptions) =>
      withStore(async ({ store }) => {
        const accounts = await store.accounts.listAll();
        const fits = isPartOf(search);
        const rows = accounts.filter(({ name }) => fits(name)).map(toAccount);
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
    .option(...NOTE_OPTION)
    .option(...JSON_OPTION)
    .action((name: string, { plan, json, ...custom }: CreateOptions) =>
      withStore(async ({ store, actor }) => {
        printAccount(terminal, requireValue(await store.accounts.create(actor, name, plan, custom)), json);
      }),
    );

  limitOptions(
    group
      .command('set')
      .argument('<name>')
      .description(
        'change the plan, the limits or the note of an account; the service follows within 5 seconds',
      )
      .addOption(planOption('the plan that sets its limits')),
  )
    .option(...NOTE_OPTION)
    .option(...JSON_OPTION)
    .addHelpText('after', SET_EXAMPLE)
    .action((name: string, { json, ...patch }: SetOptions) => {
      if (Object.keys(patch).length === 0)
        throw new ServiceError(
          'invalid_parameter',
          'Name what to change: --plan, --per-minute, --per-day or --note.',
        );
      return change(name, json, patch);
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
    .action(async (name: string, { json }: JsonOption) => {
      await change(name, json, { suspended: false });
      if (!json) printLine('It is active: its keys are accepted.');
    });

  group
    .command('rename')
    .argument('<name>')
    .argument('<new-name>', 'unique; its case does not count')
    .description('give an account another name; its keys and its usage stay')
    .option(...JSON_OPTION)
    .action((name: string, newName: string, { json }: JsonOption) =>
      change(name, json, { name: requireValue(findNameIssue('account', newName) ?? { value: newName }) }),
    );
}

function stateCell(suspendedAt: string | null): Cell {
  if (suspendedAt === null) return 'active';
  return {
    exact: `suspended since ${suspendedAt}`,
    short: (now) => `suspended ${describeDistance(Date.parse(suspendedAt), now)}`,
  };
}
