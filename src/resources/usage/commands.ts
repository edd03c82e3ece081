// Contract: sections 6, 6.9 and 8.
import { DAY } from '../../domain/clock.ts';
import { csvText } from '../../domain/csv.ts';
import { textFromInstant } from '../../domain/instant.ts';
import { OUTCOMES } from '../../domain/usage.ts';
import { toWindows } from '../../limits/quota.ts';
import { command, type CommandContext, findNamed, requireValue } from '../../terminal/command.ts';
import { type Instant, readSince } from '../../terminal/parsers.ts';
import { type Cell, describeCount, instantCell, type Column } from '../../terminal/table.ts';
import { choice, excluding, flag, option } from '../../terminal/takers.ts';
import { type View, viewRows } from '../../terminal/view.ts';
import type { AccountRepository } from '../accounts/repository.ts';
import type { UsageRepository } from './repository.ts';
import { type UsageQuery, usageRange, type UsageSum } from './rules.ts';

type Context = CommandContext<{
  readonly accounts: AccountRepository;
  readonly usageHistory: Pick<UsageRepository, 'sums'>;
}>;

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

type Windows = ReturnType<typeof toWindows> & { readonly account: string; readonly plan: string };

const WINDOW_COLUMNS: readonly Column<Windows>[] = [
  ['ACCOUNT', ({ account }) => account, { shrinks: true }],
  ['PLAN', ({ plan }) => plan, { weight: 1 }],
  ['MINUTE LEFT', ({ minute }) => leftCell(minute)],
  ['MINUTE RESETS', ({ minute }) => resetCell(minute), { weight: 2 }],
  ['DAY LEFT', ({ day }) => leftCell(day)],
  ['DAY RESETS', ({ day }) => resetCell(day), { weight: 3 }],
];

export const usageCommand = command('usage', {
  description:
    'show the requests that each account has left in its minute and its day, as of a second ago; with --by, show the history',
  takes: {
    account: option('<name>', 'only one account'),
    by: choice('<what>', 'count the answered requests by key, account, operation or day, and by outcome', BY),
    since: option(
      '<when>',
      'with --by, from the first whole UTC day since then: a date, an ISO 8601 instant, or a duration before now (default: 30d)',
      readSince,
    ),
    until: option(
      '<when>',
      'with --by, only days that begin before then; a date itself is not included (default: now)',
      readSince,
    ),
    csv: excluding(flag('with --by, print CSV'), 'json'),
  },
  examples: [
    'petstore usage --account shop',
    'petstore usage --by operation --since 30d',
    'petstore usage --by day --since 2026-01-01 --account shop --csv > shop.csv',
    'petstore usage --by key,day --since 2026-11-16 --until 2026-11-23 --csv > week.csv',
  ],
  check: ({ by, since, until, csv }) => {
    const misplaced = (since && '--since') ?? (until && '--until') ?? (csv && '--csv');
    return by === undefined && misplaced && `${misplaced} is for the history, so it needs --by.`;
  },
  run: ({ by, ...filters }, context: Context) =>
    by === undefined ? viewWindows(context, filters.account) : viewHistory(context, by, filters),
});

/** What each account, or the one with this name, has left in both windows. */
function viewWindows({ store: { accounts }, useQuotas }: Context, name: string | undefined): Promise<View> {
  return useQuotas(async (quotas) => {
    const found = await findNamed(accounts, name);
    const chosen = found === undefined ? await accounts.listAll() : [found];
    const windows = await Promise.all(
      chosen.map(async ({ id: accountId, name: account, plan, limits }) => {
        const { minute, day } = toWindows(await quotas.peek({ kind: 'account', accountId, limits }));
        return { account, plan, minute, day };
      }),
    );
    return viewRows(WINDOW_COLUMNS, windows);
  });
}

function leftCell({ limit, remaining }: Windows['minute']): Cell {
  return {
    exact: `${remaining} of ${limit}`,
    short: () => `${describeCount(remaining)} of ${describeCount(limit)}`,
  };
}

function resetCell({ reset }: Windows['minute']): Cell {
  return instantCell(textFromInstant(reset * 1_000));
}

async function viewHistory(
  { clock, system, store: { accounts, usageHistory } }: Context,
  by: (typeof BY)[number],
  filters: {
    readonly account?: string;
    readonly since?: Instant;
    readonly until?: Instant;
    readonly csv?: true;
  },
): Promise<View> {
  const now = Math.floor(clock().unix);
  const names = { from: '--since', to: '--until' };
  const parameters = { from: filters.since?.(now), to: filters.until?.(now) };
  const range = requireValue(usageRange(parameters, now, { names }));
  const accountId = (await findNamed(accounts, filters.account))?.id;
  const groups = by.split(',') as Group[];
  const header = [...groups.toReversed().flatMap((group) => GROUPS[group]), ...OUTCOMES];
  const sums = await readSums(usageHistory, { ...range, accountId }, groups);
  const rows = sums.map((sum): HistoryRow => {
    const day = sum.start === undefined ? null : textFromInstant(sum.start).slice(0, 10);
    const cells: Readonly<Record<string, string | number | null | undefined>> = { ...sum, day };
    return Object.fromEntries(header.map((column) => [column, cells[column] ?? null]));
  });
  if (filters.csv) return () => void system.stdout.write(csvText([header, ...rows.map(Object.values)]));
  return viewRows(header.map(historyColumn), rows);
}

type HistoryRow = Readonly<Record<string, string | number | null>>;

/** Sums by the first group. With `day` as the second one, those of each day, the oldest day first. */
async function readSums(
  usageHistory: Context['store']['usageHistory'],
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

function historyColumn(name: string): Column<HistoryRow> {
  const title = name.replaceAll(/[A-Z]/g, ' $&').toUpperCase();
  const isCount = OUTCOMES.some((outcome) => outcome === name);
  const cell = (row: HistoryRow): Cell => (isCount ? (row[name] ?? '-') : String(row[name] ?? '-'));
  if (name === 'label') return [title, cell, { weight: 1, shrinks: true }];
  return name === 'account' ? [title, cell, { shrinks: true }] : [title, cell];
}
