// Contract: sections 6, 6.9 and 8.
import { type Command, Option } from 'commander';
import { DAY } from '../../domain/clock.ts';
import { csvText } from '../../domain/csv.ts';
import { ServiceError } from '../../domain/errors.ts';
import { textFromInstant } from '../../domain/instant.ts';
import { OUTCOMES } from '../../domain/usage.ts';
import { toWindows } from '../../limits/quota.ts';
import { requireValue, type Terminal } from '../../terminal/command.ts';
import { type Instant, JSON_OPTION, type JsonOption, since as sinceOption } from '../../terminal/options.ts';
import { type Cell, type Column, describeCount, instantCell } from '../../terminal/table.ts';
import type { AccountRepository } from '../accounts/repository.ts';
import type { UsageRepository } from './repository.ts';
import { type UsageQuery, usageRange, type UsageSum } from './rules.ts';

interface Repositories {
  readonly accounts: AccountRepository;
  readonly usageHistory: Pick<UsageRepository, 'sums'>;
}

/** The columns of each group. The counts follow. */
const GROUPS = {
  key: ['keyId', 'label', 'account'],
  account: ['accountId', 'account'],
  operation: ['operation'],
  day: ['day'],
} as const;

type Group = keyof typeof GROUPS;

/** The values of `--by`. */
const BY = ['key', 'account', 'operation', 'day', 'key,day', 'account,day', 'operation,day'] as const;

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
  readonly by?: (typeof BY)[number];
  readonly since?: Instant;
  readonly until?: Instant;
  readonly csv?: true;
}

const EXAMPLES = `
Examples:
  petstore usage --account shop
  petstore usage --by operation --since 30d
  petstore usage --by day --since 2026-01-01 --account shop --csv > shop.csv
  petstore usage --by key,day --since 2026-11-16 --until 2026-11-23 --csv > week.csv`;

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
      ).choices(BY),
    )
    .option(
      '--since <when>',
      'with --by, from the first whole UTC day since then: a date, an ISO 8601 instant, or a duration before now (default: 30d)',
      sinceOption,
    )
    .option(
      '--until <when>',
      'with --by, only days that begin before then; a date itself is not included (default: now)',
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
  { account: name, since, until, csv, json }: UsageOptions,
): Promise<void> {
  const misplaced = (since && '--since') ?? (until && '--until') ?? (csv && '--csv');
  if (misplaced)
    throw new ServiceError('invalid_parameter', `${misplaced} is for the history, so it needs --by.`);
  await withQuotas(async ({ store: { accounts }, quotas }) => {
    const chosen = name === undefined ? await accounts.listAll() : [requireValue(await accounts.find(name))];
    const windows = await Promise.all(
      chosen.map(async (account) => {
        const { minute, day } = toWindows(
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
  by: (typeof BY)[number],
  { account: name, since, until, csv, json }: UsageOptions,
): Promise<void> {
  return withStore(async ({ clock, store: { accounts, usageHistory } }) => {
    const now = Math.floor(clock().unix);
    const names = { from: '--since', to: '--until' };
    const range = requireValue(usageRange({ from: since?.(now), to: until?.(now) }, now, { names }));
    const accountId = name === undefined ? undefined : requireValue(await accounts.find(name)).id;
    const groups = by.split(',') as Group[];
    const header = [...groups.toReversed().flatMap((group) => GROUPS[group]), ...OUTCOMES];
    const sums = await readSums(usageHistory, { ...range, accountId }, groups);
    const rows = sums.map((sum) => {
      const day = sum.start === undefined ? null : textFromInstant(sum.start).slice(0, 10);
      const cells: Readonly<Record<string, string | number | null | undefined>> = { ...sum, day };
      return Object.fromEntries(header.map((column) => [column, cells[column] ?? null]));
    });
    if (json) return printJson(rows);
    if (csv) return void system.stdout.write(csvText([header, ...rows.map(Object.values)]));
    printTable(
      header.map(historyColumn),
      rows.map((row) => header.map((column) => historyCell(column, row))),
    );
  });
}

/** Sums by the first group. With `day` as the second one, those of each day, the oldest day first. */
async function readSums(
  usageHistory: Repositories['usageHistory'],
  { from, to, ...query }: UsageQuery & { readonly accountId: number | undefined },
  [group = 'day', day]: readonly Group[],
): Promise<readonly UsageSum[]> {
  const by = group === 'day' ? 'interval' : group;
  if (day === undefined) return usageHistory.sums({ ...query, from, to, by });
  const sums: UsageSum[] = [];
  for (let start = Math.ceil(from / DAY) * DAY; start < to; start += DAY) {
    const daily = await usageHistory.sums({ ...query, from: start, to: start + 1, by });
    for (const sum of daily) sums.push({ ...sum, start });
  }
  return sums;
}

function historyColumn(name: string): Column {
  const title = name.replaceAll(/[A-Z]/g, ' $&').toUpperCase();
  if (name === 'label') return { title, weight: 1, shrinks: true };
  return name === 'account' ? { title, shrinks: true } : title;
}

function historyCell(name: string, row: Readonly<Record<string, string | number | null>>): Cell {
  const value = row[name] ?? '-';
  return OUTCOMES.some((outcome) => outcome === name) ? value : String(value);
}
