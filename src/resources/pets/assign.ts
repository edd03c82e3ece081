// Contract: section 8.2.
import type { Actor } from '../../domain/audit.ts';
import { listed } from '../../domain/parse.ts';
import type { Failure, Result } from '../../domain/result.ts';
import type { AnyEngine } from '../../storage/open.ts';
import { join, raw, type Sql, sql } from '../../storage/sql.ts';
import { createParser, int64, integer, optional, text } from '../../storage/table.ts';
import type { Dialect, Transaction } from '../../storage/transaction.ts';
import { addAudit } from '../audit/repository.ts';
import { findReferences, refuseTaken, requireFree } from './references.ts';
import { HOUSE, INDEXED_STATUSES, PETS } from './table.ts';

/** Animals that one transaction moves: few enough that others wait for milliseconds. */
export const ASSIGNED_AT_ONCE = 1_000;

/** Animals that a message names. */
const NAMED = 5;

/** An account, or the house, whose `name` is undefined. */
export interface NewOwner {
  readonly id: number;
  readonly name?: string | undefined;
}

export interface Assigned {
  readonly moved: number;
  /** Animals that belonged to the owner before. */
  readonly unchanged: number;
  /** Animals that stay with their owners, because the new one has an animal with the same reference. */
  readonly left: number;
}

const parseOwnedId = createParser({
  id: int64,
  ownerId: integer,
  owner: optional(text),
  reference: optional(text),
});

/** An animal, whose it is, and the name of the account. The house has none. */
type OwnedId = ReturnType<typeof parseOwnedId>;

/** Locks those of these animals that exist. By ascending id: in any other order, two of these could deadlock. */
async function lockOwned(transaction: Transaction, ids: readonly bigint[]): Promise<readonly OwnedId[]> {
  const { dialect } = transaction;
  const rows = await transaction.query(sql`
    SELECT id, owner_id, (SELECT name FROM accounts WHERE accounts.id = owner_id), reference FROM pets
    WHERE ${dialect.isAnyOf('id', ids)} ORDER BY id ${dialect.forUpdate()}`);
  return rows.map(parseOwnedId);
}

/** What became of animals of other owners, as they were. Those that are left have a reference that an animal of the owner has. */
interface Moved {
  readonly moved: readonly OwnedId[];
  readonly left: readonly OwnedId[];
}

/** What becomes of those of these locked animals that belong to others. */
async function planMoves(
  transaction: Transaction,
  ownerId: number,
  locked: readonly OwnedId[],
): Promise<Moved> {
  const others = locked.filter((pet) => pet.ownerId !== ownerId);
  const taken = await findReferences(
    transaction,
    ownerId,
    others.flatMap(({ reference }) => reference ?? []),
  );
  const moved: OwnedId[] = [];
  const left: OwnedId[] = [];
  for (const pet of others) {
    const { reference } = pet;
    (reference !== undefined && taken.has(reference) ? left : moved).push(pet);
    if (reference !== undefined) taken.add(reference);
  }
  return { moved, left };
}

async function setOwner(transaction: Transaction, ownerId: number, pets: readonly OwnedId[]): Promise<void> {
  const ids = pets.map(({ id }) => id);
  if (ids.length > 0)
    await transaction.query(
      sql`UPDATE pets SET ${PETS.set({ ownerId })} WHERE ${transaction.dialect.isAnyOf('id', ids)}`,
    );
}

/** Moves those of these animals that belong to others. Clients see nothing of it, so there is no event, and the version stays. */
export async function movePets(
  transaction: Transaction,
  ownerId: number,
  ids: readonly bigint[],
): Promise<Moved> {
  const moves = await planMoves(transaction, ownerId, await lockOwned(transaction, ids));
  await setOwner(transaction, ownerId, moves.moved);
  return moves;
}

/**
 * Moves these animals, which differ, or none: `not_found` names those that do not exist, `conflict` those whose reference another
 * animal of the owner has.
 */
export async function assignPets(
  transaction: Transaction,
  actor: Actor,
  owner: NewOwner,
  ids: readonly bigint[],
): Promise<Result<Assigned, 'not_found' | 'conflict'>> {
  const locked = await lockOwned(transaction, ids);
  const found = new Set(locked.map(({ id }) => id));
  const missing = ids.filter((id) => !found.has(id));
  if (missing.length > 0) {
    const start = missing.length === 1 ? 'There is no animal' : 'There are no animals';
    return { error: 'not_found', message: `${start} ${nameSome(missing)}: nothing was changed.` };
  }
  const { moved, left } = await planMoves(transaction, owner.id, locked);
  if (left.length > 0) return refuseTwins(left.map(({ id }) => id));
  await setOwner(transaction, owner.id, moved);
  for (const [formerId, pets] of Map.groupBy(moved, ({ ownerId }) => ownerId))
    await addAudit(transaction, actor, {
      action: 'pets assign',
      target: { kind: 'pets', name: String(pets.length) },
      // The house is no account.
      accountId: owner.id === HOUSE ? formerId : owner.id,
      before: { account: pets[0]?.owner ?? null },
      after: { account: owner.name ?? null, ids: pets.map(({ id }) => String(id)) },
    });
  return { value: { moved: moved.length, unchanged: ids.length - moved.length, left: 0 } };
}

/** Some of these numbers, and how many more there are. */
function nameSome(ids: readonly bigint[]): string {
  const named = ids.slice(0, NAMED).map(String);
  if (ids.length > NAMED) named.push(`${ids.length - NAMED} more`);
  return listed(named);
}

/** Each of these has a reference that an animal of the new owner has, or one before it. */
function refuseTwins(ids: readonly bigint[]): Failure<'conflict'> {
  const which = ids.length === 1 ? 'of the animal' : 'of each of the animals';
  const message = `The owner has an animal with the reference ${which} ${nameSome(ids)}: nothing was changed.`;
  return { error: 'conflict', message };
}

/** The oldest animals after the id `after` with their owners: of all, or of a category. */
function selectRound(
  { dialect }: { readonly dialect: Dialect },
  after: bigint,
  categoryId: bigint | undefined,
): Sql {
  const rows = raw(String(ASSIGNED_AT_ONCE));
  if (categoryId === undefined)
    return sql`SELECT id, owner_id FROM pets WHERE id > ${after} ORDER BY id LIMIT ${rows}`;
  // An animal that changes its status meanwhile is in the next round by its id, whatever its status is then.
  const pages = INDEXED_STATUSES.map((status, index) => {
    const end = dialect.oldest({ category_id: categoryId, "coalesce(status, '')": status }, after);
    return sql`SELECT * FROM (
      SELECT id, owner_id FROM ${dialect.indexedBy(PETS, 'pets_by_category')} ${end} LIMIT ${rows}
    ) AS ${raw(`page_${index}`)}`;
  });
  return sql`SELECT * FROM (${join(pages, ' UNION ALL ')}) AS merged ORDER BY id LIMIT ${rows}`;
}

interface AssignOptions {
  /** By default all animals. */
  readonly categoryId?: bigint | undefined;
  /** Awaited before each change. */
  readonly beforeChange: () => Promise<void>;
  /** Called with the count of animals so far. */
  readonly onProgress: (count: number) => void;
}

/** `from`: how many animals were moved from each account, by its name. The house is undefined. */
interface AssignedAll extends Assigned {
  readonly from: ReadonlyMap<string | undefined, number>;
}

export function openAssignments(engine: AnyEngine) {
  return {
    assign: (actor: Actor, owner: NewOwner, ids: readonly bigint[]) =>
      refuseTaken(engine, engine.write(assignPets, actor, owner, ids)),
    /** Moves all animals, or those of a category, some in each commit. Animals that are added meanwhile stay with their owner. */
    async assignAll(
      ownerId: number,
      { categoryId, beforeChange, onProgress }: AssignOptions,
    ): Promise<AssignedAll> {
      const [end] = await engine.query<[id: bigint | null]>(sql`SELECT max(id) FROM pets`);
      const last = end?.[0] ?? 0n;
      const from = new Map<string | undefined, number>();
      let [count, left] = [0, 0];
      for (let after = 0n; after < last; ) {
        const read = await engine.query<[id: bigint, ownerId: bigint]>(
          selectRound(engine, after, categoryId),
        );
        const rows = read.filter(([id]) => id <= last);
        const ids = rows.filter(([, owner]) => owner !== BigInt(ownerId)).map(([id]) => id);
        if (ids.length > 0) {
          await beforeChange();
          const round = await requireFree(engine, engine.write(movePets, ownerId, ids));
          left += round.left.length;
          for (const { owner } of round.moved) from.set(owner, (from.get(owner) ?? 0) + 1);
        }
        count += rows.length;
        onProgress(count);
        after = read.length < ASSIGNED_AT_ONCE ? last : (read.at(-1)?.[0] ?? last);
      }
      const moved = from.values().reduce((sum, each) => sum + each, 0);
      return { moved, unchanged: count - moved - left, left, from };
    },
  };
}
