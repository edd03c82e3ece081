import { ServiceError } from '../../domain/errors.ts';
import { nearest } from '../../domain/nearest.ts';
import { parseExactJson } from '../../domain/parse.ts';
import { type CsvRecord, CsvRecords } from './csv-records.ts';
import type { Line } from './lines.ts';

export interface ReadableRow {
  /** The lines of the file that hold the row. */
  readonly lines: readonly Line[];
  /** The value in a column. Undefined when the row has no such column. */
  readonly value: (column: string) => unknown;
  /** Whether every value is text, as in CSV, so that numbers must be read from it. */
  readonly textOnly: boolean;
}

/** One row of the file, or why it cannot be read, as a sentence. */
export type Row = ReadableRow | { readonly lines: readonly Line[]; readonly fault: string };

export interface Table {
  /** The lines above the rows that name the columns. NDJSON has none. */
  readonly header: readonly Line[];
  readonly rows: AsyncIterable<Row>;
}

/** Rows of NDJSON: one JSON object a line. Skips blank lines. */
export function ndjsonTable(lines: AsyncIterable<Line>): Table {
  return { header: [], rows: ndjsonRows(lines) };
}

async function* ndjsonRows(lines: AsyncIterable<Line>): AsyncGenerator<Row> {
  for await (const line of lines) {
    if (line.fault !== undefined || line.text.trim() !== '') yield ndjsonRow(line);
  }
}

function ndjsonRow(line: Line): Row {
  const lines = [line];
  if (line.fault !== undefined) return { lines, fault: line.fault };
  let value: unknown;
  try {
    value = parseExactJson(line.text);
  } catch (error) {
    const problem = error instanceof RangeError ? 'is nested too deeply' : 'is not valid JSON';
    return { lines, fault: `the line ${problem}.` };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { lines, fault: 'the line holds no JSON object.' };
  }
  const columns = value as Record<string, unknown>;
  return { lines, value: (column) => columns[column], textOnly: false };
}

/**
 * Rows of CSV. Reads the header line, which names the columns, before it resolves.
 * @throws ServiceError `invalid_request` when the header lacks one of the `needed` columns, or names one twice.
 */
export async function csvTable(lines: AsyncIterable<Line>, needed: readonly string[]): Promise<Table> {
  const records = csvRecords(lines);
  const first = await records.next();
  if (first.done === true) throw new ServiceError('invalid_request', 'The file has no header line.');
  return { header: first.value.lines, rows: rowsBelow(columnsOf(first.value, needed), records) };
}

async function* csvRecords(lines: AsyncIterable<Line>): AsyncGenerator<CsvRecord, undefined> {
  const records = new CsvRecords();
  for await (const line of lines) yield* records.push(line);
  yield* records.end();
}

function columnsOf(header: CsvRecord, needed: readonly string[]): readonly string[] {
  if ('fault' in header) {
    throw new ServiceError('invalid_request', `The header line cannot be read: ${header.fault}`);
  }
  const { fields } = header;
  for (const column of needed) {
    if (!fields.includes(column)) {
      const near = nearest(column, fields);
      const question = near === undefined ? '.' : `; did you mean ${near}?`;
      throw new ServiceError(
        'invalid_request',
        `The file has no column ${column}${question} It has ${fields.join(', ')}. --map chooses columns.`,
      );
    }
    if (fields.indexOf(column) !== fields.lastIndexOf(column)) {
      throw new ServiceError('invalid_request', `The file has more than one column ${column}.`);
    }
  }
  return fields;
}

async function* rowsBelow(
  columns: readonly string[],
  records: AsyncIterable<CsvRecord>,
): AsyncGenerator<Row> {
  const positions = new Map(columns.map((column, index) => [column, index]));
  for await (const record of records) {
    if ('fault' in record) {
      yield record;
      continue;
    }
    const { lines, fields } = record;
    yield fields.length === columns.length
      ? { lines, value: (column) => fields[positions.get(column) ?? -1], textOnly: true }
      : { lines, fault: `the row has ${fields.length} fields where the header has ${columns.length}.` };
  }
}
