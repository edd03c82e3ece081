import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compare } from './compare.ts';
import type { Options } from './options.ts';
import { localPeers, type Peer, scalePeers } from './peers.ts';
import { findPlacement, type Placement } from './placement.ts';
import { type Row, rowOf } from './rows.ts';
import type { Scenario } from './scenarios.ts';
import { type PreparedService, prepareService } from './service.ts';
import { localStores, sharedStores, type Stores } from './stores.ts';
import { count } from './table.ts';

/** Filled stores on which scenarios are measured one after the other. Nothing is left of it afterwards. */
export interface Session extends AsyncDisposable {
  readonly place: Placement;
  readonly prepared: PreparedService;
  /** What the data is kept in. */
  readonly description: string;
  readonly warnings: readonly string[];
  measure(scenario: Scenario): Promise<Row>;
}

export async function openSession(options: Options, signal: AbortSignal): Promise<Session> {
  const { animals, rounds, seconds, warmUp, servers } = options;
  const atScale = options.scale;
  const isSmoke = options.mode === 'smoke';
  await using opening = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'petstore-bench-'));
  opening.defer(() => rm(folder, { recursive: true }));
  const { place, unpinned } = findPlacement();
  const stores = opening.use(await (atScale ? sharedStores(servers) : localStores(folder)));
  console.error(`Seeding ${count(animals)} animals …`);
  const { databaseUrl, redisUrl } = stores;
  const addresses = { DATABASE_URL: databaseUrl, ...(redisUrl !== undefined && { REDIS_URL: redisUrl }) };
  const prepared = await prepareService(addresses, animals, signal);
  await stores.settle(signal);
  const comparison = { place, signal, folder, animals, rounds, seconds, warmUp, paced: !atScale && !isSmoke };
  const resources = opening.move();
  return {
    place,
    prepared,
    description: stores.description,
    warnings: [
      ...stores.warnings,
      ...(unpinned === undefined ? [] : [`Nothing is pinned to a core: ${unpinned}.`]),
    ],
    async measure(scenario) {
      console.error(`Measuring ${scenario.name} …`);
      const peers = isSmoke ? [] : peersOf(scenario, stores);
      const result = await compare(scenario, prepared, peers, comparison);
      return rowOf(result, atScale ? (scenario.scaleGoals ?? {}) : scenario.goals);
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

function peersOf({ goals }: Scenario, { databaseUrl, redisUrl }: Stores): readonly Peer[] {
  if (redisUrl !== undefined) return scalePeers(databaseUrl, redisUrl);
  return goals.timesBest === undefined ? [] : localPeers(databaseUrl.slice('sqlite:'.length));
}
