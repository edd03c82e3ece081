import { type Line, LINE_MAX } from './lines.ts';

/** The fields of one record, or why it cannot be read, with its lines. */
export type CsvRecord =
  | { readonly lines: readonly Line[]; readonly fields: readonly string[] }
  | { readonly lines: readonly Line[]; readonly issue: string };

/** Lines. A record with more is refused, because each line of it costs memory beyond its text. */
const LINES_MAX = 10_000;

const OPEN_ISSUE = 'a quoted field begins here and does not end.';
const QUOTE_ISSUE = 'a field that holds a quote must stand in quotes, with the quotes in it doubled.';

/**
 * Joins lines to records of CSV (RFC 4180). A quoted field may span lines if it ends within the limits, and if a
 * delimiter or a line end follows its closing quote. Otherwise, only the first line is refused, and reading continues
 * with the next one. Skips blank lines. See docs/design/cli.md.
 */
export class CsvRecords {
  /** The lines so far of a record with an open quoted field. */
  #open: Line[] = [];
  #size = 0;
  readonly #delimiter: string;
  /** Blank lines between records so far. */
  blankLines = 0;

  constructor(delimiter = ',') {
    this.#delimiter = delimiter;
  }

  /** The records that this line completes. */
  push(line: Line): readonly CsvRecord[] {
    const within = this.#open.length > 0;
    if (!within && line.issue === undefined && line.text.trim() === '') {
      this.blankLines++;
      return [];
    }
    this.#open.push(line);
    this.#size += line.text.length + 1;
    if (within && (this.#size > LINE_MAX || this.#open.length > LINES_MAX)) return this.#giveUp();
    // An even number of quotes leaves the field open, or is an issue that shows when the field ends.
    if (within && !hasOddQuotes(line.text)) return [];
    const fields = fieldsOf(textOf(this.#open), this.#delimiter);
    if (fields === 'open') return [];
    return within && fields === 'malformed' ? this.#giveUp() : [this.#complete(fields)];
  }

  /** The records of the lines that are left at the end of the file. */
  *end(): Generator<CsvRecord> {
    while (this.#open.length > 0) yield* this.#giveUp();
  }

  #complete(fields: readonly string[] | 'malformed'): CsvRecord {
    const lines = this.#take();
    const issue = lines.find((each) => each.issue !== undefined)?.issue;
    if (issue !== undefined) return { lines, issue };
    return fields === 'malformed' ? { lines, issue: QUOTE_ISSUE } : { lines, fields };
  }

  /** Refuses the first line and reads the others again: once, because only the last of them can open a field. */
  #giveUp(): readonly CsvRecord[] {
    const [first, ...others] = this.#take();
    if (first === undefined) return [];
    const refused = { lines: [first], issue: first.issue ?? OPEN_ISSUE };
    return [refused, ...others.flatMap((line) => this.push(line))];
  }

  #take(): readonly Line[] {
    const lines = this.#open;
    this.#open = [];
    this.#size = 0;
    return lines;
  }
}

/** The lines as one text, without the carriage return of the last line end. */
function textOf(lines: readonly Line[]): string {
  const text = lines.map((each) => each.text).join('\n');
  return text.endsWith('\r') ? text.slice(0, -1) : text;
}

export function fieldsOf(text: string, delimiter: string): readonly string[] | 'open' | 'malformed' {
  const fields: string[] = [];
  for (let start = 0; ; ) {
    let end: number;
    if (text[start] === '"') {
      const quote = closingQuote(text, start + 1);
      if (quote === -1) return 'open';
      fields.push(text.slice(start + 1, quote).replaceAll('""', '"'));
      end = quote + 1;
    } else {
      const next = text.indexOf(delimiter, start);
      end = next === -1 ? text.length : next;
      const field = text.slice(start, end);
      if (field.includes('"')) return 'malformed';
      fields.push(field);
    }
    if (end === text.length) return fields;
    if (text[end] !== delimiter) return 'malformed';
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
