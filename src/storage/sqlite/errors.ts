import { unavailable } from '../engine.ts';

/** Primary result codes of SQLite: the low byte of an extended code. */
export const SQLITE_BUSY = 5;
export const SQLITE_READONLY = 8;
const SQLITE_IOERR = 10;
export const SQLITE_FULL = 13;
export const SQLITE_CANTOPEN = 14;
export const SQLITE_NOTADB = 26;
export const SQLITE_CORRUPT = 11;

/** The extended code for a database file that is no longer where it was opened. */
export const SQLITE_READONLY_DBMOVED = SQLITE_READONLY | (4 << 8);

/** The database is locked, or its disk or file fails or is damaged: no fault of this program. */
const OUTAGES = new Set([
  SQLITE_BUSY,
  SQLITE_READONLY,
  SQLITE_IOERR,
  SQLITE_CORRUPT,
  SQLITE_FULL,
  SQLITE_CANTOPEN,
  SQLITE_NOTADB,
]);

/** The primary result code of an error of SQLite, or undefined for any other error. */
export function sqliteCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number')
    return undefined;
  return error.errcode & 0xff;
}

/** The extended code for a value that a unique index has already. */
const SQLITE_CONSTRAINT_UNIQUE = 19 | (8 << 8);

export function isUniqueViolation(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === SQLITE_CONSTRAINT_UNIQUE;
}

/** The error for the caller of a statement: `unavailable`, or a fault of this program as it is. */
export function storeError(error: unknown): unknown {
  const code = sqliteCode(error);
  return code !== undefined && OUTAGES.has(code) ? unavailable(error) : error;
}
