/** A row that can be read: `value` gives what stands in a column, undefined where there is none. */
export interface ReadableRow {
  /** The line of the file where the row starts, from 1. */
  readonly line: number;
  readonly value: (column: string) => unknown;
  /** Whether every value is text, as in CSV, so that numbers must be read from it. */
  readonly textOnly: boolean;
}

/** One row of the file, or why it cannot be read, as a sentence. */
export type Row = ReadableRow | { readonly line: number; readonly fault: string };
