// Contract: sections 6, 6.9 and 8.
import { type Command, Option } from 'commander';
import { csvText } from '../../domain/csv.ts';
import { ServiceError } from '../../domain/errors.ts';
import { textFromInstant } from '../../domain/instant.ts';
import { OUTCOMES } from '../../domain/usage.ts';
import { describeWindows } from '../../limits/quota.ts';
import { requireValue, type Terminal } from '../../terminal/command.ts';
import { type Instant, JSON_OPTION, type JsonOption, since as sinceOption } from '../../terminal/options.ts';
import { type Column, describeCount, instantCell } from '../../terminal/table.ts';
import type { AccountRepository } from '../accounts/repository.ts';
import type { UsageRepository } from './repository.ts';
import { usageRange } from './rules.ts';

interface Repositories {
  readonly accounts: AccountRepository;
  readonly usageHistory: Pick<UsageRepository, 'sums'>;
}

/** The first columns of each `--by`. The counts follow. */
const COLUMNS = {
  key: ['keyId', 'label', 'account'],
  account: ['accountId', 'account'],
  operation: ['operation'],
  day: ['day'],
} as const;

const WINDOW_COLUMNS: readonly Column[] = [
  { title: 'ACCOUNT', shrinks: true },
  { title: 'PLAN', weight: 1 },
  'MINUTE LEFT',
  { title: 'MINUTE RESETS', weight: 2 },
  'DAY LEFT',
  { title: 'DAY RESETS', weight: 3 },
];

interface UsageOptions extends JsonOption {
  readonly account?: string;
  readonly by?: keyof typeof COLUMNS;
  readonly since?: Instant;
  readonly csv?: true;
}

const EXAMPLES = `
Examples:
  petstore usage --account shop
  petstore usage --by operation --since 30d
  petstore usage --by day --since 2026-01-01 --account shop --csv > shop.csv`;

export function usageCommands(program: Command, terminal: Terminal<Repositories>): void {
  program
    .command('usage')
    .description(
      'show the requests that each account has left in its minute and its day, as of a second ago; with --by, show the history',
    )
    .option('--account <name>', 'only one account')
    .addOption(
      new Option(
        '--by <what>',
        'count the answered requests by key, account, operation or day, and by outcome',
      ).choices(Object.keys(COLUMNS)),
    )
    .option(
      '--since <when>',
      'with --by, from the first whole UTC day since then: a date, an ISO 8601 instant, or a duration before now (default: 30d)',
      sinceOption,
    )
    .addOption(new Option('--csv', 'with --by, print CSV').conflicts('json'))
    .option(...JSON_OPTION)
    .addHelpText('after', EXAMPLES)
    .action((options: UsageOptions) =>
      options.by === undefined ? showWindows(terminal, options) : showHistory(terminal, options.by, options),
    );
}

/** Prints what each account, or the one with this name, has left in both windows. */
async function showWindows(
  { withQuotas, printRows }: Terminal<Repositories>,
  { account: name, since, csv, json }: UsageOptions,
): Promise<void> {
  const misplaced = since !== undefined ? '--since' : csv && '--csv';
  if (misplaced)
    throw new ServiceError('invalid_parameter', `${misplaced} is for the history, so it needs --by.`);
  await withQuotas(async ({ store: { accounts }, quotas }) => {
    const chosen = name === undefined ? await accounts.listAll() : [requireValue(await accounts.find(name))];
    const windows = await Promise.all(
      chosen.map(async (account) => {
        const { minute, day } = describeWindows(
          await quotas.peek({ kind: 'account', accountId: account.id, limits: account.limits }),
        );
        return { account: account.name, plan: account.plan, minute, day };
      }),
    );
    printRows(json, windows, WINDOW_COLUMNS, ({ account, plan, minute, day }) => [
      account,
      plan,
      ...[minute, day].flatMap(({ limit, remaining, reset }) => [
        {
          exact: `${remaining} of ${limit}`,
          short: () => `${describeCount(remaining)} of ${describeCount(limit)}`,
        },
        instantCell(textFromInstant(reset * 1_000)),
      ]),
    ]);
  });
}

function showHistory(
  { system, withStore, printJson, printTable }: Terminal<Repositories>,
  by: keyof typeof COLUMNS,
  { account: name, since, csv, json }: UsageOptions,
): Promise<void> {
  return withStore(async ({ clock, store: { accounts, usageHistory } }) => {
    const now = Math.floor(clock().unix);
    const range = requireValue(usageRange({ from: since?.(now) }, now, '--since'));
    const accountId = name === undefined ? undefined : requireValue(await accounts.find(name)).id;
    const sums = await usageHistory.sums({ ...range, accountId, by: by === 'day' ? 'interval' : by });
    const header = [...COLUMNS[by], ...OUTCOMES];
    const rows = sums.map((sum) => {
      const day = sum.start === undefined ? null : textFromInstant(sum.start).slice(0, 10);
      const cells: Readonly<Record<string, string | number | null | undefined>> = { ...sum, day };
      return Object.fromEntries(header.map((column) => [column, cells[column] ?? null]));
    });
    if (json) return printJson(rows);
    if (csv) return void system.stdout.write(csvText([header, ...rows.map(Object.values)]));
    printTable(
      header.map((column) => column.replaceAll(/[A-Z]/g, ' $&').toUpperCase()),
      rows.map((row) => Object.values(row).map((value) => String(value ?? '-'))),
    );
  });
}
