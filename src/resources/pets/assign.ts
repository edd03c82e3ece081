// Contract: section 8.2.
import type { Actor } from '../../domain/audit.ts';
import { listed } from '../../domain/parse.ts';
import type { Result } from '../../domain/result.ts';
import type { AnyEngine } from '../../storage/open.ts';
import { join, raw, type Sql, sql } from '../../storage/sql.ts';
import type { Dialect, Transaction } from '../../storage/transaction.ts';
import { addAudit } from '../audit/repository.ts';
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
}

/**
 * Moves those of these animals that belong to others. Clients see nothing of it, so there is no event, and the version stays.
 * Returns how many it moved.
 */
export async function movePets(
  transaction: Transaction,
  ownerId: number,
  ids: readonly bigint[],
): Promise<number> {
  const { dialect } = transaction;
  // By ascending id: in any other order, two of these could deadlock.
  const moved = await transaction.query(sql`
    WITH others AS (
      SELECT id FROM pets WHERE ${dialect.isAnyOf('id', ids)} AND owner_id <> ${ownerId} ORDER BY id ${dialect.forUpdate()}
    )
    UPDATE pets SET ${PETS.set({ ownerId })} WHERE id IN (SELECT id FROM others) RETURNING 1`);
  return moved.length;
}

/** Moves these animals, which differ, or none: `not_found` names those that do not exist. */
export async function assignPets(
  transaction: Transaction,
  actor: Actor,
  owner: NewOwner,
  ids: readonly bigint[],
): Promise<Result<Assigned, 'not_found'>> {
  const { dialect } = transaction;
  const rows = await transaction.query<[id: bigint]>(
    sql`SELECT id FROM pets WHERE ${dialect.isAnyOf('id', ids)} ORDER BY id ${dialect.forUpdate()}`,
  );
  const found = new Set(rows.map(([id]) => id));
  const missing = ids.filter((id) => !found.has(id)).map(String);
  if (missing.length > 0) {
    const named = missing.slice(0, NAMED);
    if (missing.length > NAMED) named.push(`${missing.length - NAMED} more`);
    const start = missing.length === 1 ? 'There is no animal' : 'There are no animals';
    return { error: 'not_found', message: `${start} ${listed(named)}: nothing was changed.` };
  }
  const moved = await movePets(transaction, owner.id, ids);
  if (moved > 0)
    await addAudit(transaction, actor, {
      action: 'pets assign',
      target: { kind: 'pets', name: String(ids.length) },
      accountId: owner.id === HOUSE ? undefined : owner.id,
      after: { account: owner.name ?? null, animals: moved, ids: ids.map(String) },
    });
  return { value: { moved, unchanged: ids.length - moved } };
}

/** The oldest animals after the id `after` with their owners: of all, or of a category. */
export function selectRound(
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

export function openAssignments(engine: AnyEngine) {
  return {
    assign: (actor: Actor, owner: NewOwner, ids: readonly bigint[]) =>
      engine.write(assignPets, actor, owner, ids),
    /** Moves all animals, or those of a category, some in each commit. Animals that are added meanwhile stay with their owner. */
    async assignAll(
      ownerId: number,
      { categoryId, beforeChange, onProgress }: AssignOptions,
    ): Promise<Assigned> {
      const [end] = await engine.read<[id: bigint | null]>(sql`SELECT max(id) FROM pets`);
      const last = end?.[0] ?? 0n;
      let moved = 0;
      let count = 0;
      for (let after = 0n; after < last; ) {
        const read = await engine.read<[id: bigint, ownerId: bigint]>(selectRound(engine, after, categoryId));
        const round = read.filter(([id]) => id <= last);
        const ids = round.filter(([, owner]) => owner !== BigInt(ownerId)).map(([id]) => id);
        if (ids.length > 0) {
          await beforeChange();
          moved += await engine.write(movePets, ownerId, ids);
        }
        count += round.length;
        onProgress(count);
        after = read.length < ASSIGNED_AT_ONCE ? last : (read.at(-1)?.[0] ?? last);
      }
      return { moved, unchanged: count - moved };
    },
  };
}
