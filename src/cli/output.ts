/** Characters. Writing each line by itself would make a long report take a third longer. */
const PIECE = 16 * 1024;

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

/** The one JSON value of a command that was asked for `--json`. */
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

/** Writes a long text in pieces, no faster than its reader takes them, so that memory stays flat. */
export class LongOutput {
  readonly #stream: NodeJS.WritableStream;
  #piece = '';

  constructor(stream: NodeJS.WritableStream) {
    this.#stream = stream;
  }

  async write(text: string): Promise<void> {
    this.#piece += text;
    if (this.#piece.length >= PIECE) await this.flush();
  }

  /** Resolves when the stream has passed everything on, or has failed: its `error` event tells which. */
  flush(): Promise<void> {
    const piece = this.#piece;
    this.#piece = '';
    return new Promise((resolve) => {
      this.#stream.write(piece, () => resolve());
    });
  }
}

/** Rows below a header, in columns as wide as their widest cell. */
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
