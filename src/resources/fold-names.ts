// Until the next release: the version before folded ı to i (docs/design/names.md).
import { foldedName } from '../domain/text.ts';
import type { AnyEngine } from '../storage/open.ts';
import { raw, sql } from '../storage/sql.ts';
import type { Transaction } from '../storage/transaction.ts';

/** Tables with the columns name and folded_name. */
const NAMED = ['accounts', 'categories', 'operators'] as const;

/** Names of one transaction. */
const AT_ONCE = 500;

type Named = readonly [id: bigint, name: string];

/** A name that was changed or is taken meanwhile stays as it is: the version before may still write. */
async function foldAgain(
  transaction: Transaction,
  table: (typeof NAMED)[number],
  names: readonly Named[],
): Promise<void> {
  for (const [id, name] of names) {
    const folded = foldedName(name);
    await transaction.query(sql`UPDATE ${raw(table)} SET folded_name = ${folded} WHERE id = ${id} AND name = ${name}
      AND NOT EXISTS (SELECT 1 FROM ${raw(table)} AS other WHERE other.folded_name = ${folded})`);
  }
}

export const WRITES = { foldAgain };

/** Folds names again that the version before has folded. Call it whenever the database was opened. */
export async function foldNames(engine: AnyEngine): Promise<void> {
  for (const table of NAMED)
    for (let after = 0n; ; ) {
      const names = await engine.query<Named>(sql`SELECT id, name FROM ${raw(table)}
        WHERE name LIKE '%ı%' AND folded_name NOT LIKE '%ı%' AND id > ${after} ORDER BY id LIMIT ${raw(String(AT_ONCE))}`);
      const last = names.at(-1);
      if (last === undefined) break;
      try {
        await engine.write(foldAgain, table, names);
      } catch (error) {
        // A command that reads goes on.
        if (!engine.dialect.isReadOnly(error)) throw error;
        return;
      }
      [after] = last;
    }
}
