import type { Writable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { type Command, Option } from 'commander';
import type { ProgramTerminal } from './context.ts';
import { ServiceError } from '../domain/errors.ts';
import { readCategoryId } from '../resources/categories/commands.ts';
import type { Store } from '../resources/repositories.ts';
import { requireValue } from '../terminal/command.ts';
import {
  type ExportFilters,
  EXPORTS,
  type FilterName,
  FORMAT_NAMES,
  type FormatName,
} from './export-formats.ts';
import { JSON_OPTION, type JsonOption } from '../terminal/takers.ts';
import { ReaderStalled, waitWithoutBlocking } from '../terminal/output.ts';

const NOTES = `
The command fails if nobody reads its output for 60 seconds, because the database cannot free old data while it runs.

Examples:
  petstore export > animals.ndjson
  petstore export --status available --category Dogs > dogs.ndjson
  petstore export --what orders --account shop --format csv > orders.csv`;

interface ExportOptions extends JsonOption {
  readonly what: keyof typeof EXPORTS;
  readonly format: FormatName;
  readonly status?: string;
  /** The name or the id of a category. */
  readonly category?: string;
  readonly account?: string;
}

/** In the order of help. */
const FILTERS: readonly FilterName[] = ['status', 'category', 'account'];

export function exportCommand(program: Command, terminal: ProgramTerminal, wait = systemWait): void {
  program
    .command('export')
    .description('write every animal, category or order to standard output, oldest first, as of one instant')
    .addOption(new Option('--what <kind>', 'what to write').choices(Object.keys(EXPORTS)).default('pets'))
    .addOption(new Option('--format <format>', 'of the output').choices(FORMAT_NAMES).default('ndjson'))
    .option('--status <status>', 'only the animals or orders with this status')
    .option('--category <category>', 'only the animals of this category: its name or its id')
    .option('--account <name>', 'only the orders of this account')
    .addOption(new Option(...JSON_OPTION).conflicts('format'))
    .addHelpText('after', NOTES)
    .action((options: ExportOptions) => writeAll(terminal, options, wait));
}

function writeAll(
  { system: { stdout }, withStore }: ProgramTerminal,
  options: ExportOptions,
  wait: Wait,
): Promise<void> {
  const { what, format, json } = options;
  requireFilters(options);
  return withStore(async ({ store }) => {
    const text = EXPORTS[what].write(store, json ? 'array' : format, await readFilters(store, options));
    waitWithoutBlocking(stdout);
    try {
      await writePieces(text, stdout, wait);
    } catch (error) {
      // A reader such as `head` may close the pipe early.
      if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error;
    }
  });
}

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

/** Milliseconds that a reader may take for one piece. Until an export ends, the database cannot free old rows. */
const READER_TIMEOUT = 60_000;

/** Resolves after the milliseconds, and rejects if the signal is aborted before. */
export type Wait = (milliseconds: number, signal: AbortSignal) => Promise<unknown>;

const systemWait: Wait = (milliseconds, signal) => setTimeout(milliseconds, undefined, { signal });

/**
 * Writes each piece when the previous one has been read. Closes `pieces`, however it ends.
 * @throws ReaderStalled when a piece is not read within `READER_TIMEOUT`; the error of `output`.
 */
export async function writePieces(
  pieces: AsyncIterable<string>,
  output: Writable,
  wait: Wait,
): Promise<void> {
  for await (const piece of pieces) {
    const taken = new AbortController();
    const written = new Promise<void>((resolve, reject) => {
      output.write(piece, (error) => (error ? reject(error) : resolve()));
    });
    const stalled = wait(READER_TIMEOUT, taken.signal).then(() => {
      throw new ReaderStalled();
    });
    await Promise.race([written, stalled]).finally(() => taken.abort());
  }
}
