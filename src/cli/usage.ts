// Contract: sections 6.9 and 8.
import { type Command, Option } from 'commander';
import { ServiceError } from '../domain/errors.ts';
import { OUTCOMES } from '../domain/usage.ts';
import { requireValue } from '../terminal/command.ts';
import { usageRange } from '../management/usage.ts';
import { withQuotas, withStore } from './context.ts';
import { csvText } from '../terminal/csv.ts';
import { type Instant, JSON_OPTION, type JsonOption, since as sinceOption } from '../terminal/options.ts';
import { printJson, printTable } from '../terminal/output.ts';
import { showWindows } from '../resources/usage/windows.ts';

/** The first columns of each `--by`. The counts follow. */
const COLUMNS = {
  key: ['keyId', 'label', 'account'],
  account: ['accountId', 'account'],
  operation: ['operation'],
  day: ['day'],
} as const;

type By = keyof typeof COLUMNS;

interface UsageOptions extends JsonOption {
  readonly account?: string;
  readonly by?: By;
  readonly since?: Instant;
  readonly csv?: true;
}

const EXAMPLES = `
Examples:
  petstore usage --account shop
  petstore usage --by operation --since 30d
  petstore usage --by day --since 2026-01-01 --account shop --csv > shop.csv`;

export function usageCommand(program: Command): void {
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
    .action(showUsage);
}

function showUsage({ account: name, by, since, csv, json }: UsageOptions): Promise<void> {
  if (by === undefined) {
    const alone = since !== undefined ? '--since' : csv && '--csv';
    if (alone) throw new ServiceError('invalid_parameter', `${alone} is for the history, so it needs --by.`);
    return showWindows(withQuotas, { ...(name !== undefined && { account: name }), ...(json && { json }) });
  }
  return withStore(async ({ clock, store }) => {
    const now = Math.floor(clock().unix);
    const range = usageRange({ from: since?.(now) }, now, '--since');
    const accountId = name === undefined ? undefined : requireValue(await store.accounts.find(name)).id;
    const sums = await store.usageHistory.sums({ ...range, accountId, by: by === 'day' ? 'interval' : by });
    const header = [...COLUMNS[by], ...OUTCOMES];
    const rows = sums.map((sum) => {
      const day = 'start' in sum ? new Date(sum.start).toISOString().slice(0, 10) : null;
      const its: Readonly<Record<string, string | number | null | undefined>> = { ...sum, day };
      return Object.fromEntries(header.map((column) => [column, its[column] ?? null]));
    });
    if (json) return printJson(rows);
    if (csv) return void process.stdout.write(csvText(header, rows.map(Object.values)));
    printTable(
      header.map((column) => column.replaceAll(/[A-Z]/g, ' $&').toUpperCase()),
      rows.map((row) => Object.values(row).map((value) => String(value ?? '-'))),
    );
  });
}
