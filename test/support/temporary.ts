import { existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Lifetime } from './lifetime.ts';

/** A folder in memory where the system has one (Linux). */
export const MEMORY = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

/** Bytes, more than the tests that run at once write. A container often has only 64 MiB in memory. */
const ROOM = 2 * 1024 ** 3;

/** Where tests keep their databases: in memory if it has room, because thousands of commits wait for a busy disk. */
export const TEMPORARY = roomIn(MEMORY) >= ROOM ? MEMORY : tmpdir();

function roomIn(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

/**
 * The path of an empty folder that is removed when the test is over: by its signal, which comes after all hooks, because a
 * service that is stopped in a hook still writes.
 */
export function temporaryFolder({ signal }: Pick<Lifetime, 'signal'>): string {
  const folder = mkdtempSync(join(TEMPORARY, 'petstore-'));
  signal.addEventListener('abort', () => rmSync(folder, { recursive: true, force: true }), { once: true });
  return folder;
}
