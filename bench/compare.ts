import { type Contestants, startContestants } from './contestants.ts';
import { median } from './figures.ts';
import { type Latencies, measure, measurePaced } from './load.ts';
import type { RunContext, ServerProcess } from './processes.ts';
import { measureRounds, type Round } from './rounds.ts';
import type { Scenario } from './scenarios.ts';
import type { PreparedService } from './service.ts';

/** The steady rate, as a share of the service's highest throughput. */
const PACE = 0.7;

/** Seconds at the steady rate that do not count, because V8 compiles much of the code for it again. */
const PACED_WARM_UP = 10;

interface Comparison extends RunContext {
  readonly rounds: number;
  /** Length of each measurement. */
  readonly seconds: number;
  /** Seconds of load that do not count, while V8 compiles the code. */
  readonly warmUp: number;
  /** Whether to measure latencies at a steady rate in scenarios with a goal for them. */
  readonly paced: boolean;
}

export interface Paced {
  /** Requests per second. */
  readonly rate: number;
  readonly rounds: readonly { readonly bare: Latencies; readonly service: Latencies }[];
}

/** The measurements of one scenario. */
export interface Result {
  readonly scenario: Scenario;
  readonly rounds: readonly Round[];
  readonly paced: Paced | undefined;
}

/** Measures one scenario on the bare server, the service and the peer if it takes part, in turn. */
export async function compare(
  scenario: Scenario,
  prepared: PreparedService,
  withPeer: boolean,
  comparison: Comparison,
): Promise<Result> {
  const { rounds, seconds, warmUp, paced } = comparison;
  await using contestants = await startContestants(scenario, prepared, withPeer, comparison);
  const { bare, service, peer, load } = contestants;
  // The bare server must not use up the numbers of animals that can be changed only once.
  const bareLoad = { ...load };
  const run = (server: ServerProcess, length: number) =>
    measure(server, server === bare ? bareLoad : load, length, comparison);
  for (const server of [bare, service, peer]) if (server !== undefined) await run(server, warmUp);
  const counter = scenario.logged === true ? () => service.lines() : scenario.scaleGoals && prepared.counted;
  const measured = await measureRounds(rounds, async () => {
    const ofBare = await run(bare, seconds);
    const before = await counter?.();
    const ofService = await run(service, seconds);
    const after = await counter?.();
    const ofPeer = peer && (await run(peer, seconds));
    const counted = before !== undefined && after !== undefined ? (after - before) / ofService.requests : 1;
    return { bare: ofBare, service: ofService, peer: ofPeer, counted };
  });
  const isPaced = paced && scenario.goals.p99 !== undefined;
  return {
    scenario,
    rounds: measured,
    paced: isPaced ? await measureAtPace(contestants, measured, comparison) : undefined,
  };
}

async function measureAtPace(
  { bare, service, peer, load }: Contestants,
  measured: readonly Round[],
  comparison: Comparison,
): Promise<Paced> {
  // Even an idle process has timers and garbage collections that delay the others on its core.
  await peer?.[Symbol.asyncDispose]();
  const rate = Math.round(PACE * median(measured.map((round) => round.service.requestsPerSecond)));
  const run = (server: ServerProcess, seconds: number) =>
    measurePaced(server, load, { rate, seconds }, comparison);
  for (const server of [bare, service]) await run(server, PACED_WARM_UP);
  const rounds: Paced['rounds'][number][] = [];
  while (rounds.length < comparison.rounds) {
    rounds.push({
      bare: await run(bare, comparison.seconds),
      service: await run(service, comparison.seconds),
    });
  }
  return { rate, rounds };
}
