// Contract: section 8.2.
import { ServiceError } from '../../domain/errors.ts';
import type { AuditedRun } from '../../resources/audit/audited-run.ts';
import type { FileRow, Referenced } from '../../resources/pets/keep-in-step.ts';
import type { PetRepository } from '../../resources/pets/repository.ts';
import { FIELD_NAMES, type FieldName, type Missing, type Step } from '../../resources/pets/rules.ts';
import type { PetPatch } from '../../resources/pets/schema.ts';
import { TextList } from '../../storage/sqlite/text-list.ts';
import { RowsRefused } from '../../terminal/output.ts';
import type { Progress } from '../../terminal/progress.ts';
import type { CategoryIds } from '../category-ids.ts';
import type { Line } from './lines.ts';
import { fieldsIn, type Mapping, type ReadPet, readPet } from './mapping.ts';
import type { RefusedFile } from './refused-file.ts';
import type { MissingCounts, Report } from './report.ts';
import type { Row } from './rows.ts';

/** Rows that one commit changes: few enough that the service waits for milliseconds only. */
const ROWS_AT_ONCE = 500;

/** Animals that a file lacks may be this part of those that could be changed. */
const GUARD = 5;

/** The animals of one owner. */
export interface Herd extends Pick<PetRepository, 'readReferenced'> {
  readonly keepInStep: (rows: readonly FileRow[]) => Promise<readonly Step[]>;
  /** Absent: nothing is changed. */
  readonly leaveOut?: (
    missing: readonly Referenced[],
    action: Exclude<Missing, 'keep'>,
  ) => Promise<{ readonly changed: number; readonly held: number }>;
}

interface StepInput {
  /** Reads the file from its beginning. */
  readonly open: () => Promise<AsyncIterable<Row>>;
  readonly mapping: Mapping;
  /** Unix milliseconds. */
  readonly now: number;
  readonly progress: Progress;
  readonly report: Report;
  readonly refusedFile: RefusedFile | undefined;
  readonly signal: AbortSignal;
  /** What the report says besides. */
  readonly describe: () => object;
}

interface StepTarget {
  readonly ownerId: number;
  readonly herd: Herd | undefined;
  readonly ids: CategoryIds;
  readonly missing: Missing;
  readonly isForced: boolean;
  readonly run?: AuditedRun;
}

/** What the first reading of a file shows. */
interface Contents {
  /** With the line of each. */
  readonly references: TextList;
  /** The line of the first row whose reference cannot be read. */
  readonly unreadable: number | undefined;
  /** Fields whose column no row has. */
  readonly lacking: ReadonlySet<FieldName>;
}

/** Makes the animals of an owner as the file says. What the file lacks goes first, so that a run that is started again ends the same. */
export async function keepInStep(input: StepInput, target: StepTarget): Promise<void> {
  const contents = await readContents(input);
  try {
    await new Run(input, target, contents).perform();
  } finally {
    contents.references.close();
  }
}

/** @throws ServiceError `conflict` when two rows have the same reference, or there is no row. */
async function readContents({ open, mapping, now, signal }: StepInput): Promise<Contents> {
  const references = new TextList();
  const lacking = new Set<FieldName>(FIELD_NAMES);
  let unreadable: number | undefined;
  let rows = 0;
  try {
    for await (const row of await open()) {
      signal.throwIfAborted();
      rows++;
      const line = findLine(row);
      if ('issue' in row) {
        unreadable ??= line;
        continue;
      }
      for (const field of fieldsIn(row, mapping)) lacking.delete(field);
      const read = readPet(row, mapping, now);
      const reference = 'pet' in read ? read.pet.reference : read.reference;
      const other = reference === undefined ? undefined : references.add(reference, line);
      if (reference === undefined) unreadable ??= line;
      if (other !== undefined)
        throw new ServiceError(
          'conflict',
          `Nothing was changed: the rows in lines ${other} and ${line} have the same reference.`,
        );
    }
    if (rows === 0) throw new ServiceError('conflict', 'Nothing was changed: the file holds no row.');
    return { references, unreadable, lacking };
  } catch (error) {
    references.close();
    throw error;
  }
}

function findLine({ lines }: { readonly lines: readonly Line[] }): number {
  return lines[0]?.number ?? 0;
}

/** A row that is read and not done yet. */
interface Waiting extends FileRow {
  readonly lines: readonly Line[];
}

class Run {
  readonly #input: StepInput;
  readonly #target: StepTarget;
  readonly #contents: Contents;
  readonly #steps = { added: 0, changed: 0, unchanged: 0, held: 0, adopted: 0 };
  #refused = 0;
  #missing: MissingCounts | undefined;
  #waiting: Waiting[] = [];
  /** The line of the next row to read. Undefined before the first row and at the end of the file. */
  #next: number | undefined;

  constructor(input: StepInput, target: StepTarget, contents: Contents) {
    this.#input = input;
    this.#target = target;
    this.#contents = contents;
  }

  async perform(): Promise<void> {
    try {
      await this.#leaveOut();
      await this.#change();
    } catch (error) {
      // What ended the run, such as a lost database, may also end what comes after it.
      await this.#end().catch(() => undefined);
      throw error;
    }
    await this.#end();
    if (this.#refused > 0) throw new RowsRefused();
  }

  async #end(): Promise<void> {
    const { report, describe } = this.#input;
    const [first] = this.#waiting;
    await report.end({
      steps: this.#steps,
      missing: this.#missing,
      refused: this.#refused,
      categories: this.#target.ids.made.map(({ name }) => name),
      ...describe(),
      uncategorized: 0,
      stoppedAt: first === undefined ? this.#next : findLine(first),
    });
    const { changed = 0, held = 0 } = this.#missing ?? {};
    const lacking = this.#missing === undefined ? {} : { missing: changed, missingHeld: held };
    await this.#target.run?.end({ ...this.#steps, refused: this.#refused, ...lacking });
  }

  /** @throws ServiceError `conflict` when too many animals are missing from the file: it may be cut off. */
  async #leaveOut(): Promise<void> {
    const { herd, missing: action, isForced, run } = this.#target;
    if (action === 'keep') return;
    const { unreadable } = this.#contents;
    const none = { action, changed: 0, held: 0 };
    if (unreadable !== undefined) {
      const untouched = `Animals that are not in the file were left alone: the reference in line ${unreadable} cannot be read.`;
      this.#missing = { ...none, untouched };
      return;
    }
    let possible = 0;
    let missing = 0;
    let held = 0;
    for await (const round of this.#missingIn(herd, action)) {
      possible += round.possible;
      missing += round.animals.length;
      held += round.held;
    }
    if (missing * GUARD > possible && !isForced)
      throw new ServiceError(
        'conflict',
        `Nothing was changed: the file lacks ${missing} of ${possible} animals, more than a fifth, so it may be cut. ` +
          `If it is whole, --force ${action === 'sold' ? 'marks them as sold' : 'deletes them'}.`,
      );
    this.#missing = { action, changed: missing, held };
    if (herd?.leaveOut === undefined) return;
    this.#missing = { ...none, held };
    for await (const { animals } of this.#missingIn(herd, action)) {
      this.#input.signal.throwIfAborted();
      if (animals.length === 0) continue;
      await run?.start();
      const done = await herd.leaveOut(animals, action);
      this.#missing = {
        action,
        changed: this.#missing.changed + done.changed,
        held: this.#missing.held + done.held,
      };
    }
  }

  /** The animals that the file lacks and that could be changed, in rounds. */
  async *#missingIn(herd: Herd | undefined, action: Missing) {
    if (herd === undefined) return;
    for await (const round of herd.readReferenced(this.#target.ownerId)) {
      const others = round.filter(({ status }) => action === 'delete' || status !== 'sold');
      const lacks = ({ reference }: Referenced) => this.#contents.references.find(reference) === undefined;
      const free = others.filter(({ isHeld }) => !isHeld);
      yield {
        possible: free.length,
        held: others.filter((pet) => pet.isHeld && lacks(pet)).length,
        animals: free.filter(lacks).map(({ id, reference }) => ({ id, reference })),
      };
    }
  }

  async #change(): Promise<void> {
    const { open, mapping, now, signal } = this.#input;
    for await (const row of await open()) {
      this.#next = findLine(row);
      signal.throwIfAborted();
      const read =
        'issue' in row ? { issues: [row.issue] } : readPet(row, mapping, now, this.#contents.lacking);
      if ('issues' in read) await this.#refuse(row.lines, read.issues);
      else if (read.pet.reference === undefined)
        await this.#refuse(row.lines, ['reference is required with --update, to find the animal.']);
      else {
        this.#waiting.push(await this.#toFileRow(row.lines, read, read.pet.reference));
        if (this.#waiting.length === ROWS_AT_ONCE) await this.#flush();
      }
      this.#next += row.lines.length;
    }
    this.#next = undefined;
    await this.#flush();
    const leftOut = this.#missing?.changed ?? 0;
    if (leftOut === 0 && Object.values(this.#steps).every((rows) => rows === 0))
      throw new ServiceError('conflict', 'Nothing was changed: every row is refused.');
  }

  async #toFileRow(
    lines: readonly Line[],
    { pet: read, category }: ReadPet,
    reference: string,
  ): Promise<Waiting> {
    const { lacking } = this.#contents;
    const pet =
      category === undefined ? read : { ...read, categoryId: await this.#target.ids.idOf(category) };
    const fields: Partial<Record<FieldName, unknown>> = {};
    for (const field of FIELD_NAMES) if (!lacking.has(field)) fields[field] = pet[field] ?? null;
    const isWhole = !lacking.has('name') && !lacking.has('categoryId');
    return { lines, reference, fields: fields as Partial<PetPatch>, pet: isWhole ? pet : undefined };
  }

  async #flush(): Promise<void> {
    if (this.#waiting.length === 0) return;
    const rows = this.#waiting.map(({ reference, fields, pet }) => ({ reference, fields, pet }));
    const steps =
      (await this.#target.herd?.keepInStep(rows)) ??
      rows.map(({ pet }): Step => (pet === undefined ? 'unknown' : 'added'));
    const done = this.#waiting;
    this.#waiting = [];
    for (const [index, step] of steps.entries())
      if (step !== 'unknown') this.#steps[step]++;
      else
        await this.#refuse(done[index]?.lines ?? [], [
          'there is no animal with this reference, and a new one needs the columns name and categoryId.',
        ]);
    this.#input.progress.update(Object.values(this.#steps).reduce((sum, count) => sum + count));
  }

  async #refuse(lines: readonly Line[], issues: readonly string[]): Promise<void> {
    this.#refused++;
    this.#input.refusedFile?.add(lines);
    await this.#input.report.refuse(findLine({ lines }), issues);
  }
}
