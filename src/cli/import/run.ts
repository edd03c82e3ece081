import type { OperatorActor } from '../../domain/audit.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { AuditedRun } from '../../resources/audit/audited-run.ts';
import type { PetRepository } from '../../resources/pets/repository.ts';
import type { FieldName, Step } from '../../resources/pets/rules.ts';
import type { NewPet } from '../../resources/pets/schema.ts';
import { RowsRefused } from '../../terminal/output.ts';
import type { Progress } from '../../terminal/progress.ts';
import { type CategoryIds, UsedCategories } from '../category-ids.ts';
import type { Line } from './lines.ts';
import { type Mapping, type ReadPet, readPet } from './mapping.ts';
import type { RefusedFile } from './refused-file.ts';
import { type Counts, NO_STEPS, type Report, type StepCounts } from './report.ts';
import type { Table } from './rows.ts';

/** A row of the file: its animal, or its issues as sentences. */
export interface ReadRow {
  readonly lines: readonly Line[];
  readonly read: ReadPet | { readonly issues: readonly string[] };
}

/** A row whose animal can be stored. */
export interface ReadyRow {
  readonly lines: readonly Line[];
  readonly pet: NewPet;
}

/** Where the animals of a file go. A trial only says what would become of them. */
export interface Sink {
  readonly ids: CategoryIds;
  /** One refused row refuses the file, and nothing is stored before its end. */
  readonly isAtomic?: boolean;
  /** Fields that the file does not have. */
  readonly lacking?: ReadonlySet<FieldName>;
  /** Refuses the animals that the sink cannot take. */
  readonly check: (rows: AsyncIterable<ReadRow>) => AsyncIterable<ReadRow>;
  /** Takes all rows, and tells the run in their order what became of them. */
  readonly take: (rows: AsyncIterable<ReadyRow>, run: Run) => Promise<void>;
  /** `Nothing was changed`, for a file of which no row is taken. */
  readonly nothing: string;
  readonly describe: (steps: StepCounts) => Pick<Counts, 'imported' | 'steps' | 'missing'>;
  /** Adds the end to the audit log. */
  readonly end: (counts: Counts) => Promise<void>;
}

/** A file, and where its import tells how far it is, and what stops it. */
export interface Input extends Pick<Table, 'rows'> {
  readonly mapping: Mapping;
  /** Unix milliseconds. */
  readonly now: number;
  readonly progress: Progress;
  readonly report: Report;
  readonly refusedFile: RefusedFile | undefined;
  readonly signal: AbortSignal;
  /** What the report says of the file, so far. */
  readonly describe: () => Pick<Counts, 'readAs' | 'notRead'>;
}

/** The line where a row begins. */
export function findLine(lines: readonly Line[]): number {
  return lines[0]?.number ?? 0;
}

/** Whose animals a file has, and where they are stored. A trial changes nothing, and may have no database. */
export type Target = {
  readonly ids: CategoryIds;
  readonly ownerId: number;
  readonly actor: OperatorActor;
} & (
  | { readonly pets: PetRepository; readonly audited: AuditedRun }
  | { readonly pets: PetRepository | undefined; readonly audited?: undefined }
);

/** Gives the rows of a file to a sink, refuses those that hold no animal, and reports both. */
export class Run {
  readonly #input: Input;
  readonly #sink: Sink;
  readonly #steps = { ...NO_STEPS };
  readonly #used = new UsedCategories();
  #rows = 0;
  #refused = 0;
  /** The lines of the rows that the sink has and that are not committed yet: those of one chunk. */
  #open: number[] = [];
  /** The line of the next row to read. Undefined before the first row and at the end of the file. */
  #next: number | undefined;

  constructor(input: Input, sink: Sink) {
    this.#input = input;
    this.#sink = sink;
  }

  /** @throws RowsRefused at the end, if it refused rows; ServiceError `conflict` when no row is taken. */
  async perform(): Promise<void> {
    const { ids, isAtomic, take } = this.#sink;
    try {
      await take(this.#readyRows(), this);
      this.#requireRows();
    } catch (error) {
      // What ended the run, such as a lost database, may also end what comes after it.
      await (isAtomic ? this.#end(NO_STEPS, []) : this.#end(this.#steps, ids.made)).catch(() => undefined);
      throw error;
    }
    await this.#end(this.#steps, ids.made);
    if (this.#refused > 0) throw new RowsRefused();
  }

  /** What became of the rows that the sink took first. The sink refuses those that are `unknown`. */
  done(steps: readonly Step[]): void {
    this.#open = this.#open.slice(steps.length);
    for (const step of steps) if (step !== 'unknown') this.#steps[step]++;
    this.#input.progress.update(Object.values(this.#steps).reduce((sum, count) => sum + count));
  }

  async refuse(lines: readonly Line[], issues: readonly string[]): Promise<void> {
    this.#refused++;
    this.#input.refusedFile?.add(lines);
    await this.#input.report.refuse(findLine(lines), issues);
  }

  async *#readyRows(): AsyncGenerator<ReadyRow> {
    const { ids, isAtomic, check } = this.#sink;
    for await (const { lines, read } of check(this.#readRows())) {
      const line = findLine(lines);
      this.#next = line;
      this.#input.signal.throwIfAborted();
      this.#next += lines.length;
      this.#rows++;
      if ('issues' in read) {
        await this.refuse(lines, read.issues);
        continue;
      }
      // After a refused row nothing will be imported. The others are still checked, to report every issue.
      if (isAtomic && this.#refused > 0) continue;
      this.#open.push(line);
      const { pet, category } = read;
      if (category === undefined) this.#used.count(pet.categoryId);
      yield { lines, pet: category === undefined ? pet : { ...pet, categoryId: await ids.idOf(category) } };
    }
    this.#next = undefined;
    this.#requireRows();
  }

  async *#readRows(): AsyncGenerator<ReadRow> {
    const { rows, mapping, now, signal } = this.#input;
    for await (const row of rows) {
      signal.throwIfAborted();
      const read = 'issue' in row ? { issues: [row.issue] } : readPet(row, mapping, now, this.#sink.lacking);
      yield { lines: row.lines, read };
    }
  }

  /** Told at the end of the file, before an atomic import is committed, and after the sink refused rows. */
  #requireRows(): void {
    const { isAtomic, nothing, describe } = this.#sink;
    if ((describe(this.#steps).missing?.changed ?? 0) > 0) return;
    const refuse = (why: string) => new ServiceError('conflict', `${nothing}: ${why}.`);
    if (this.#rows === 0) throw refuse('the file holds no row');
    if (this.#refused === this.#rows) throw refuse('every row is refused');
    if (isAtomic && this.#refused > 0) throw refuse('--atomic allows no refused row');
  }

  async #end(steps: StepCounts, made: CategoryIds['made']): Promise<void> {
    const { ids, isAtomic, describe, end } = this.#sink;
    const described = describe(steps);
    const counts = {
      ...described,
      refused: this.#refused,
      categories: made.map(({ name }) => name),
      ...this.#input.describe(),
      uncategorized: described.imported ? await this.#used.countMissing(ids) : 0,
      stoppedAt: isAtomic ? undefined : (this.#open[0] ?? this.#next),
    };
    await this.#input.report.end(counts);
    await end(counts);
  }
}
