import { compare } from './compare.ts';
import type { Options } from './options.ts';
import { localPeers, type Peer, scalePeers } from './peers.ts';
import { type Row, rowOf } from './rows.ts';
import type { Scenario } from './scenarios.ts';
import type { PreparedService } from './service.ts';
import type { Stores } from './stores.ts';
import { openSurroundings, type Surroundings } from './surroundings.ts';

/** Filled stores on which scenarios are measured one after the other. Nothing is left of it afterwards. */
export interface Session extends AsyncDisposable {
  readonly around: Surroundings;
  readonly prepared: PreparedService;
  measure(scenario: Scenario): Promise<Row>;
}

export async function openSession(options: Options, signal: AbortSignal): Promise<Session> {
  const { animals, rounds, seconds, warmUp, scale, servers } = options;
  const isSmoke = options.mode === 'smoke';
  await using opening = new AsyncDisposableStack();
  const around = opening.use(await openSurroundings(signal));
  const prepared = await around.prepare(animals, scale ? servers : undefined);
  const comparison = { place: around.place, signal, rounds, seconds, warmUp, paced: !scale && !isSmoke };
  const resources = opening.move();
  return {
    around,
    prepared,
    async measure(scenario) {
      console.error(`Measuring ${scenario.name} …`);
      const peers = isSmoke ? [] : peersOf(scenario, prepared.stores);
      const result = await compare(scenario, prepared, peers, comparison);
      return rowOf(result, scale ? (scenario.scaleGoals ?? {}) : scenario.goals);
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

function peersOf({ goals, scaleGoals }: Scenario, { databaseUrl, redisUrl }: Stores): readonly Peer[] {
  if (redisUrl !== undefined) return scaleGoals === undefined ? [] : scalePeers(databaseUrl, redisUrl);
  return goals.timesBest === undefined ? [] : localPeers(databaseUrl.slice('sqlite:'.length));
}
