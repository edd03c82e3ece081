// Contract: section 8.2.
import { gatherChunks } from '../../domain/chunks.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { FileRow, Referenced } from '../../resources/pets/keep-in-step.ts';
import { FIELD_NAMES, type FieldName, type Missing, type Step } from '../../resources/pets/rules.ts';
import type { PetPatch } from '../../resources/pets/schema.ts';
import { TextList } from '../../storage/sqlite/text-list.ts';
import { fieldsIn, readPet } from './mapping.ts';
import type { MissingCounts } from './report.ts';
import { findLine, type Input, type ReadyRow, type Sink, type Target } from './run.ts';

/** Rows that one commit changes: few enough that the service waits for milliseconds only. */
const ROWS_AT_ONCE = 500;

/** Animals that a file lacks may be this part of those that could be changed. */
const GUARD = 5;

const UNCHANGED = 'Nothing was changed';

const WITHOUT_REFERENCE = { issues: ['reference is required with --update, to find the animal.'] };

const UNKNOWN =
  'there is no animal with this reference, and a new one needs the columns name and categoryId.';

/** What the first reading of a file shows. */
interface Contents {
  /** With the line of each. */
  readonly references: TextList;
  /** The line of the first row whose reference cannot be read. */
  readonly unreadable: number | undefined;
  /** Fields whose column no row has. */
  readonly lacking: ReadonlySet<FieldName>;
}

/** @throws ServiceError `conflict` when two rows have the same reference, or there is no row. */
export async function readContents({ rows, mapping, now, signal }: Input): Promise<Contents> {
  const references = new TextList();
  const lacking = new Set<FieldName>(FIELD_NAMES);
  let unreadable: number | undefined;
  let count = 0;
  try {
    for await (const row of rows) {
      signal.throwIfAborted();
      count++;
      const line = findLine(row.lines);
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
          `${UNCHANGED}: the rows in lines ${other} and ${line} have the same reference.`,
        );
    }
    if (count === 0) throw new ServiceError('conflict', `${UNCHANGED}: the file holds no row.`);
    return { references, unreadable, lacking };
  } catch (error) {
    references.close();
    throw error;
  }
}

/** What becomes of animals that the file lacks. */
interface MissingOptions {
  readonly action: Missing;
  readonly isForced: boolean;
  readonly signal: AbortSignal;
}

/**
 * Makes the animals of an owner as a file says. What the file lacks goes first, so that a run that is started again
 * ends the same.
 */
export function updating(contents: Contents, target: Target, options: MissingOptions): Sink {
  const { ids, ownerId, pets, actor, audited } = target;
  const { lacking } = contents;
  const isWhole = !lacking.has('name') && !lacking.has('categoryId');
  const present = FIELD_NAMES.filter((field) => !lacking.has(field));
  const beforeChange = async () => audited?.start();
  let missing: MissingCounts | undefined;

  const toFileRow = ({ pet }: ReadyRow): FileRow => ({
    reference: pet.reference ?? '',
    fields: Object.fromEntries(present.map((field) => [field, pet[field] ?? null])) as Partial<PetPatch>,
    pet: isWhole ? pet : undefined,
  });

  return {
    ids,
    lacking,
    nothing: UNCHANGED,
    async *check(rows) {
      for await (const row of rows)
        yield 'pet' in row.read && row.read.pet.reference === undefined
          ? { ...row, read: WITHOUT_REFERENCE }
          : row;
    },
    async take(rows, progress) {
      for await (const counts of leaveOut(contents, target, options)) missing = counts;
      for await (const chunk of gatherChunks(rows, ROWS_AT_ONCE)) {
        const fileRows = chunk.map(toFileRow);
        const steps: readonly Step[] =
          (await pets?.keepInStep(actor, ownerId, fileRows, {
            isTrial: audited === undefined,
            beforeChange,
          })) ?? fileRows.map(() => (isWhole ? 'added' : 'unknown'));
        progress.done(steps);
        for (const [index, { lines }] of chunk.entries())
          if (steps[index] === 'unknown') await progress.refuse(lines, [UNKNOWN]);
      }
    },
    describe: (steps) => ({ steps, missing }),
    async end({ steps, refused }) {
      const left = missing && { missing: missing.changed, missingHeld: missing.held };
      await audited?.end({ ...steps, refused, ...left });
    },
  };
}

/**
 * Sells or deletes the animals that the file lacks, and gives the counts so far.
 * @throws ServiceError `conflict` when they are too many: the file may be cut off.
 */
async function* leaveOut(
  { references, unreadable }: Contents,
  { ownerId, pets, actor, audited }: Target,
  { action, isForced, signal }: MissingOptions,
): AsyncGenerator<MissingCounts> {
  if (action === 'keep') return;
  if (unreadable !== undefined) {
    const reason = `the reference in line ${unreadable} cannot be read`;
    const untouched = `Animals that are not in the file were left alone: ${reason}.`;
    yield { action, changed: 0, held: 0, untouched };
    return;
  }
  const lacks = ({ reference }: Referenced) => references.find(reference) === undefined;
  /** The animals that the file lacks and that could be changed, in rounds. */
  async function* findMissing() {
    for await (const round of pets?.readReferenced(ownerId) ?? []) {
      const others = round.filter(({ status }) => action === 'delete' || status !== 'sold');
      const free = others.filter(({ isHeld }) => !isHeld);
      yield {
        possible: free.length,
        held: others.filter((pet) => pet.isHeld && lacks(pet)).length,
        animals: free.filter(lacks).map(({ id, reference }) => ({ id, reference })),
      };
    }
  }
  let possible = 0;
  let changed = 0;
  let held = 0;
  for await (const round of findMissing()) {
    possible += round.possible;
    changed += round.animals.length;
    held += round.held;
  }
  if (changed * GUARD > possible && !isForced)
    throw new ServiceError(
      'conflict',
      `${UNCHANGED}: the file lacks ${changed} of ${possible} animals, more than a fifth, so it may be cut. ` +
        `If it is whole, --force ${action === 'sold' ? 'marks them as sold' : 'deletes them'}.`,
    );
  if (audited === undefined) {
    yield { action, changed, held };
    return;
  }
  changed = 0;
  yield { action, changed, held };
  for await (const { animals } of findMissing()) {
    signal.throwIfAborted();
    if (animals.length === 0) continue;
    await audited.start();
    const done = await pets.leaveOut(actor, ownerId, animals, action);
    changed += done.changed;
    held += done.held;
    yield { action, changed, held };
  }
}
