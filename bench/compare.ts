import { type Contestants, startContestants } from './contestants.ts';
import { type Latencies, measure, measurePaced } from './load.ts';
import type { Peer } from './peers.ts';
import type { Placement } from './placement.ts';
import type { Launch, ServerProcess } from './processes.ts';
import { measureRounds, type Round } from './rounds.ts';
import type { Scenario } from './scenarios.ts';
import type { PreparedService } from './service.ts';
import { median } from './statistics.ts';

/** Latencies are measured at this share of the service's own highest throughput. */
const PACE = 0.7;

/** Seconds at that rate that do not count: fewer requests come in each turn of the event loop, and V8 compiles much of the code anew. */
const PACED_WARM_UP = 10;

export interface Comparison extends Launch {
  readonly place: Placement;
  readonly rounds: number;
  /** Of each measurement. */
  readonly seconds: number;
  /** How long each server runs before it counts, in seconds: its code is compiled by then. */
  readonly warmUp: number;
  /** Whether latencies at a steady rate are measured where they have a goal. */
  readonly paced: boolean;
}

export interface Paced {
  /** Requests per second, to both. */
  readonly rate: number;
  readonly rounds: readonly { readonly bare: Latencies; readonly service: Latencies }[];
}

/** One scenario: the measurements of every round. */
export interface Result {
  readonly scenario: Scenario;
  readonly rounds: readonly Round[];
  readonly paced: Paced | undefined;
}

/** Measures one scenario at the service, at peers and at a bare server that gives the service's answers, in turns. */
export async function compare(
  scenario: Scenario,
  prepared: PreparedService,
  peers: readonly Peer[],
  comparison: Comparison,
): Promise<Result> {
  const { rounds, seconds, warmUp, paced } = comparison;
  await using contestants = await startContestants(scenario, prepared, peers, comparison);
  const { bare, service, file, sending } = contestants;
  const run = (server: ServerProcess, length: number) =>
    measure(server, file, { ...sending, seconds: length });
  const servers = [bare, service, ...contestants.peers.map(({ server }) => server)];
  for (const server of servers) await run(server, warmUp);
  const count = counter(scenario, contestants, prepared);
  const measured = await measureRounds(rounds, async () => {
    const ofBare = await run(bare, seconds);
    const before = await count?.();
    const ofService = await run(service, seconds);
    const after = await count?.();
    const ofPeers: Round['peers'][number][] = [];
    for (const { name, synced, server } of contestants.peers) {
      ofPeers.push({ name, synced, ...(await run(server, seconds)) });
    }
    const counted = before !== undefined && after !== undefined ? (after - before) / ofService.requests : 1;
    return { bare: ofBare, service: ofService, peers: ofPeers, counted };
  });
  const isPaced = paced && scenario.goals.p99 !== undefined;
  return {
    scenario,
    rounds: measured,
    paced: isPaced ? await measureAtPace(contestants, measured, comparison) : undefined,
  };
}

/** Tells how many requests were counted so far where they should be; undefined: this scenario has no such place. */
function counter(
  { logged = false, scaleGoals }: Scenario,
  { service }: Contestants,
  { env, counted }: PreparedService,
): (() => Promise<number>) | undefined {
  if (logged) return () => Promise.resolve(service.lines());
  return env['REDIS_URL'] !== undefined && scaleGoals !== undefined ? counted : undefined;
}

async function measureAtPace(
  { bare, service, peers, file, sending }: Contestants,
  measured: readonly Round[],
  { rounds, seconds }: Comparison,
): Promise<Paced> {
  // Idle as they are, their timers and collectors would hold up those who share their core.
  for (const { server } of peers) await server[Symbol.asyncDispose]();
  const rate = Math.round(PACE * median(measured.map((round) => round.service.requestsPerSecond)));
  const run = { ...sending, rate, seconds };
  for (const server of [bare, service]) await measurePaced(server, file, { ...run, seconds: PACED_WARM_UP });
  const turns: Paced['rounds'][number][] = [];
  for (let round = 0; round < rounds; round++) {
    turns.push({
      bare: await measurePaced(bare, file, run),
      service: await measurePaced(service, file, run),
    });
  }
  return { rate, rounds: turns };
}
