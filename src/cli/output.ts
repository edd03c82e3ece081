import { ServiceError } from '../domain/errors.ts';

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
  const lines = [header, ...rows].map((line) => line.map(printable));
  const widths = header.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  for (const line of lines) {
    printLine(
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    );
  }
}

/** Unix milliseconds as an ISO 8601 instant in UTC, or null when there is none. */
export function isoInstant(milliseconds: number | undefined): string | null {
  return milliseconds === undefined ? null : new Date(milliseconds).toISOString();
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
