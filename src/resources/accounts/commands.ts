// Contract: sections 5 and 8.
import { PLAN_NAMES } from '../../domain/plan.ts';
import { findNameIssue, isPartOf } from '../../domain/text.ts';
import { command, type CommandContext, group, requireValue } from '../../terminal/command.ts';
import { type Cell, describeDistance, type Column } from '../../terminal/table.ts';
import { argument, choice, LIMITS, option, withDefault } from '../../terminal/takers.ts';
import { type Text, type View, view, viewRows } from '../../terminal/view.ts';
import type { AccountRepository } from './repository.ts';
import type { AccountPatch, AccountRecord } from './rules.ts';
import { describeAccount, toAccount } from './show.ts';

type Context = CommandContext<{ readonly accounts: AccountRepository }>;

const COLUMNS: readonly Column<ReturnType<typeof toAccount>>[] = [
  ['NAME', ({ name }) => name, { shrinks: true }],
  ['PLAN', ({ plan }) => plan],
  ['PER MINUTE', ({ perMinute }) => perMinute],
  ['PER DAY', ({ perDay }) => perDay],
  ['STATE', ({ suspendedAt }) => stateCell(suspendedAt)],
];

const NAME = argument('<name>');
const NEW_NAME = 'unique; its case does not count';
const PLAN = choice('<plan>', 'the plan that sets its limits', PLAN_NAMES);
const NOTE = option('<text>', 'what operators should know, at most 500 characters; an empty text removes it');

export const accountsCommands = group('accounts', 'accounts, their plans and their limits', [
  command('list', {
    description: 'list all accounts',
    takes: {
      search: option('<text>', 'only the accounts whose name contains this text; its case does not count'),
    },
    run: async ({ search = '' }, { store }: Context) => {
      const fits = isPartOf(search);
      const accounts = (await store.accounts.listAll()).filter(({ name }) => fits(name));
      return viewRows(COLUMNS, accounts.map(toAccount));
    },
  }),

  command('create', {
    description: 'create an account',
    takes: { name: argument('<name>', NEW_NAME), plan: withDefault(PLAN, 'free'), ...LIMITS, note: NOTE },
    run: async ({ name, plan, ...custom }, { store: { accounts }, actor }: Context) =>
      viewAccount(requireValue(await accounts.create(actor, name, plan, custom))),
  }),

  command('set', {
    description:
      'change the plan, the limits or the note of an account; the service follows within 5 seconds',
    takes: { name: NAME, plan: PLAN, ...LIMITS, note: NOTE },
    examples: [
      'petstore accounts set shop --plan enterprise --per-minute 5000 --per-day 1000000',
      'petstore accounts set shop --per-minute 6000',
      'petstore accounts set shop --note "Ask for Ada, ada@example.com."',
    ],
    check: ({ plan, perMinute, perDay, note }) =>
      (plan ?? perMinute ?? perDay ?? note) === undefined &&
      'Name what to change: --plan, --per-minute, --per-day or --note.',
    run: async ({ name, ...patch }, context: Context) => viewAccount(await change(context, name, patch)),
  }),

  command('suspend', {
    description: 'refuse all keys of an account with 401, within 5 seconds on every instance',
    takes: { name: NAME },
    run: async ({ name }, context: Context) => viewAccount(await change(context, name, { suspended: true })),
  }),

  command('resume', {
    description: 'accept the keys of a suspended account again, within 5 seconds',
    takes: { name: NAME },
    run: async ({ name }, context: Context) =>
      viewAccount(await change(context, name, { suspended: false }), 'It is active: its keys are accepted.'),
  }),

  command('rename', {
    description: 'give an account another name; its keys and its usage stay',
    takes: { name: NAME, newName: argument('<new-name>', NEW_NAME) },
    check: ({ newName }) => findNameIssue('account', newName)?.message,
    run: async ({ name, newName }, context: Context) =>
      viewAccount(await change(context, name, { name: newName })),
  }),
]);

async function change(
  { store: { accounts }, actor }: Context,
  name: string,
  patch: AccountPatch,
): Promise<AccountRecord> {
  const { id } = requireValue(await accounts.find(name));
  return requireValue(await accounts.change(actor, id, patch));
}

function viewAccount(account: AccountRecord, ...more: readonly Text[]): View {
  return view(toAccount(account), ...describeAccount(account), ...more);
}

function stateCell(suspendedAt: string | null): Cell {
  if (suspendedAt === null) return 'active';
  return {
    exact: `suspended since ${suspendedAt}`,
    short: (now) => `suspended ${describeDistance(Date.parse(suspendedAt), now)}`,
  };
}
