import { DatabaseError } from 'pg';
import { PetStoreError } from '../../domain/errors.ts';

/**
 * SQLSTATEs after which a connection is of no use: it was lost or refused, its database or role is gone, the server is
 * out of resources or of disk, shutting down or starting, or read-only (as a former primary is).
 */
const LOST = /^(?:08|28|3D|53|57P|58|25006|25P03)/;

/** SQLSTATEs of a statement that others were in the way of: it timed out, waited too long for a lock, or lost a race. */
const HINDERED = /^(?:57014|55P03|40)/;

/** The SQLSTATE of an error that the server reported, here or as the cause; undefined for any other error. */
export function sqlState(error: unknown): string | undefined {
  const reported = error instanceof PetStoreError ? error.cause : error;
  return reported instanceof DatabaseError ? reported.code : undefined;
}

/** Whether the connection on which this error occurred can go on: the server spoke, and it spoke of the statement alone. */
export function isConnectionFit(error: unknown): boolean {
  const state = sqlState(error);
  return state !== undefined && !LOST.test(state);
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
  if (state !== undefined) return LOST.test(state) || HINDERED.test(state);
  return error instanceof Error && !(error instanceof TypeError) && !(error instanceof RangeError);
}
