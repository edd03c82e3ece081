import type { Limited, Output } from './output.ts';
import type { Cell, Column } from './table.ts';

/** Prints what a command has to show: one JSON value with `--json`, or else lines and tables. */
export type View = (output: Output, json: true | undefined) => void | Promise<void>;

/** A line, in which a number is a count, or a table. */
export type Text = string | readonly Cell[] | ((output: Output) => void);

export function view(json: unknown, ...texts: readonly Text[]): View {
  return (output, asJson) => {
    if (asJson) output.printJson(json);
    else
      for (const text of texts)
        if (typeof text === 'function') text(output);
        else output.printLine(text);
  };
}

/** Rows are one JSON array, or a table. */
export function viewRows<Row extends object>(columns: readonly Column<Row>[], rows: readonly Row[]): View {
  return view(rows, table(columns, rows));
}

/** Like `viewRows`, page by page. */
export function viewPages<Row extends object>(
  columns: readonly Column<Row>[],
  pages: AsyncIterable<readonly Row[]>,
  limited?: Limited,
): View {
  return ({ printPages }, json) => printPages(json, columns, pages, limited);
}

export function table<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): Text {
  return ({ printTable }) => printTable(columns, rows);
}

/** The lines of a secret, below the line that says what it is for. */
export function secretLines(secret: string): readonly string[] {
  return ['', `  ${secret}`, '', 'It is shown only once: the database keeps only its hash.'];
}
