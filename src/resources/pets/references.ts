// Contract: sections 3 and 8.2.
import type { Failure } from '../../domain/result.ts';
import { ServiceError } from '../../domain/errors.ts';
import { join, raw, type Sql, sql } from '../../storage/sql.ts';
import type { Dialect, Queries } from '../../storage/transaction.ts';
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

/** Which of these references animals of the owner have. */
export async function findReferences(
  queries: Queries,
  ownerId: number,
  references: readonly string[],
): Promise<Set<string>> {
  if (references.length === 0) return new Set();
  const found = await queries.query<[reference: string]>(
    selectByReference(queries.dialect, raw('reference'), ownerId, references),
  );
  return new Set(found.map(([reference]) => reference));
}

/** An owner has an animal with this reference already. */
export const TAKEN = {
  error: 'conflict',
  message: 'An animal of the same owner has this reference already.',
} as const satisfies Failure<'conflict'>;

/** A refusal instead of the error of an index that another transaction has filled between the look and the write. */
export async function refuseTaken<T>(
  { dialect }: Pick<Queries, 'dialect'>,
  write: Promise<T>,
): Promise<T | typeof TAKEN> {
  try {
    return await write;
  } catch (error) {
    if (dialect.isDuplicate(error)) return TAKEN;
    throw error;
  }
}

/** @throws ServiceError `conflict` when another transaction has filled the index meanwhile. */
export async function requireFree<T>({ dialect }: Pick<Queries, 'dialect'>, write: Promise<T>): Promise<T> {
  try {
    return await write;
  } catch (error) {
    if (!dialect.isDuplicate(error)) throw error;
    throw new ServiceError(
      'conflict',
      'Another program has just taken a reference of these animals: repeat the command for the rest.',
    );
  }
}
