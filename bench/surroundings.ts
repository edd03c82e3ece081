import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findPlacement, type Placement } from './placement.ts';
import { type PreparedService, prepareService } from './service.ts';
import { localStores, type Servers, sharedStores } from './stores.ts';
import { count } from './table.ts';

/** What a mode measures in: where it runs, and stores of which nothing is left afterwards. */
export interface Surroundings extends AsyncDisposable {
  readonly place: Placement;
  readonly signal: AbortSignal;
  /** What makes the figures doubtful; it grows. */
  readonly warnings: readonly string[];
  /** A service over a catalogue of its own: on `servers`, or else in a SQLite database. */
  prepare(animals: number, servers?: Servers): Promise<PreparedService>;
}

export async function openSurroundings(signal: AbortSignal): Promise<Surroundings> {
  await using opening = new AsyncDisposableStack();
  const root = await mkdtemp(join(tmpdir(), 'petstore-bench-'));
  opening.defer(() => rm(root, { recursive: true }));
  const { place, unpinned } = findPlacement();
  const warnings = new Set(unpinned === undefined ? [] : [`Nothing is pinned to a core: ${unpinned}.`]);
  let prepared = 0;
  const resources = opening.move();
  return {
    place,
    signal,
    get warnings() {
      return [...warnings];
    },
    async prepare(animals, servers) {
      const folder = join(root, `${prepared++}`);
      await mkdir(folder);
      const stores = resources.use(
        await (servers === undefined ? localStores(folder) : sharedStores(servers)),
      );
      for (const warning of stores.warnings) warnings.add(warning);
      console.error(`Seeding ${count(animals)} animals …`);
      return prepareService(stores, { animals, folder, signal });
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}
