// Contract: section 2.
import { setImmediate as letOthersRun } from 'node:timers/promises';
import { cached } from '../../domain/cached.ts';
import { type Clock, SECOND } from '../../domain/clock.ts';
import type { Snapshot } from '../../storage/engine.ts';
import type { AnyEngine } from '../../storage/open.ts';
import { raw, sql } from '../../storage/sql.ts';
import { PET_STATUSES, type PetStatus } from './rules.ts';
import { PETS } from './table.ts';

/**
 * Entries of an index that one statement counts: less than a millisecond of the thread that also answers requests, with
 * SQLite.
 */
const ROUND = 5_000;

/** Rounds after which an inventory is served again for a while. */
const MANY_ROUNDS = 40;

/** Milliseconds. A count is of the last minute, also if it takes as long again to be made. */
const LIFETIME = 30 * SECOND;

/** How many animals there are of each status, and without one. */
export type Inventory = Readonly<Record<PetStatus | 'unknown', number>>;

interface Counted {
  readonly inventory: Inventory;
  readonly rounds: number;
}

export function openInventory(engine: AnyEngine, clock: Clock) {
  const { dialect } = engine;

  /** The next animals of this status after an id: how many, and the last of them. */
  async function countRound(snapshot: Snapshot, status: PetStatus | undefined, after: bigint) {
    const index = status === undefined ? 'pets_without_status' : 'pets_by_status';
    const end =
      status === undefined
        ? sql`WHERE status IS NULL AND id > ${after} ORDER BY id`
        : dialect.oldest({ status }, after);
    const [[count, last] = [0n, null]] = await snapshot.query<[count: bigint, last: bigint | null]>(
      sql`SELECT count(*), max(id) FROM (
        SELECT id FROM ${dialect.indexedBy(PETS, index)} ${end} LIMIT ${raw(String(ROUND))}) AS round`,
    );
    return { count: Number(count), last };
  }

  async function countAll(): Promise<Counted> {
    await using snapshot = await engine.snapshot();
    let rounds = 0;
    const countStatus = async (status: PetStatus | undefined): Promise<number> => {
      let total = 0;
      for (let after = 0n; ; await letOthersRun()) {
        const { count, last } = await countRound(snapshot, status, after);
        rounds++;
        total += count;
        if (count < ROUND || last === null) return total;
        after = last;
      }
    };
    const counts: [string, number][] = [];
    for (const status of PET_STATUSES) counts.push([status, await countStatus(status)]);
    counts.push(['unknown', await countStatus(undefined)]);
    return { inventory: Object.fromEntries(counts) as Inventory, rounds };
  }

  const count = cached(clock, countAll, {
    lifetime: ({ rounds }) => (rounds > MANY_ROUNDS ? LIFETIME : 0),
    // An old count may be of any time ago.
    isSlow: () => false,
  });
  return {
    /** As of one moment within the last minute, whatever the number of animals is. */
    async countByStatus(): Promise<Inventory> {
      return (await count()).inventory;
    },
  };
}
