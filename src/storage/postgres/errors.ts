import { DatabaseError } from 'pg';
import { ServiceError } from '../../domain/errors.ts';
import { unavailable } from '../engine.ts';

/**
 * SQLSTATEs after which a connection is useless: it was lost or refused, its database or role is gone, or the server is
 * out of resources or disk, shutting down, starting or read-only (as a former primary is).
 */
const LOST = /^(?:08|28|3D|53|57P|58|25006|25P03)/;

/** The SQLSTATE of a statement that waited for a lock longer than `lock_timeout`. */
export const LOCK_NOT_AVAILABLE = '55P03';

/** The SQLSTATE of a write to a server or database that is read-only now. */
export const READ_ONLY = '25006';

/** The SQLSTATE of a statement that the role may not run. */
export const INSUFFICIENT_PRIVILEGE = '42501';

/** The SQLSTATE of a write of values that a unique index has already. */
export const UNIQUE_VIOLATION = '23505';

/** SQLSTATEs of a statement that other transactions stopped: it timed out, waited too long for a lock, or lost a race. */
const HINDERED = /^(?:57014|55P03|40)/;

/** The SQLSTATE of an error that the server reported, here or as the cause; undefined for any other error. */
export function sqlState(error: unknown): string | undefined {
  const reported = error instanceof ServiceError ? error.cause : error;
  return reported instanceof DatabaseError ? reported.code : undefined;
}

/** Whether the connection can still be used after this error: the server reported it, and it concerns the statement only. */
export function isConnectionFit(error: unknown): boolean {
  const state = sqlState(error);
  return state !== undefined && !LOST.test(state);
}

/** The error for the caller of a query: `unavailable`, or a fault of this program as it is. */
export function storeError(error: unknown): unknown {
  return error instanceof ServiceError || !isPassing(error) ? error : unavailable(error);
}

/** The driver reports every problem with the connection as a plain Error. */
function isPassing(error: unknown): boolean {
  const state = sqlState(error);
  if (state !== undefined) return LOST.test(state) || HINDERED.test(state);
  return error instanceof Error && !(error instanceof TypeError) && !(error instanceof RangeError);
}
