import { PetStoreError } from '../../domain/errors.ts';
import { type CsvRecord, CsvRecords } from './csv-records.ts';
import type { Line } from './lines.ts';
import type { Row } from './row.ts';

/**
 * Rows of CSV below a header line that names the columns; the header is read at once.
 * @throws PetStoreError `invalid_request` when the header lacks one of the `needed` columns, or names one twice.
 */
export async function csvRows(
  lines: AsyncIterable<Line>,
  needed: readonly string[],
): Promise<AsyncIterable<Row>> {
  const records = recordsOf(lines);
  const first = await records.next();
  if (first.done === true) throw new PetStoreError('invalid_request', 'The file has no header line.');
  return rowsBelow(headerOf(first.value, needed), records);
}

interface Header {
  readonly width: number;
  readonly positions: ReadonlyMap<string, number>;
}

async function* recordsOf(lines: AsyncIterable<Line>): AsyncGenerator<CsvRecord, undefined> {
  const records = new CsvRecords();
  for await (const line of lines) yield* records.push(line);
  yield* records.end();
}

async function* rowsBelow(header: Header, records: AsyncIterable<CsvRecord>): AsyncGenerator<Row> {
  for await (const record of records) yield rowOf(record, header);
}

function headerOf(record: CsvRecord, needed: readonly string[]): Header {
  if ('fault' in record) {
    throw new PetStoreError('invalid_request', `The header line cannot be read: ${record.fault}`);
  }
  const { fields } = record;
  for (const column of needed) {
    if (!fields.includes(column)) {
      const there = fields.join(', ');
      throw new PetStoreError('invalid_request', `The file has no column ${column}; it has ${there}.`);
    }
    if (fields.indexOf(column) !== fields.lastIndexOf(column)) {
      throw new PetStoreError('invalid_request', `The file has more than one column ${column}.`);
    }
  }
  return { width: fields.length, positions: new Map(fields.map((field, index) => [field, index])) };
}

function rowOf(record: CsvRecord, { width, positions }: Header): Row {
  if ('fault' in record) return record;
  const { line, fields } = record;
  if (fields.length !== width) {
    return { line, fault: `the row has ${fields.length} fields where the header has ${width}.` };
  }
  return { line, value: (column) => fields[positions.get(column) ?? -1], textOnly: true };
}
