import { setImmediate as letOthersRun } from 'node:timers/promises';
import { firstId, type Page, toPage } from '../../domain/page.ts';
import type { Pet } from './schema.ts';
import type { PetQuery } from './table.ts';

/** Animals that one statement looks at: a few milliseconds of the thread that also answers requests, with SQLite. */
export const ROUND = 1_000;

/** A query by owner and category, which no index has together. By ids there are few animals. */
export function needsRounds({ accountId, categoryId, id }: PetQuery): boolean {
  return accountId !== undefined && categoryId !== undefined && id === undefined;
}

/**
 * A page of the animals of an owner in a category. `look` reads the newest `ROUND` animals of the owner with ids up to `from`,
 * whatever their category is. Requests run between two rounds.
 */
export async function listInRounds(
  { categoryId, limit, cursor, signal }: PetQuery,
  look: (from: bigint) => readonly Pet[] | Promise<readonly Pet[]>,
): Promise<Page<Pet>> {
  const found: Pet[] = [];
  for (let from = firstId(cursor); ; await letOthersRun()) {
    signal?.throwIfAborted();
    const round = await look(from);
    found.push(...round.filter((pet) => pet.categoryId === categoryId));
    const last = round.at(-1);
    if (found.length > limit || round.length < ROUND || last === undefined)
      return toPage(found.slice(0, limit + 1), limit);
    from = last.id - 1n;
  }
}
