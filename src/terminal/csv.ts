// Contract: section 8.

/** CSV of RFC 4180 with a header line. A value that is null becomes an empty cell. */
export function csvText(
  header: readonly string[],
  rows: readonly (readonly (string | number | null)[])[],
): string {
  return [header, ...rows].map((row) => `${row.map(cell).join(',')}\r\n`).join('');
}

/**
 * A spreadsheet takes a cell that begins with one of these characters for a formula, which can send its data elsewhere. An
 * apostrophe before it makes it text (docs/design/usage.md).
 */
const FORMULA = /^[=+\-@\t\r]/;

function cell(value: string | number | null): string {
  if (typeof value !== 'string') return String(value ?? '');
  const text = FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
