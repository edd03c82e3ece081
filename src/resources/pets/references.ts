// Contract: sections 3 and 8.2.
import { join, raw, type Row, type Sql, sql } from '../../storage/sql.ts';
import type { Dialect } from '../../storage/transaction.ts';
import { PETS } from './table.ts';

/** The statement for columns of the animals of an owner that have one of these references. There must be one. */
export function selectByReference(
  dialect: Dialect,
  columns: Sql,
  ownerId: number,
  references: readonly string[],
): Sql {
  return sql`SELECT ${columns} FROM ${dialect.indexedBy(PETS, 'pets_by_reference')}
    WHERE reference IN (${join(references)}) AND owner_id = ${ownerId}`;
}

/** What reads: a transaction, or the database outside of one. */
export interface Reads {
  readonly dialect: Dialect;
  query<R extends Row>(statement: Sql): Promise<readonly R[]>;
}

/** Which of these references animals of the owner have. */
export async function findReferences(
  reads: Reads,
  ownerId: number,
  references: readonly string[],
): Promise<Set<string>> {
  if (references.length === 0) return new Set();
  const found = await reads.query<[reference: string]>(
    selectByReference(reads.dialect, raw('reference'), ownerId, references),
  );
  return new Set(found.map(([reference]) => reference));
}
