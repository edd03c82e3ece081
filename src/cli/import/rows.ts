import { ServiceError } from '../../domain/errors.ts';
import { parseExactJson } from '../../domain/parse.ts';
import {
  findColumn,
  isBlank,
  noColumn,
  type UnreadColumn,
  UnreadColumns,
  type WantedColumn,
} from './columns.ts';
import { type CsvRecord, CsvRecords, fieldsOf } from './csv-records.ts';
import type { Line } from './lines.ts';

export interface ReadableRow {
  /** The lines of the file that hold the row. */
  readonly lines: readonly Line[];
  /** The value in a column that is wanted. Undefined when the row has no such column. */
  readonly value: (column: string) => unknown;
  /** Whether every value is text, as in CSV, so that numbers must be read from it. */
  readonly textOnly: boolean;
}

/** One row of the file, or why it cannot be read, as a sentence. */
export type Row = ReadableRow | { readonly lines: readonly Line[]; readonly issue: string };

export interface Table {
  /** The lines above the rows that name the columns. NDJSON has none. */
  readonly header: readonly Line[];
  readonly rows: AsyncIterable<Row>;
  /** What separates fields. Undefined in NDJSON. */
  readonly delimiter?: string;
  /** Blank rows that were skipped so far. */
  readonly blankRows: () => number;
  /** Columns that were found so far and hold nothing that is imported. */
  readonly unread: () => readonly UnreadColumn[];
}

/** Characters. How much of a file is read to find the columns of `--map`, before the first row is imported. */
const LOOK_AHEAD = 4 * 1024 * 1024;

/** Names of columns that a message shows. */
const NAMES_MAX = 100;

type Lines = AsyncGenerator<Line, undefined>;

/**
 * Rows of NDJSON: one JSON object a line. Skips blank lines. A column that `--map` names may be absent in rows, but
 * not in all of them: `readAgain` opens the file once more when its beginning does not show the column.
 * @throws ServiceError `invalid_request` when no row has a mapped column, or when one could be meant twice.
 */
export async function ndjsonTable(
  lines: Lines,
  wanted: readonly WantedColumn[],
  readAgain?: () => Promise<Lines>,
): Promise<Table> {
  const skipped = { count: 0 };
  const unread = new UnreadColumns(wanted);
  const rows = ndjsonRows(lines, wanted, skipped, unread);
  const search = new MappedColumns(wanted);
  const first: NdjsonRow[] = [];
  for (let size = 0; first.length === 0 || (search.isOpen && size < LOOK_AHEAD); ) {
    const { value: row } = await rows.next();
    if (row === undefined) break;
    first.push(row);
    search.look(row);
    size += row.lines[0]?.text.length ?? 0;
  }
  if (search.isOpen && readAgain !== undefined)
    for await (const row of ndjsonRows(await readAgain(), wanted, { count: 0 })) {
      search.look(row);
      if (!search.isOpen) break;
    }
  search.end();
  async function* all(): AsyncGenerator<Row> {
    yield* first;
    yield* rows;
  }
  return { header: [], rows: all(), blankRows: () => skipped.count, unread: () => unread.list() };
}

/** The columns that `--map` names and no row had so far. */
class MappedColumns {
  readonly #missing: Set<WantedColumn>;
  readonly #names = new Set<string>();
  #rows = 0;

  constructor(wanted: readonly WantedColumn[]) {
    this.#missing = new Set(wanted.filter(({ isMapped }) => isMapped));
  }

  get isOpen(): boolean {
    return this.#missing.size > 0;
  }

  look(row: NdjsonRow): void {
    if (row.ambiguity !== undefined) throw row.ambiguity;
    if (row.names === undefined) return;
    this.#rows++;
    for (const name of row.names) if (this.#names.size < NAMES_MAX) this.#names.add(name);
    for (const column of this.#missing)
      if (findColumn(column, row.names) !== -1) this.#missing.delete(column);
  }

  end(): void {
    const [column] = this.#missing;
    if (column !== undefined && this.#rows > 0) throw noColumn(column.name, [...this.#names]);
  }
}

type NdjsonRow = Row & {
  readonly names?: readonly string[];
  readonly ambiguity?: ServiceError;
};

async function* ndjsonRows(
  lines: Lines,
  wanted: readonly WantedColumn[],
  skipped: { count: number },
  unread?: UnreadColumns,
): AsyncGenerator<NdjsonRow, undefined> {
  for await (const line of lines) {
    if (line.issue !== undefined || !isBlank(line.text)) yield ndjsonRow(line, wanted, unread);
    else skipped.count++;
  }
}

function ndjsonRow(line: Line, wanted: readonly WantedColumn[], unread?: UnreadColumns): NdjsonRow {
  const lines = [line];
  if (line.issue !== undefined) return { lines, issue: line.issue };
  let value: unknown;
  try {
    value = parseExactJson(line.text);
  } catch (error) {
    const problem = error instanceof RangeError ? 'is nested too deeply' : 'is not valid JSON';
    return { lines, issue: `the line ${problem}.` };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { lines, issue: 'the line holds no JSON object.' };
  }
  const columns = value as Record<string, unknown>;
  const names = Object.keys(columns);
  try {
    const indexes = new Map(wanted.map((column) => [column.name, findColumn(column, names)]));
    unread?.add(names, indexes);
    const valueIn = (column: string) => {
      const name = names[indexes.get(column) ?? -1];
      return name === undefined ? undefined : columns[name];
    };
    return { lines, names, value: valueIn, textOnly: false };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return { lines, issue: error.message, ambiguity: error };
  }
}

/** What separates fields: one that was chosen, or the one that the header shows. */
const DELIMITERS: Readonly<Record<string, string>> = { ',': 'commas', ';': 'semicolons', '\t': 'tabs' };

/**
 * Rows of CSV. Reads the header line, which names the columns, before it resolves. A line `sep=;` may stand above it.
 * @throws ServiceError `invalid_request` when the header lacks a mapped or needed column, or one could be meant twice.
 */
export async function csvTable(
  lines: Lines,
  wanted: readonly WantedColumn[],
  chosen: string | undefined,
): Promise<Table> {
  let first = await nextText(lines);
  const separator = /^"?sep=([^"\r\n])"?[,;\t]*\r?$/i.exec(first?.text ?? '')?.[1];
  const above = separator === undefined || first === undefined ? [] : [first];
  if (separator !== undefined) first = await nextText(lines);
  if (first === undefined) throw new ServiceError('invalid_request', 'The file has no header line.');
  const delimiter = chosen ?? separator ?? delimiterOf(first.text, wanted);
  const records = new CsvRecords(delimiter);
  const all = csvRecords(first, lines, records);
  const { value: header } = await all.next();
  if (header === undefined) throw new ServiceError('invalid_request', 'The file has no header line.');
  if ('issue' in header)
    throw new ServiceError('invalid_request', `The header line cannot be read: ${header.issue}`);
  const skipped = { count: 0 };
  const indexes = findColumns(header.fields, wanted);
  const unread = new UnreadColumns(wanted);
  unread.add(header.fields, indexes);
  const rows = rowsBelow(header.fields.length, indexes, all, skipped);
  const separated = DELIMITERS[delimiter] ?? `fields between ${JSON.stringify(delimiter)}`;
  return {
    header: [...above, ...header.lines],
    rows,
    delimiter: separated,
    blankRows: () => skipped.count + records.blankLines,
    unread: () => unread.list(),
  };
}

/** The next line that is not blank. */
async function nextText(lines: Lines): Promise<Line | undefined> {
  for (;;) {
    const { value: line } = await lines.next();
    if (line === undefined || line.issue !== undefined || !isBlank(line.text)) return line;
  }
}

/** A field in quotes, which may end in another line. */
const QUOTED = /"(?:[^"]|"")*(?:"|$)/g;

/** The one that gives the needed columns, or else the most fields. */
function delimiterOf(header: string, wanted: readonly WantedColumn[]): string {
  const found = Object.keys(DELIMITERS).map((delimiter) => {
    const fields = fieldsOf(header.replace(/\r$/, ''), delimiter);
    const names = typeof fields === 'string' ? header.replaceAll(QUOTED, '').split(delimiter) : fields;
    const columns = wanted.filter((column) => hasColumn(column, names)).length;
    return { delimiter, columns, fields: names.length };
  });
  const [best] = found.toSorted((one, other) => other.columns - one.columns || other.fields - one.fields);
  return best?.delimiter ?? ',';
}

function hasColumn(column: WantedColumn, names: readonly string[]): boolean {
  try {
    return findColumn(column, names) !== -1;
  } catch {
    return true;
  }
}

async function* csvRecords(
  first: Line,
  lines: Lines,
  records: CsvRecords,
): AsyncGenerator<CsvRecord, undefined> {
  yield* records.push(first);
  for await (const line of lines) yield* records.push(line);
  yield* records.end();
}

/** What to do when a whole header was taken for one column. */
const ONE_COLUMN = '--delimiter says what stands between columns, and --map chooses them';

function findColumns(names: readonly string[], wanted: readonly WantedColumn[]): ReadonlyMap<string, number> {
  return new Map(
    wanted.map((column) => {
      const at = findColumn(column, names);
      if (at === -1 && (column.isMapped || column.isNeeded))
        throw noColumn(column.name, names, names.length === 1 ? ONE_COLUMN : undefined);
      return [column.name, at];
    }),
  );
}

async function* rowsBelow(
  width: number,
  indexes: ReadonlyMap<string, number>,
  records: AsyncIterable<CsvRecord>,
  skipped: { count: number },
): AsyncGenerator<Row> {
  for await (const record of records) {
    if ('issue' in record) {
      yield record;
      continue;
    }
    const { lines, fields } = record;
    if (fields.every(isBlank)) skipped.count++;
    else
      yield fields.length === width
        ? { lines, value: (column) => fields[indexes.get(column) ?? -1], textOnly: true }
        : { lines, issue: `the row has ${fields.length} fields where the header has ${width}.` };
  }
}
