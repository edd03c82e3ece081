import { setImmediate as letOthersRun } from 'node:timers/promises';
import { Batcher } from '../../domain/batcher.ts';
import { firstId, type Page, toPage } from '../../domain/page.ts';
import type { Pet } from './schema.ts';
import { type PetPage, type PetQuery, petsJson } from './table.ts';

/** Animals that one statement looks at: a few milliseconds of the thread that also answers requests, with SQLite. */
export const ROUND = 1_000;

/** A query by owner and category, which no index has together. By ids there are few animals. */
export function needsRounds({ accountId, categoryId, id }: PetQuery): boolean {
  return accountId !== undefined && categoryId !== undefined && id === undefined;
}

/** Reads the newest `ROUND` animals of the owner with ids up to `from`, whatever their category is. */
type Look = (query: PetQuery, from: bigint) => readonly Pet[] | Promise<readonly Pet[]>;

/** A page of the animals of an owner in a category. Requests run between two rounds. */
async function readInRounds(query: PetQuery, look: Look): Promise<Page<Pet>> {
  const { categoryId, limit, cursor, signal } = query;
  const found: Pet[] = [];
  for (let from = firstId(cursor); ; await letOthersRun()) {
    signal?.throwIfAborted();
    const round = await look(query, from);
    found.push(...round.filter((pet) => pet.categoryId === categoryId));
    const last = round.at(-1);
    if (found.length > limit || round.length < ROUND || last === undefined)
      return toPage(found.slice(0, limit + 1), limit);
    from = last.id - 1n;
  }
}

/**
 * Pages of the animals of an owner in a category. Those of one owner go one after the other: with many at once, the rounds of one
 * account would come between all other requests, or hold all connections.
 */
export function openRounds(look: Look): (query: PetQuery) => Promise<PetPage> {
  const turns = new Batcher<string, PetQuery, Page<Pet>>({
    size: 1,
    run: async (_, queries) => Promise.all(queries.map((query) => readInRounds(query, look))),
  });
  return async (query) => {
    const { items, next } = await turns.add(`${query.accountId}`, query);
    return { items: petsJson(items), next };
  };
}
