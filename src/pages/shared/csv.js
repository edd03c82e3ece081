/**
 * Rows as CSV (RFC 4180). A spreadsheet would run text that begins like a formula, so such text gets an apostrophe.
 * @param {readonly (readonly (string | number | undefined)[])[]} rows
 */
export function csv(rows) {
  return rows.map((row) => `${row.map(cell).join(',')}\r\n`).join('');
}

/** @param {string | number | undefined} value */
function cell(value) {
  if (typeof value === 'number') return String(value);
  const safe = /^[=+\-@\t\r]/.test(value ?? '') ? `'${value}` : (value ?? '');
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/**
 * Downloads `rows` as a file.
 * @param {string} name without its ending
 * @param {readonly (readonly (string | number | undefined)[])[]} rows
 */
export function downloadCsv(name, rows) {
  const url = URL.createObjectURL(new Blob([csv(rows)], { type: 'text/csv;charset=utf-8' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = `${name}.csv`;
  link.click();
  URL.revokeObjectURL(url);
}
