import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

/** Bytes: a new database fits, and hundreds of animals. */
const SIZE = 2 * 1_048_576;

interface SmallDisk {
  readonly folder: string;
  /** Leaves no room at all. */
  readonly fill: () => void;
  /** Makes the disk eight times as large. */
  readonly grow: () => void;
}

/**
 * A disk of 2 MiB. Where mounting is not permitted, no file of this process may grow beyond 2 MiB instead: to a
 * program that writes one file, the one looks like the other.
 */
export function smallDisk(t: TestContext): SmallDisk {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-disk-'));
  const remove = () => rmSync(folder, { recursive: true });
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'petstore-test', folder], { stdio: 'pipe' });
  } catch {
    t.diagnostic('Mounting is not permitted here: the size of files is limited, not the disk.');
    const limitFiles = (bytes: number | string) =>
      execFileSync('prlimit', ['--pid', `${process.pid}`, `--fsize=${bytes}:`]);
    limitFiles(SIZE);
    t.after(() => {
      limitFiles('unlimited');
      remove();
    });
    return { folder, fill: () => limitFiles(0), grow: () => limitFiles(8 * SIZE) };
  }
  // By the signal, which comes behind all hooks: a service that is stopped in one still writes to its file.
  t.signal.addEventListener(
    'abort',
    () => {
      execFileSync('umount', ['--lazy', folder]);
      remove();
    },
    { once: true },
  );
  const fill = () => {
    try {
      for (let n = 0; ; n++) writeFileSync(join(folder, `filler-${n}`), Buffer.alloc(4_096));
    } catch {
      // Full.
    }
  };
  return { folder, fill, grow: () => execFileSync('mount', ['-o', 'remount,size=16m', folder]) };
}
