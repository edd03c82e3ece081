// Contract: section 8.

/** A text in quotes. Without a text, the cell is empty. */
export function quoted(text: string | undefined): string {
  return text === undefined ? '' : `"${text.replaceAll('"', '""')}"`;
}

/** Texts in one cell, between semicolons. One that holds a semicolon, a quote or a line end stands in quotes. */
export function listCell(texts: readonly string[]): string {
  return texts.map((text) => (/[;"\r\n]/.test(text) ? quoted(text) : text)).join(';');
}

/**
 * A spreadsheet takes a cell that begins with one of these characters for a formula, which can send its data elsewhere. An
 * apostrophe before it makes it text (docs/design/usage.md).
 */
const FORMULA = /^[=+\-@\t\r]/;

/** A text in quotes that no spreadsheet takes for a formula. Without a text, the cell is empty. */
export function quotedCell(text: string | undefined): string {
  return quoted(text === undefined ? undefined : withoutFormula(text));
}

function withoutFormula(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text;
}

type Cell = string | number | null | undefined;

/** CSV of RFC 4180 for spreadsheets. The first row is the header. Without a value, a cell is empty. */
export function csvText(rows: readonly (readonly Cell[])[]): string {
  return rows.map((row) => `${row.map(cell).join(',')}\r\n`).join('');
}

function cell(value: Cell): string {
  if (typeof value !== 'string') return String(value ?? '');
  const text = withoutFormula(value);
  return /[",\r\n]/.test(text) ? quoted(text) : text;
}
