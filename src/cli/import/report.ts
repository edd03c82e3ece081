import type { Step } from '../../resources/pets/rules.ts';
import type { UnreadColumn } from './columns.ts';
import { LongOutput, type Output, type System } from '../../terminal/output.ts';
import { printable } from '../../terminal/printable.ts';
import type { Progress } from '../../terminal/progress.ts';

/** Reports refused rows at once. Await each call, so that a slow reader slows the import and memory stays flat. */
export interface Report {
  refuse(line: number, issues: readonly string[]): Promise<void>;
  /** The first call prints the counts. Later ones have no effect. */
  end(counts: Counts): Promise<void>;
}

/** What a file was taken for, in words, and what was skipped. */
export interface ReadAs {
  readonly format: string;
  /** Of CSV. */
  readonly delimiter?: string;
  readonly encoding: string;
  readonly lineEnds: readonly string[];
  readonly blankRows: number;
}

/** A sentence. Undefined for CSV with commas or NDJSON, in UTF-8, of which nothing was skipped. */
function describe({ format, delimiter, encoding, lineEnds, blankRows }: ReadAs): string | undefined {
  const parts = [
    ...(format === 'a JSON array' ? [format] : []),
    ...(delimiter === undefined || delimiter === 'commas' ? [] : [delimiter]),
    ...(encoding === 'UTF-8' ? [] : [encoding]),
    ...lineEnds,
    ...(blankRows === 0 ? [] : [`${blankRows} blank ${blankRows === 1 ? 'row' : 'rows'} skipped`]),
  ];
  if (parts.length === 0) return undefined;
  return `Read as: ${(format === 'a JSON array' ? parts : [format, ...parts]).join(', ')}.`;
}

/** Rows by what became of them. */
export type StepCounts = Readonly<Record<Exclude<Step, 'unknown'>, number>>;

export const NO_STEPS: StepCounts = { added: 0, changed: 0, unchanged: 0, held: 0, adopted: 0 };

/** What became of animals that the file lacks. */
export interface MissingCounts {
  readonly action: 'sold' | 'delete';
  readonly changed: number;
  /** Left alone, because an order of them is open. */
  readonly held: number;
  /** Why none of them was touched. */
  readonly untouched?: string;
}

export interface Counts {
  /** Absent when animals are kept in step. */
  readonly imported?: number;
  readonly steps?: StepCounts;
  readonly missing?: MissingCounts | undefined;
  readonly refused: number;
  /** The names of new categories. */
  readonly categories: readonly string[];
  /** Undefined when the import ended before it was known. */
  readonly readAs?: ReadAs;
  /** Undefined when every column is read. */
  readonly notRead?: readonly UnreadColumn[] | undefined;
  /** The line of the first row that was read and not imported, when the import ended before the end of the file. */
  readonly stoppedAt?: number | undefined;
  /** Animals whose category has a number that no category has. */
  readonly uncategorized: number;
}

/** The counts of an import that ended before its first row. */
export function countNothing(isUpdate: boolean): Counts {
  const none = { refused: 0, categories: [], uncategorized: 0 };
  return isUpdate ? { ...none, steps: NO_STEPS } : { imported: 0, ...none };
}

/** Refused rows that are printed. More would push the first ones, which show what is wrong, off the screen. */
const PRINTED_MAX = 20;

type ReportTerminal = Pick<Output, 'printLine'> & { readonly system: System };

export function textReport(
  { system, printLine }: ReportTerminal,
  progress: Progress,
  dryRun: boolean,
): Report {
  const output = new LongOutput(system.stderr);
  const reasons = new Reasons();
  let printed = 0;
  let isOver = false;
  return {
    async refuse(line, issues) {
      reasons.count(issues);
      if (printed === PRINTED_MAX) return;
      printed++;
      progress.clear();
      await output.write(`${printable(`line ${line}: ${issues.join(' ')}`)}\n`);
    },
    async end({ imported, steps, missing, refused, categories, readAs, notRead, stoppedAt, uncategorized }) {
      if (isOver) return;
      isOver = true;
      progress.clear();
      const more = refused - printed;
      if (more > 0)
        await output.write(`… and ${more} more: --refused FILE keeps them all, --json lists them.\n`);
      await output.flush();
      if (steps === undefined)
        printLine(`${dryRun ? 'would import' : 'imported'} ${imported ?? 0}, refused ${refused}`);
      else printLine(describeSteps({ ...steps, refused }, dryRun));
      if (missing !== undefined) printLine(describeMissing(missing, dryRun));
      if (categories.length > 0) printLine(`${dryRun ? 'would make' : 'made'} ${named(categories)}`);
      const reading = readAs && describe(readAs);
      if (reading !== undefined) printLine(reading);
      if (notRead !== undefined) printLine(describeUnread(notRead));
      if (stoppedAt !== undefined)
        printLine(`Stopped: the row in line ${stoppedAt} and those below it are not imported.`);
      if (uncategorized > 0) printLine(lackOfCategories(uncategorized));
      for (const { reason, rows } of reasons.summary()) printLine(`${String(rows).padStart(9)}  ${reason}`);
    },
  };
}

/** One JSON value. The counts come last, because they are known last. */
export function jsonReport({ system }: ReportTerminal, progress: Progress, dryRun: boolean): Report {
  const output = new LongOutput(system.stdout);
  const reasons = new Reasons();
  let separator = '{"refusals":[';
  let isOver = false;
  return {
    refuse(line, issues) {
      const start = separator;
      separator = ',';
      reasons.count(issues);
      return output.write(start + printable(JSON.stringify({ line, reason: issues.join(' ') })));
    },
    async end({ steps, ...counts }) {
      if (isOver) return;
      isOver = true;
      progress.clear();
      const start = counts.refused === 0 ? separator : '';
      const end = JSON.stringify({ reasons: reasons.summary(), dryRun, ...steps, ...counts }).slice(1);
      await output.write(`${start}],${printable(end)}\n`);
      await output.flush();
    },
  };
}

/** Different reasons that are counted. The values in them can differ from row to row, and memory must stay flat. */
const COUNTED_MAX = 1_000;

const SHOWN_MAX = 10;

/** Names of columns that are printed. */
const UNREAD_MAX = 20;

/** How many categories, and the names of the first ones. */
function named(names: readonly string[]): string {
  const more = names.length - SHOWN_MAX;
  const first = names.slice(0, SHOWN_MAX).join(', ') + (more > 0 ? ` and ${more} more` : '');
  return `${names.length} ${names.length === 1 ? 'category' : 'categories'}: ${first}`;
}

/** The columns, and which of them may be meant by those that were looked for in vain. */
function describeUnread(columns: readonly UnreadColumn[]): string {
  const first = columns.slice(0, UNREAD_MAX).map(({ column }) => column);
  const more = columns.length > UNREAD_MAX ? ' and more' : '';
  const meant = columns.flatMap(({ column, near }) => (near === undefined ? [] : [`${near} by ${column}`]));
  const question = meant.length === 0 ? '' : ` Did you mean ${meant.join(', ')}? --map chooses columns.`;
  return `Not read: ${first.join(', ')}${more}.${question}`;
}

function describeSteps(counts: Readonly<Record<string, number>>, dryRun: boolean): string {
  const text = Object.entries(counts)
    .map(([step, rows]) => `${step} ${rows}`)
    .join(', ');
  return dryRun ? `would be: ${text}` : text;
}

function describeMissing({ action, changed, held, untouched }: MissingCounts, dryRun: boolean): string {
  if (untouched !== undefined) return untouched;
  const verb = action === 'sold' ? 'marked as sold' : 'deleted';
  const left = held === 0 ? '' : `, left ${held} alone with an open order`;
  return `not in the file: ${dryRun ? 'would be ' : ''}${verb} ${changed}${left}`;
}

function lackOfCategories(animals: number): string {
  const [who, have] = animals === 1 ? ['animal', 'has'] : ['animals', 'have'];
  const why = 'an export of animals holds no categories (export --what categories does)';
  return `${animals} ${who} ${have} a categoryId that no category has: ${why}.`;
}

/** How many rows were refused for each reason. A row with two issues counts for both. */
class Reasons {
  readonly #rows = new Map<string, number>();
  #others = 0;

  count(issues: readonly string[]): void {
    for (const issue of issues) {
      const rows = this.#rows.get(issue) ?? 0;
      if (rows === 0 && this.#rows.size === COUNTED_MAX) this.#others++;
      else this.#rows.set(issue, rows + 1);
    }
  }

  /** The most frequent reasons, then the number of issues with others. */
  summary(): readonly { readonly reason: string; readonly rows: number }[] {
    const all = [...this.#rows]
      .map(([reason, rows]) => ({ reason, rows }))
      .toSorted((one, other) => other.rows - one.rows);
    const others = all.slice(SHOWN_MAX).reduce((sum, { rows }) => sum + rows, this.#others);
    return [...all.slice(0, SHOWN_MAX), ...(others > 0 ? [{ reason: 'other reasons', rows: others }] : [])];
  }
}
