import { DAY, HOUR, MINUTE, SECOND } from '../domain/clock.ts';
import { textFromInstant } from '../domain/instant.ts';
import { printable } from './printable.ts';

/** A column of rows of one kind: its title, what a row has there, and how it fits a narrow terminal. */
export type Column<Row> = readonly [title: string, cell: (row: Row) => Cell, fit?: Fit];

/** Without it, a column stays whole. */
interface Fit {
  /** A column with a weight is left out where the terminal is too narrow, the lightest one first. */
  readonly weight?: number;
  /** Long texts are cut where the terminal is too narrow. */
  readonly shrinks?: true;
  /** Characters that a later page may need. */
  readonly least?: number;
}

/** A number is a count. Ids are texts, because they have no separators. */
export type Cell = string | number | ShortCell;

/** What a terminal shows in fewer characters. Pipes get the exact text. */
interface ShortCell {
  readonly exact: string;
  /** `now` is in Unix milliseconds. */
  readonly short: (now: number) => string;
}

/** Characters. Columns of texts shrink so far before a column is left out, and further only after that. */
const COMFORTABLE = 20;
const SMALLEST = 8;

const GAP = '  ';

/** Names of units, with their milliseconds and how many of them are still told in this unit. */
const UNITS = [
  ['s', SECOND, 60],
  ['min', MINUTE, 60],
  ['h', HOUR, 48],
  ['d', DAY, 100],
] as const;

/** An instant, which a terminal shows as its distance from now. `none` stands for no instant. */
export function instantCell(instant: string | null | undefined, none = '-'): Cell {
  if (instant === null || instant === undefined) return none;
  return { exact: instant, short: (now) => describeDistance(Date.parse(instant), now) };
}

/** `3 h ago`, `in 5 min`, or the date when it is far away. Both in Unix milliseconds. */
export function describeDistance(instant: number, now: number): string {
  const distance = Math.abs(instant - now);
  for (const [unit, size, count] of UNITS) {
    const units = Math.floor(distance / size);
    if (units >= count) continue;
    if (units === 0) return 'now';
    return instant < now ? `${units} ${unit} ago` : `in ${units} ${unit}`;
  }
  return textFromInstant(instant).slice(0, 10);
}

/** A count with separators for thousands. */
export function describeCount(count: number): string {
  return count.toLocaleString('en-US');
}

export function describeCell(cell: Cell, { isTerminal, now }: Screen): string {
  if (typeof cell === 'string') return cell;
  if (typeof cell === 'number') return isTerminal ? describeCount(cell) : String(cell);
  return isTerminal ? cell.short(now) : cell.exact;
}

/** Where a table is printed. `columns` is undefined where lines may have any length. */
export interface Screen {
  readonly isTerminal: boolean;
  readonly columns: number | undefined;
  /** Unix milliseconds. */
  readonly now: number;
}

/**
 * Lines in columns, page by page. A pipe gets exact texts in columns as wide as their widest cell. A terminal gets lines that
 * fit: the first page decides which columns are shown, and each page how wide they are.
 */
export class TableText<Row> {
  readonly #columns: readonly Column<Row>[];
  readonly #screen: Screen;
  readonly #widest: number[];
  #shown: readonly number[] | undefined;
  #isCut = false;

  constructor(columns: readonly Column<Row>[], screen: Screen) {
    this.#columns = columns;
    this.#screen = screen;
    this.#widest = columns.map(([, , fit]) => fit?.least ?? 0);
  }

  /** The lines of a page, below the header if it is the first one. */
  add(rows: readonly Row[]): string {
    const cells = rows.map((row) => this.#columns.map(([, cell]) => cell(row)));
    const lines = cells.map((row) => row.map((cell) => printable(describeCell(cell, this.#screen))));
    const header = this.#columns.map(([title]) => title);
    for (const line of [header, ...lines])
      for (const [column, { length }] of line.entries())
        this.#widest[column] = Math.max(this.#widest[column] ?? 0, length);
    const isFirst = this.#shown === undefined;
    this.#shown ??= this.#chooseColumns();
    const widths = this.#shrink(this.#shown, SMALLEST);
    const isCount = (column: number) =>
      this.#screen.isTerminal && cells.length > 0 && cells.every((row) => typeof row[column] === 'number');
    const counts = new Set(this.#shown.filter(isCount));
    const write = (line: readonly string[]) => this.#write(line, widths, counts);
    return [...(isFirst ? [header] : []), ...lines].map(write).join('');
  }

  /** What a terminal does not show of the table, as a sentence. */
  describeLack(): string | undefined {
    const hidden = this.#columns.filter((_, column) => this.#shown?.includes(column) === false);
    const lacks = [
      ...(hidden.length > 0 ? [`${hidden.map(([title]) => title).join(', ')} left out`] : []),
      ...(this.#isCut ? ['long texts cut'] : []),
    ];
    return lacks.length === 0 ? undefined : `To fit the terminal: ${lacks.join(', ')}. --json has all.`;
  }

  /** Leaves out the lightest columns until the others fit. */
  #chooseColumns(): readonly number[] {
    const { columns = Number.POSITIVE_INFINITY } = this.#screen;
    let shown = [...this.#columns.keys()];
    const lightestFirst = shown
      .filter((column) => this.#columns[column]?.[2]?.weight !== undefined)
      .toSorted(
        (one, other) => (this.#columns[one]?.[2]?.weight ?? 0) - (this.#columns[other]?.[2]?.weight ?? 0),
      );
    for (const lightest of lightestFirst) {
      if (lineLength(this.#shrink(shown, COMFORTABLE)) <= columns) break;
      shown = shown.filter((column) => column !== lightest);
    }
    return shown;
  }

  /** The widths of these columns. Texts shrink as far as the terminal needs, the widest first, and not below `least`. */
  #shrink(shown: readonly number[], least: number): ReadonlyMap<number, number> {
    const { columns = Number.POSITIVE_INFINITY } = this.#screen;
    const atMost = (limit: number) =>
      new Map(
        shown.map((column) => {
          const width = this.#widest[column] ?? 0;
          const [title = '', , fit] = this.#columns[column] ?? [];
          return [column, fit?.shrinks ? Math.min(width, Math.max(limit, title.length)) : width];
        }),
      );
    const whole = atMost(Number.POSITIVE_INFINITY);
    if (lineLength(whole) <= columns) return whole;
    let limit = columns;
    while (limit > least && lineLength(atMost(limit)) > columns) limit--;
    return atMost(limit);
  }

  #write(line: readonly string[], widths: ReadonlyMap<number, number>, counts: ReadonlySet<number>): string {
    const cells = Array.from(widths, ([column, width]) => {
      const text = line[column] ?? '';
      if (text.length > width) this.#isCut = true;
      const shown = text.length > width ? cut(text, width) : text;
      return counts.has(column) ? shown.padStart(width) : shown.padEnd(width);
    });
    return `${cells.join(GAP).trimEnd()}\n`;
  }
}

function lineLength(widths: ReadonlyMap<number, number>): number {
  return widths.values().reduce((sum, width) => sum + width + GAP.length, -GAP.length);
}

/** Breaks a text between words. A word that is longer than a line stays whole. */
export function wrapWords(text: string, columns = Number.POSITIVE_INFINITY): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const longer = `${lines.at(-1) ?? ''} ${word}`;
    if (lines.length > 0 && longer.length <= columns) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

/** The beginning of a text, with an ellipsis. Splits no surrogate pair. */
function cut(text: string, width: number): string {
  const start = text.slice(0, width - 1);
  return `${/[\uD800-\uDBFF]$/.test(start) ? start.slice(0, -1) : start}…`;
}
