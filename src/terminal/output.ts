import { ServiceError } from '../domain/errors.ts';
import { toJson } from '../domain/json.ts';

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

/** Prints the one JSON value of a command with `--json`. */
export function printJson(value: unknown): void {
  process.stdout.write(`${printable(JSON.stringify(value))}\n`);
}

export function printLine(text: string): void {
  process.stdout.write(`${printable(text)}\n`);
}

/** Prints a secret below the line that says what it is for. */
export function printSecret(secret: string): void {
  for (const line of ['', `  ${secret}`, '', 'It is shown only once: the database keeps only its hash.'])
    printLine(line);
}

/** Prints one line on standard error. */
export function printError(text: string): void {
  process.stderr.write(`${printable(text)}\n`);
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

/** Prints rows as one JSON array with `--json`, or else as a table. Without `cellsOf`, each property is a column. */
export function printRows<T extends object>(
  json: true | undefined,
  rows: readonly T[],
  header: readonly string[],
  cellsOf = (row: T): readonly string[] => Object.values(row).map(String),
): void {
  if (json) printJson(rows);
  else printTable(header, rows.map(cellsOf));
}

/** Prints rows below a header, in columns as wide as their widest cell. */
export function printTable(header: readonly string[], rows: readonly (readonly string[])[]): void {
  process.stdout.write(tableText([header, ...rows], []));
}

/**
 * Like `printRows`, page by page, so that memory stays flat. A column becomes wider when a later page needs it. Ends early
 * when nobody reads the output.
 */
export async function printPages<T extends object>(
  json: true | undefined,
  pages: AsyncIterable<readonly T[]>,
  header: readonly string[],
  cellsOf: (row: T) => readonly string[],
): Promise<void> {
  const output = new LongOutput(process.stdout);
  for await (const piece of json ? jsonPieces(pages) : tablePieces(pages, header, cellsOf)) {
    await output.write(piece);
    if (!process.stdout.writable) return;
  }
  await output.flush();
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

/** Nobody reads standard output. */
export class ReaderStalled extends ServiceError {
  constructor() {
    super(
      'unavailable',
      'The export is incomplete, because nobody read its output for 60 seconds: export to a file instead.',
    );
  }
}
