import { setImmediate as letOthersRun } from 'node:timers/promises';
import { Batcher } from '../../domain/batcher.ts';
import { ServiceError } from '../../domain/errors.ts';
import { firstId, type Page, toPage } from '../../domain/page.ts';
import { foldedName } from '../../domain/text.ts';
import { type PetPage, type PetQuery, toPetsJson } from './table.ts';

/** Animals that one statement looks at: a few milliseconds of the thread that also answers requests, with SQLite. */
export const ROUND = 1_000;

/** The columns of an animal that filters compare, and a row of them. */
export const FILTERED = 'id, status, category_id, owner_id';
export type Filtered = readonly [id: bigint, status: string | null, categoryId: bigint, ownerId: bigint];

/** A query with filters that no index has together. By ids or a reference there are few animals. */
export function needsRounds({ accountId, categoryId, status, id, name, reference }: PetQuery): boolean {
  if (id !== undefined || reference !== undefined) return false;
  if (name === undefined) return accountId !== undefined && categoryId !== undefined;
  return accountId !== undefined || categoryId !== undefined || status !== undefined;
}

/** Reads the newest `ROUND` animals with ids up to `from` that an index finds: those of the name, or of the owner. */
type Look = (query: PetQuery, from: bigint) => readonly Filtered[] | Promise<readonly Filtered[]>;

/** The ids of a page. Requests run between two rounds. */
async function readInRounds(query: PetQuery, look: Look): Promise<Page<{ readonly id: bigint }>> {
  const { status, categoryId, accountId, limit, cursor, signal } = query;
  const found: { readonly id: bigint }[] = [];
  for (let from = firstId(cursor); ; await letOthersRun()) {
    signal?.throwIfAborted();
    const round = await look(query, from);
    for (const [id, ...row] of round)
      if (
        (status === undefined || row[0] === status) &&
        (categoryId === undefined || row[1] === categoryId) &&
        (accountId === undefined || row[2] === BigInt(accountId))
      )
        found.push({ id });
    const last = round.at(-1);
    if (found.length > limit || round.length < ROUND || last === undefined)
      return toPage(found.slice(0, limit + 1), limit);
    from = last[0] - 1n;
  }
}

/**
 * Pages whose filters no index has together. Those of one owner or one name go one after the other: with many at once, their
 * rounds would come between all other requests, or hold all connections. `read` gives the animals of a page that fit still.
 */
export function openRounds(look: Look, read: (query: PetQuery) => PetPage | Promise<PetPage>) {
  const turns = new Batcher<string, PetQuery, Page<{ readonly id: bigint }>>({
    size: 1,
    run: async (_, queries) => Promise.all(queries.map((query) => readInRounds(query, look))),
  });
  return async (query: PetQuery): Promise<PetPage> => {
    const turn = query.name === undefined ? `${query.accountId}` : `name ${foldedName(query.name)}`;
    const { items, next } = await turns.add(turn, query);
    if (items.length === 0) return { items: toPetsJson([]), next };
    return { ...(await read({ ...query, id: items.map(({ id }) => id), cursor: undefined })), next };
  };
}

/** @throws ServiceError `unavailable` when there are animals that a list by name would not find yet. */
export function requireFolded(unfolded: readonly unknown[]): void {
  if (unfolded.length > 0)
    throw new ServiceError(
      'unavailable',
      'The names of older animals are still being read: try again later.',
    );
}
