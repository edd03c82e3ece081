import type { ProgramTerminal } from './context.ts';
import { ServiceError } from '../domain/errors.ts';
import { readCategoryId } from '../resources/categories/commands.ts';
import type { Store } from '../resources/repositories.ts';
import { ownCommand, requireValue } from '../terminal/command.ts';
import { type ExportFilters, EXPORTS, type FilterName, FORMAT_NAMES } from './export-formats.ts';
import {
  choice,
  excluding,
  flag,
  JSON_OPTION,
  option,
  type Values,
  withDefault,
} from '../terminal/takers.ts';
import { waitWithoutBlocking, writePieces } from '../terminal/output.ts';

const KINDS = Object.keys(EXPORTS) as (keyof typeof EXPORTS)[];

const TAKES = {
  what: withDefault(choice('<kind>', 'what to write', KINDS), 'pets'),
  format: withDefault(choice('<format>', 'of the output', FORMAT_NAMES), 'ndjson'),
  status: option('<status>', 'only the animals or orders with this status'),
  category: option('<category>', 'only the animals of this category: its name or its id'),
  account: option('<name>', 'only the orders of this account'),
  json: excluding(flag(JSON_OPTION[1]), 'format'),
};

type ExportOptions = Values<typeof TAKES>;

/** In the order of help. */
const FILTERS: readonly FilterName[] = ['status', 'category', 'account'];

export const exportCommand = ownCommand('export', {
  description: 'write every animal, category or order to standard output, oldest first, as of one instant',
  takes: TAKES,
  notes:
    'The command fails if nobody reads its output for 60 seconds, because the database cannot free old data while it runs.',
  examples: [
    'petstore export > animals.ndjson',
    'petstore export --status available --category Dogs > dogs.ndjson',
    'petstore export --what orders --account shop --format csv > orders.csv',
  ],
  run: (options, { system: { stdout }, withStore, wait }: ProgramTerminal) => {
    requireFilters(options);
    return (_, json) =>
      withStore(async ({ store }) => {
        const format = json ? 'array' : options.format;
        const text = EXPORTS[options.what].write(store, format, await readFilters(store, options));
        waitWithoutBlocking(stdout);
        await writePieces(text, stdout, wait);
      });
  },
});

/** @throws ServiceError `invalid_parameter` for a filter, or a status, that this kind does not have. */
function requireFilters(options: ExportOptions): void {
  const { filters, statuses } = EXPORTS[options.what];
  const misplaced = FILTERS.find((name) => options[name] !== undefined && !filters.includes(name));
  if (misplaced !== undefined)
    throw new ServiceError('invalid_parameter', `--what ${options.what} has no --${misplaced}.`);
  if (options.status !== undefined && !statuses.includes(options.status))
    throw new ServiceError('invalid_parameter', `--status must be one of ${statuses.join(', ')}.`);
}

async function readFilters(
  { accounts, categories }: Store,
  { status, category, account }: ExportOptions,
): Promise<ExportFilters> {
  return {
    status,
    category: category === undefined ? undefined : await readCategoryId(categories, category),
    account: account === undefined ? undefined : requireValue(await accounts.find(account)).name,
  };
}
