import type { Writable } from 'node:stream';
import { ServiceError } from '../domain/errors.ts';
import { toJson } from '../domain/json.ts';

/** What the program uses of its process. `process` is one. */
export interface System {
  readonly env: NodeJS.ProcessEnv;
  readonly stdin: AsyncIterable<Buffer | string> & { readonly isTTY?: boolean };
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  /** Ends the process without waiting until its output is read. */
  exit(code: number): void;
}

/** `columns` is the width of a terminal. */
type OutputStream = Writable & { readonly isTTY?: boolean; readonly columns?: number };

/** Characters. A report that writes each line by itself takes a third longer. */
const PIECE_LENGTH = 16 * 1024;

/**
 * Escapes control characters and the characters that change the direction of text, each as `\u` and four hex digits.
 * Text from a file or a database could otherwise send commands to the terminal. JSON keeps its value.
 */
export function printable(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Bidi_Control}]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Writes a long text in pieces. The caller waits for its reader, so that memory stays flat. */
export class LongOutput {
  readonly #stream: NodeJS.WritableStream;
  #piece = '';

  constructor(stream: NodeJS.WritableStream) {
    this.#stream = stream;
  }

  async write(text: string): Promise<void> {
    this.#piece += text;
    if (this.#piece.length >= PIECE_LENGTH) await this.flush();
  }

  /** Resolves when the stream has written everything, or has failed: then it emits `error`. */
  flush(): Promise<void> {
    const piece = this.#piece;
    this.#piece = '';
    return new Promise((resolve) => {
      this.#stream.write(piece, () => resolve());
    });
  }
}

/** What a command prints. A stream is opened at its first use. */
export function openOutput(streams: Pick<System, 'stdout' | 'stderr'>) {
  /** Prints the one JSON value of a command with `--json`. */
  const printJson = (value: unknown): void => printLine(JSON.stringify(value));

  const printLine = (text: string): void => {
    streams.stdout.write(`${printable(text)}\n`);
  };

  /** Prints a secret below the line that says what it is for. */
  const printSecret = (secret: string): void => {
    for (const line of ['', `  ${secret}`, '', 'It is shown only once: the database keeps only its hash.'])
      printLine(line);
  };

  /** Prints one line on standard error. */
  const printError = (text: string): void => {
    streams.stderr.write(`${printable(text)}\n`);
  };

  /** Prints rows below a header, in columns as wide as their widest cell. */
  const printTable = (header: readonly string[], rows: readonly (readonly string[])[]): void => {
    streams.stdout.write(tableText([header, ...rows], []));
  };

  /** Prints rows as one JSON array with `--json`, or else as a table. Without `cellsOf`, each property is a column. */
  const printRows = <T extends object>(
    json: true | undefined,
    rows: readonly T[],
    header: readonly string[],
    cellsOf = (row: T): readonly string[] => Object.values(row).map(String),
  ): void => {
    if (json) printJson(rows);
    else printTable(header, rows.map(cellsOf));
  };

  /**
   * Like `printRows`, page by page, so that memory stays flat. A column becomes wider when a later page needs it. Ends early
   * when nobody reads the output.
   */
  const printPages = async <T extends object>(
    json: true | undefined,
    pages: AsyncIterable<readonly T[]>,
    header: readonly string[],
    cellsOf: (row: T) => readonly string[],
  ): Promise<void> => {
    const output = new LongOutput(streams.stdout);
    for await (const piece of json ? jsonPieces(pages) : tablePieces(pages, header, cellsOf)) {
      await output.write(piece);
      // The next page may be one that has yet to happen.
      await output.flush();
      if (!streams.stdout.writable) return;
    }
  };

  return { printJson, printLine, printSecret, printError, printTable, printRows, printPages };
}

/** How a command prints. */
export type Output = ReturnType<typeof openOutput>;

async function* jsonPieces(pages: AsyncIterable<readonly object[]>): AsyncGenerator<string> {
  let start = '[';
  for await (const rows of pages) {
    if (rows.length === 0) continue;
    yield start + rows.map((row) => printable(toJson(row))).join(',');
    start = ',';
  }
  yield start === '[' ? '[]\n' : ']\n';
}

async function* tablePieces<T>(
  pages: AsyncIterable<readonly T[]>,
  header: readonly string[],
  cellsOf: (row: T) => readonly string[],
): AsyncGenerator<string> {
  const widths: number[] = [];
  let above = [header];
  for await (const rows of pages) {
    yield tableText([...above, ...rows.map(cellsOf)], widths);
    above = [];
  }
}

/** Lines in columns. `widths` has the characters of each column so far, and grows with the lines. */
function tableText(rows: readonly (readonly string[])[], widths: number[]): string {
  const lines = rows.map((row) => row.map(printable));
  for (const line of lines)
    for (const [column, { length }] of line.entries()) widths[column] = Math.max(widths[column] ?? 0, length);
  return lines
    .map(
      (line) =>
        `${line
          .map((cell, column) => cell.padEnd(widths[column] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
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
