// Contract: section 8.2. The names of animals as `listPets` looks for them.
import { repeatRounds } from '../../domain/rounds.ts';
import { foldedName } from '../../domain/text.ts';
import type { AnyEngine } from '../../storage/open.ts';
import { join, raw, sql } from '../../storage/sql.ts';
import { createParser, int64, integer, text } from '../../storage/table.ts';
import type { Transaction } from '../../storage/transaction.ts';
import { FIND_UNFOLDED, PETS, UNFOLDED } from './table.ts';

/** Names that one transaction folds: few enough that others wait for milliseconds. */
const AT_ONCE = 500;

/** A lock of the database, which one transaction holds at a time. Any number that is used for nothing else. */
const FOLDING_LOCK = 7_304_411_203n;

const parseNamed = createParser({ id: int64, name: text, version: integer });

/** Folds names of animals that an instance of the version before has written. Gives whether there may be more. */
export async function foldPets(transaction: Transaction): Promise<boolean> {
  if (!(await transaction.tryLock(FOLDING_LOCK))) return false;
  const { dialect } = transaction;
  // By ascending id: in any other order, two that change many animals could deadlock.
  const rows =
    await transaction.query(sql`SELECT id, name, version FROM ${dialect.indexedBy(PETS, 'pets_unfolded')}
    WHERE ${raw(UNFOLDED)} ORDER BY id LIMIT ${raw(String(AT_ONCE))} ${dialect.forUpdate()}`);
  const pets = rows.map(parseNamed);
  if (pets.length > 0) {
    const values = pets.map(({ id, name }) => sql`(CAST(${id} AS bigint), ${foldedName(name)})`);
    await transaction.query(sql`WITH folded (pet_id, new_name) AS (VALUES ${join(values)})
      UPDATE pets SET folded_name = new_name, folded_version = version FROM folded WHERE id = pet_id`);
  }
  return pets.length === AT_ONCE;
}

export function openFolding(engine: AnyEngine) {
  return {
    /** Folds all names that are not folded yet, some in each commit, until `signal` aborts. */
    async foldNames(signal?: AbortSignal): Promise<void> {
      if ((await engine.query(sql`${raw(FIND_UNFOLDED[engine.kind])}`)).length > 0)
        await repeatRounds(() => engine.write(foldPets), signal);
    },
  };
}
