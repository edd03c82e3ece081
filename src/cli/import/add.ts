import { addReserved } from '../../resources/categories/repository.ts';
import type { NewPet } from '../../resources/pets/schema.ts';
import type { ReadyRow, Sink, Target } from './run.ts';
import { refuseTaken } from './taken.ts';

/** Adds each animal of a file. One whose reference is taken is refused. */
export function adding({ ids, ownerId, pets, actor, audited }: Target, atomic: boolean): Sink {
  async function* petsOf(rows: AsyncIterable<ReadyRow>): AsyncGenerator<NewPet> {
    for await (const { pet } of rows) {
      if (!atomic) await audited?.start();
      yield pet;
    }
  }
  return {
    ids,
    isAtomic: atomic,
    nothing: `Nothing ${audited === undefined ? 'would be' : 'was'} imported`,
    check: (rows) =>
      refuseTaken(rows, async (references) => (await pets?.findReferences(ownerId, references)) ?? new Set()),
    async take(rows, progress) {
      let count = 0;
      if (audited === undefined) for await (const _ of rows) progress.done(['added']);
      else
        await pets.addAll(petsOf(rows), {
          atomic,
          ownerId,
          actor,
          onProgress(total) {
            progress.done(Array.from({ length: total - count }, () => 'added'));
            count = total;
          },
          async beforeCommit(transaction, animals) {
            await addReserved(transaction, actor, ids.made);
            if (animals > 0) await audited.addWhole(transaction, { animals });
          },
        });
    },
    describe: ({ added }) => ({ imported: added }),
    end: async ({ imported = 0, refused }) => audited?.end({ animals: imported, refused }),
  };
}
