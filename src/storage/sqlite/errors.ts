import { PetStoreError } from '../../domain/errors.ts';

/** Primary SQLite result codes (the low byte of an extended one) that this project tells apart. */
export const SQLITE_BUSY = 5;
const SQLITE_READONLY = 8;
const SQLITE_IOERR = 10;
const SQLITE_FULL = 13;
const SQLITE_CANTOPEN = 14;
export const SQLITE_NOTADB = 26;
export const SQLITE_CORRUPT = 11;

/** The extended code for a database file that is no longer where it was opened. */
export const SQLITE_READONLY_DBMOVED = SQLITE_READONLY | (4 << 8);

const PASSING = new Set([SQLITE_BUSY, SQLITE_READONLY, SQLITE_IOERR, SQLITE_FULL, SQLITE_CANTOPEN]);

/** The primary result code of an error of SQLite, or undefined for any other error. */
export function sqliteCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number')
    return undefined;
  return error.errcode & 0xff;
}

/** What a failed statement means to a caller: the store is unavailable for now, or a fault of ours as it is. */
export function storeError(error: unknown): unknown {
  const code = sqliteCode(error);
  return code !== undefined && PASSING.has(code) ? unavailable(error) : error;
}

/** The store cannot answer now; the cause is for the log. */
export function unavailable(cause: unknown): PetStoreError {
  return new PetStoreError('unavailable', 'The catalogue cannot answer now; try again later.', { cause });
}
