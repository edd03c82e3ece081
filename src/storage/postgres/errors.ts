import pg from 'pg';
import { PetStoreError } from '../../domain/errors.ts';

/**
 * SQLSTATEs of a server that cannot answer for now: connection lost, out of resources, shutting down or starting,
 * read only (as a former primary is), a statement that timed out or waited too long for a lock.
 */
const PASSING = /^(?:08|53|57P|57014|25006|40001|40P01|55P03)/;

/** The SQLSTATE of an error that the server reported, or undefined for any other error. */
export function sqlState(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? error.code : undefined;
}

/** What a failed query means to a caller: the store is unavailable for now, or a fault of ours as it is. */
export function storeError(error: unknown): unknown {
  if (error instanceof PetStoreError || !isPassing(error)) return error;
  return new PetStoreError('unavailable', 'The catalogue cannot answer now; try again later.', {
    cause: error,
  });
}

/** The driver reports every trouble with the connection as a plain Error. */
function isPassing(error: unknown): boolean {
  const state = sqlState(error);
  if (state !== undefined) return PASSING.test(state);
  return error instanceof Error && !(error instanceof TypeError) && !(error instanceof RangeError);
}
