import { type Line, LINE_MAX } from './lines.ts';

/** The fields of one record, or why there are none. `line` is where it starts. */
export type CsvRecord =
  | { readonly line: number; readonly fields: readonly string[] }
  | { readonly line: number; readonly fault: string };

/**
 * Puts records of CSV (RFC 4180) together from lines: a quoted field may span several. One that is malformed costs
 * no other record: after a quote that is never closed it goes on with the next line. Blank lines are passed over.
 */
export class CsvRecords {
  /** The lines so far of a record with an open quoted field. */
  #open: Line[] = [];
  #size = 0;

  /** Gives the records that this line completes. */
  push(line: Line): readonly CsvRecord[] {
    const within = this.#open.length > 0;
    if (!within && line.fault === undefined && line.text.trim() === '') return [];
    this.#open.push(line);
    this.#size += line.text.length + 1;
    if (this.#size > LINE_MAX) return this.#giveUp();
    // Pairs of quotes within a quoted field are escapes, or an end and a beginning: it stays open.
    if (within && !hasOddQuotes(line.text)) return [];
    const record = recordOf(this.#open);
    if (record === undefined) return [];
    this.#clear();
    return [record];
  }

  /** Gives what is left at the end of the file. */
  *end(): Generator<CsvRecord> {
    while (this.#open.length > 0) yield* this.#giveUp();
  }

  #giveUp(): readonly CsvRecord[] {
    const [first, ...others] = this.#open;
    this.#clear();
    if (first === undefined) return [];
    const refused = { line: first.number, fault: 'a quoted field begins here and does not end.' };
    return [refused, ...others.flatMap((line) => this.push(line))];
  }

  #clear(): void {
    this.#open = [];
    this.#size = 0;
  }
}

/** The record that these lines hold, or undefined when its last field is still open. */
function recordOf(lines: readonly Line[]): CsvRecord | undefined {
  const line = lines[0]?.number ?? 0;
  const text = lines.map((each) => each.text).join('\n');
  const fields = fieldsOf(text.endsWith('\r') ? text.slice(0, -1) : text);
  if (fields === 'open') return undefined;
  const fault = lines.find((each) => each.fault !== undefined)?.fault;
  if (fault !== undefined) return { line, fault };
  if (fields === 'malformed') {
    return { line, fault: 'a field that holds a quote must stand in quotes, with the quotes in it doubled.' };
  }
  return { line, fields };
}

function fieldsOf(text: string): readonly string[] | 'open' | 'malformed' {
  const fields: string[] = [];
  for (let start = 0; ; ) {
    let end: number;
    if (text[start] === '"') {
      const quote = closingQuote(text, start + 1);
      if (quote === -1) return 'open';
      fields.push(text.slice(start + 1, quote).replaceAll('""', '"'));
      end = quote + 1;
    } else {
      const comma = text.indexOf(',', start);
      end = comma === -1 ? text.length : comma;
      const field = text.slice(start, end);
      if (field.includes('"')) return 'malformed';
      fields.push(field);
    }
    if (end === text.length) return fields;
    if (text[end] !== ',') return 'malformed';
    start = end + 1;
  }
}

function closingQuote(text: string, from: number): number {
  let at = text.indexOf('"', from);
  while (at !== -1 && text[at + 1] === '"') at = text.indexOf('"', at + 2);
  return at;
}

function hasOddQuotes(text: string): boolean {
  let odd = false;
  for (let at = text.indexOf('"'); at !== -1; at = text.indexOf('"', at + 1)) odd = !odd;
  return odd;
}
