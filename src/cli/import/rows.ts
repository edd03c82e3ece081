import { ServiceError } from '../../domain/errors.ts';
import { parseExactJson } from '../../json.ts';
import { type CsvRecord, CsvRecords } from './csv-records.ts';
import type { Line } from './lines.ts';

export interface ReadableRow {
  /** The line of the file where the row starts, from 1. */
  readonly line: number;
  /** The value in a column. Undefined when the row has no such column. */
  readonly value: (column: string) => unknown;
  /** Whether every value is text, as in CSV, so that numbers must be read from it. */
  readonly textOnly: boolean;
}

/** One row of the file, or why it cannot be read, as a sentence. */
export type Row = ReadableRow | { readonly line: number; readonly fault: string };

/** Rows of NDJSON: one JSON object a line. Skips blank lines. */
export async function* ndjsonRows(lines: AsyncIterable<Line>): AsyncGenerator<Row> {
  for await (const line of lines) {
    if (line.fault !== undefined || line.text.trim() !== '') yield ndjsonRow(line);
  }
}

function ndjsonRow({ number, text, fault }: Line): Row {
  if (fault !== undefined) return { line: number, fault };
  let value: unknown;
  try {
    value = parseExactJson(text);
  } catch (error) {
    const problem = error instanceof RangeError ? 'is nested too deeply' : 'is not valid JSON';
    return { line: number, fault: `the line ${problem}.` };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { line: number, fault: 'the line holds no JSON object.' };
  }
  const columns = value as Record<string, unknown>;
  return { line: number, value: (column) => columns[column], textOnly: false };
}

/**
 * Rows of CSV. Reads the header line, which names the columns, before it resolves.
 * @throws ServiceError `invalid_request` when the header lacks one of the `needed` columns, or names one twice.
 */
export async function csvRows(
  lines: AsyncIterable<Line>,
  needed: readonly string[],
): Promise<AsyncIterable<Row>> {
  const records = csvRecords(lines);
  const first = await records.next();
  if (first.done === true) throw new ServiceError('invalid_request', 'The file has no header line.');
  return rowsBelow(headerOf(first.value, needed), records);
}

async function* csvRecords(lines: AsyncIterable<Line>): AsyncGenerator<CsvRecord, undefined> {
  const records = new CsvRecords();
  for await (const line of lines) yield* records.push(line);
  yield* records.end();
}

function headerOf(record: CsvRecord, needed: readonly string[]): readonly string[] {
  if ('fault' in record) {
    throw new ServiceError('invalid_request', `The header line cannot be read: ${record.fault}`);
  }
  const { fields } = record;
  for (const column of needed) {
    if (!fields.includes(column)) {
      const there = fields.join(', ');
      throw new ServiceError('invalid_request', `The file has no column ${column}; it has ${there}.`);
    }
    if (fields.indexOf(column) !== fields.lastIndexOf(column)) {
      throw new ServiceError('invalid_request', `The file has more than one column ${column}.`);
    }
  }
  return fields;
}

async function* rowsBelow(header: readonly string[], records: AsyncIterable<CsvRecord>): AsyncGenerator<Row> {
  const positions = new Map(header.map((column, index) => [column, index]));
  for await (const record of records) {
    if ('fault' in record) {
      yield record;
      continue;
    }
    const { line, fields } = record;
    yield fields.length === header.length
      ? { line, value: (column) => fields[positions.get(column) ?? -1], textOnly: true }
      : { line, fault: `the row has ${fields.length} fields where the header has ${header.length}.` };
  }
}
