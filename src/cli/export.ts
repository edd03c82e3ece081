import type { Writable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { type Command, Option } from 'commander';
import type { ProgramTerminal } from './context.ts';
import { EXPORTS, FORMAT_NAMES, type FormatName } from './export-formats.ts';
import { JSON_OPTION, type JsonOption } from '../terminal/options.ts';
import { ReaderStalled } from '../terminal/output.ts';

const NOTES = `
The command fails if nobody reads its output for 60 seconds, because the database cannot free old data while it runs.

Examples:
  petstore export > animals.ndjson
  petstore export --what orders --format csv > orders.csv`;

interface ExportOptions extends JsonOption {
  readonly what: keyof typeof EXPORTS;
  readonly format: FormatName;
}

/** Node does not document the handle. Without it, an export to a terminal that takes nothing does not end. */
interface BlockingOutput {
  readonly isTTY?: boolean;
  readonly _handle?: { setBlocking?(blocking: boolean): void };
}

export function exportCommand(program: Command, terminal: ProgramTerminal, wait = systemWait): void {
  program
    .command('export')
    .description('write every animal, category or order to standard output, oldest first, as of one instant')
    .addOption(new Option('--what <kind>', 'what to write').choices(Object.keys(EXPORTS)).default('pets'))
    .addOption(new Option('--format <format>', 'of the output').choices(FORMAT_NAMES).default('ndjson'))
    .addOption(new Option(...JSON_OPTION).conflicts('format'))
    .addHelpText('after', NOTES)
    .action((options: ExportOptions) => writeAll(terminal, options, wait));
}

function writeAll(
  { system: { stdout }, withStore }: ProgramTerminal,
  { what, format, json }: ExportOptions,
  wait: Wait,
): Promise<void> {
  return withStore(async ({ store }) => {
    const text = EXPORTS[what](store, json ? 'array' : format);
    waitWithoutBlocking(stdout);
    try {
      await writePieces(text, stdout, wait);
    } catch (error) {
      // A reader such as `head` may close the pipe early.
      if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error;
    }
  });
}

/** Node writes to a terminal synchronously. A terminal that takes nothing would then block the timer of `writePieces`. */
function waitWithoutBlocking({ isTTY, _handle }: BlockingOutput): void {
  if (isTTY === true) _handle?.setBlocking?.(false);
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
