import { mkdir, mkdtemp, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { count } from './figures.ts';
import { pinToCores } from './placement.ts';
import type { RunContext } from './processes.ts';
import { type PreparedService, prepareService } from './service.ts';
import { sqliteStores, startSharedServers } from './stores.ts';

/** The type that `statfs` reports for a folder in memory. */
const TMPFS = 0x0102_1994;

/** Where a mode measures. Disposing of it removes everything that it created. */
export interface BenchContext extends RunContext, AsyncDisposable {
  /** Reasons to doubt the figures. */
  readonly warnings: readonly string[];
  /** Prepares a service with its own catalogue. */
  prepare(animals: number): Promise<PreparedService>;
}

export async function openContext(signal: AbortSignal, scale = false): Promise<BenchContext> {
  await using opening = new AsyncDisposableStack();
  const root = await mkdtemp(join(tmpdir(), 'petstore-bench-'));
  opening.defer(() => rm(root, { recursive: true }));
  // They start before this process is pinned, because they inherit its cores.
  const shared = scale ? opening.use(await startSharedServers()) : undefined;
  const { place, unpinned } = pinToCores();
  const warnings = unpinned === undefined ? [] : [`Nothing is pinned to a core: ${unpinned}.`];
  if ((await statfs(root)).type === TMPFS) {
    warnings.push(
      `${tmpdir()} is in memory, so create is not synced to a disk. Set TMPDIR to a folder on one.`,
    );
  }
  let prepared = 0;
  const resources = opening.move();
  return {
    place,
    signal,
    warnings,
    async prepare(animals) {
      const name = `bench${prepared++}`;
      const folder = join(root, name);
      await mkdir(folder);
      console.error(`Seeding ${count(animals)} animals …`);
      const stores = (await shared?.stores(name)) ?? sqliteStores(folder);
      return prepareService(stores, { animals, folder }, signal);
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}
