import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Measurement, measure } from './load.ts';
import { findPlacement, type Placement } from './placement.ts';
import type { ServerProcess } from './processes.ts';
import { type PreparedService, prepareService } from './service.ts';
import { localStores } from './stores.ts';
import { count } from './table.ts';

/** A service over a SQLite database of its own, before it starts. */
export interface LocalService extends PreparedService {
  readonly animals: number;
  /** Its database file lies in it, and files that are needed meanwhile can. */
  readonly folder: string;
  readonly database: string;
}

/** What a mode measures in: services, where they run, and a folder that is removed with all that is in it. */
export interface Surroundings extends AsyncDisposable {
  readonly place: Placement;
  readonly signal: AbortSignal;
  readonly warnings: string[];
  prepare(animals: number): Promise<LocalService>;
  /** Full load with the requests of a file. */
  load(server: ServerProcess, file: string, seconds: number): Promise<Measurement>;
}

export async function surroundings(signal: AbortSignal): Promise<Surroundings> {
  const root = await mkdtemp(join(tmpdir(), 'petstore-bench-'));
  const { place, unpinned } = findPlacement();
  const warnings = unpinned === undefined ? [] : [`Nothing is pinned to a core: ${unpinned}.`];
  let prepared = 0;
  return {
    place,
    signal,
    warnings,
    async prepare(animals) {
      console.error(`Seeding ${count(animals)} animals …`);
      const folder = join(root, `${prepared++}`);
      await mkdir(folder);
      const stores = await localStores(folder);
      warnings.push(...stores.warnings.filter((warning) => !warnings.includes(warning)));
      const service = await prepareService({ DATABASE_URL: stores.databaseUrl }, animals, signal);
      return { ...service, animals, folder, database: stores.databaseUrl.slice('sqlite:'.length) };
    },
    load: (server, file, seconds) => measure(server, file, { seconds, place, signal }),
    [Symbol.asyncDispose]: () => rm(root, { recursive: true }),
  };
}

/** Processor time that a request takes of the server, in seconds: it hangs less on what else the machine does. */
export function cpuPerRequest({ serverCpu, requestsPerSecond }: Measurement): number {
  return serverCpu / requestsPerSecond;
}
