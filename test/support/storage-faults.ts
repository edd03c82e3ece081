import { existsSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Lifetime } from './lifetime.ts';
import type { Variables } from './process.ts';
import { temporaryFolder } from './temporary.ts';

/**
 * What happens to a call. To one of SQLite: an I/O error, the disk is full from then on, or the process is killed before it. To a
 * statement to PostgreSQL: the connection is cut before it is sent, or after it was done and before its answer, the server's disk
 * is full, or the process is killed.
 */
export const FAULT_KINDS = {
  SQLite: ['error', 'full', 'kill'],
  PostgreSQL: ['lost', 'unanswered', 'full', 'kill'],
} as const;

export interface StorageFault {
  readonly database: keyof typeof FAULT_KINDS;
  readonly kind: (typeof FAULT_KINDS)[keyof typeof FAULT_KINDS][number];
  /** The number of the call, from 1. Of `full` with SQLite: among the calls that write. */
  readonly call: number;
}

/** What makes the calls of a database fail. */
const PRELOADED = { SQLite: 'failing-sqlite.ts', PostgreSQL: 'failing-postgres.ts' } as const;

export interface FailingStorage {
  /** For the process whose calls are counted. */
  readonly variables: Variables;
  /** From now on, calls are counted, and fail. */
  readonly begin: () => void;
  /** From now on, no call fails. */
  readonly end: () => void;
  /** How many calls were counted. */
  readonly count: () => number;
  readonly hasFailed: () => boolean;
}

/** Prepares a fault for one process. */
export function failingStorage(
  t: Pick<Lifetime, 'signal'>,
  { database, kind, call }: StorageFault,
): FailingStorage {
  const folder = temporaryFolder(t);
  const armed = join(folder, 'armed');
  return {
    variables: {
      NODE_OPTIONS: `--import=${new URL(PRELOADED[database], import.meta.url).href}`,
      FAULT_FOLDER: folder,
      FAULT_KIND: kind,
      FAULT_CALL: String(call),
    },
    begin: () => writeFileSync(armed, ''),
    end: () => rmSync(armed, { force: true }),
    count: () => statSync(join(folder, 'calls')).size,
    hasFailed: () => existsSync(join(folder, 'failed')),
  };
}
