import type { Writable } from 'node:stream';
import { MESSAGE_LENGTH, ServiceError } from '../domain/errors.ts';
import { toJson } from '../domain/json.ts';
import type { Clock } from '../domain/clock.ts';
import { cutText } from '../domain/text.ts';
import { printable } from './printable.ts';
import {
  type Cell,
  type Column,
  describeCell,
  describeCount,
  type Screen,
  TableText,
  wrapWords,
} from './table.ts';

/** What the program uses of its process. `process` is one. */
export interface System {
  readonly env: NodeJS.ProcessEnv;
  readonly stdin: AsyncIterable<Buffer | string> & { readonly isTTY?: boolean };
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  /** Ends the process without waiting until its output is read. The default is the status that it has by now. */
  exit(code?: number): void;
}

/** `columns` is the width of a terminal. `hasColors` also looks at NO_COLOR and TERM. */
type OutputStream = Writable & {
  readonly isTTY?: boolean;
  readonly columns?: number;
  hasColors?(): boolean;
  /** Node does not document it. */
  readonly _handle?: { setBlocking?(blocking: boolean): void };
};

/** Node writes to a terminal synchronously. A terminal that takes nothing would block the whole process. */
export function waitWithoutBlocking({ _handle }: OutputStream): void {
  _handle?.setBlocking?.(false);
}

/** Resolves after the milliseconds, and rejects if the signal is aborted before. */
export type Wait = (milliseconds: number, signal: AbortSignal) => Promise<unknown>;

/** Characters. A report that writes each line by itself takes a third longer. */
const PIECE_LENGTH = 16 * 1024;

/** Rows of a table with `--limit` that a terminal shows without it. */
const TERMINAL_ROWS = 100;

/** A list that takes `--limit`. */
export interface Limited {
  readonly limit: number | undefined;
}

/** A longer list is not read to its end to say how long it is. */
const COUNTED_ROWS = 10_000;

/** Resolves when the stream has written the text. False: it has failed, and emits `error`, which `main` reports. */
function writePiece(stream: Writable, piece: string): Promise<boolean> {
  return new Promise((resolve) => {
    stream.write(piece, (error) => resolve(!error));
  });
}

/** Milliseconds that a reader may take for one piece. Until an export ends, the database cannot free old rows. */
const READER_TIMEOUT = 60_000;

/**
 * Writes each piece when the previous one is written. Closes `pieces`, however it ends. False: the stream has failed.
 * @throws ReaderStalled with `wait`, when a piece is not written within `READER_TIMEOUT`.
 */
export async function writePieces(
  pieces: AsyncIterable<string>,
  stream: Writable,
  wait?: Wait,
): Promise<boolean> {
  for await (const piece of pieces) {
    const written = writePiece(stream, piece);
    if (!(await (wait === undefined ? written : requireReader(written, wait)))) return false;
  }
  return true;
}

async function requireReader(written: Promise<boolean>, wait: Wait): Promise<boolean> {
  const taken = new AbortController();
  const stalled = wait(READER_TIMEOUT, taken.signal).then(() => {
    throw new ReaderStalled();
  });
  return await Promise.race([written, stalled]).finally(() => taken.abort());
}

/** Writes a long text in pieces. The caller waits for its reader, so that memory stays flat. */
export class LongOutput {
  readonly #stream: Writable;
  #piece = '';

  constructor(stream: Writable) {
    this.#stream = stream;
  }

  async write(text: string): Promise<void> {
    this.#piece += text;
    if (this.#piece.length >= PIECE_LENGTH) await this.flush();
  }

  /** Resolves when the stream has written everything, or has failed. */
  async flush(): Promise<void> {
    const piece = this.#piece;
    this.#piece = '';
    await writePiece(this.#stream, piece);
  }
}

/** What a command prints. A stream is opened at its first use. */
export function openOutput(streams: Pick<System, 'stdout' | 'stderr'>, clock: Clock) {
  const describeScreen = (): Screen => {
    const { isTTY: isTerminal = false, columns = 0 } = streams.stdout;
    // A terminal that does not know its width has 0.
    return {
      isTerminal,
      columns: isTerminal && columns > 0 ? columns : undefined,
      now: clock().unix,
    };
  };

  /** Prints the one JSON value of a command with `--json`. */
  const printJson = (value: unknown): void => printLine(toJson(value));

  /** Prints a line of text, or of cells without space between them. */
  const printLine = (line: string | readonly Cell[]): void => {
    const cells = typeof line === 'string' ? [line] : line;
    const text = cells.map((cell) => describeCell(cell, describeScreen())).join('');
    streams.stdout.write(`${printable(text)}\n`);
  };

  /** Prints one line on standard error. What it repeats of the input may be long. */
  const printError = (text: string): void => {
    streams.stderr.write(`${printable(cutText(text, MESSAGE_LENGTH))}\n`);
  };

  const openTable = <Row>(columns: readonly Column<Row>[]) => new TableText(columns, describeScreen());

  /** Prints what is missing in a table, in lines that fit. */
  const printLack = (lack: string | undefined): void => {
    if (lack === undefined) return;
    for (const line of wrapWords(lack, describeScreen().columns)) printError(line);
  };

  /** Prints rows below a header. On a terminal, a table fits its width. */
  const printTable = <Row>(columns: readonly Column<Row>[], rows: readonly Row[]): void => {
    const table = openTable(columns);
    streams.stdout.write(table.add(rows));
    printLack(table.describeLack());
  };

  /** Prints lines that come without end. Ends when nobody reads them. */
  const printLines = async (lines: AsyncIterable<string>): Promise<void> => {
    await writePieces(linePieces(lines), streams.stdout);
  };

  /**
   * Prints rows as one JSON array with `--json`, or else as a table, page by page, so that memory stays flat. A column
   * becomes wider when a later page needs it. Ends early when nobody reads the output. With `limited`, a terminal gets
   * the first 100 rows unless `--limit` has a number.
   */
  const printPages = async <Row extends object>(
    json: true | undefined,
    columns: readonly Column<Row>[],
    pages: AsyncIterable<readonly Row[]>,
    limited?: Limited,
  ): Promise<void> => {
    const isTerminal = describeScreen().isTerminal && !json;
    const limit = limited?.limit ?? (limited && isTerminal ? TERMINAL_ROWS : Number.POSITIVE_INFINITY);
    let lack: string | undefined;
    const describeLack = (text: string) => {
      lack = text;
    };
    const rows = takeRows(pages, limit, isTerminal ? describeLack : undefined);
    const table = openTable(columns);
    const pieces = json ? jsonPieces(rows) : tablePieces(rows, table);
    if (!(await writePieces(pieces, streams.stdout))) return;
    printLack(table.describeLack());
    printLack(lack);
  };

  return {
    printJson,
    printLine,
    printError,
    printTable,
    printPages,
    printLines,
  };
}

/** How a command prints. */
export type Output = ReturnType<typeof openOutput>;

/** The first rows, page by page. `onLack` gets a sentence if there are more; without it, they are not counted. */
async function* takeRows<T>(
  pages: AsyncIterable<readonly T[]>,
  limit: number,
  onLack: ((lack: string) => void) | undefined,
): AsyncGenerator<readonly T[]> {
  const counted = onLack === undefined ? limit : Math.max(limit, COUNTED_ROWS);
  let read = 0;
  for await (const rows of pages) {
    if (read < limit) yield rows.slice(0, limit - read);
    read += rows.length;
    if (read > counted || (read === counted && onLack === undefined)) break;
  }
  if (read <= limit) return;
  const total = read > counted ? `more than ${describeCount(counted)}` : describeCount(read);
  onLack?.(`The first ${describeCount(limit)} of ${total} rows. --limit shows more, --json has all.`);
}

async function* linePieces(lines: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const line of lines) yield `${printable(line)}\n`;
}

async function* jsonPieces(pages: AsyncIterable<readonly object[]>): AsyncGenerator<string> {
  let start = '[';
  for await (const rows of pages) {
    if (rows.length === 0) continue;
    yield start + rows.map((row) => printable(toJson(row))).join(',');
    start = ',';
  }
  yield start === '[' ? '[]\n' : ']\n';
}

async function* tablePieces<Row>(
  pages: AsyncIterable<readonly Row[]>,
  table: TableText<Row>,
): AsyncGenerator<string> {
  for await (const rows of pages) yield table.add(rows);
}

/** A command did its work, but not for all rows of its file. It has told which. */
export class RowsRefused extends Error {}

/** Nobody reads standard output. */
export class ReaderStalled extends ServiceError {
  constructor() {
    super(
      'unavailable',
      'The export is incomplete, because nobody read its output for 60 seconds: export to a file instead.',
    );
  }
}
