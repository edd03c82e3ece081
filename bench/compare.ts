import { deepEqual } from 'node:assert/strict';
import { execPath } from 'node:process';
import { type Measurement, measure, writeRequests } from './load.ts';
import type { Placement } from './placement.ts';
import { freePort, type Launch, type ServerProcess, startServer } from './processes.ts';
import type { Result, Round } from './report.ts';
import { answerOf } from './request.ts';
import type { Scenario } from './scenarios.ts';

const BARE = new URL('bare.ts', import.meta.url).pathname;

/** How long each server runs before it counts, in seconds: its code is compiled by then. */
const WARM_UP = 2;

/** What is measured beside the bare server. */
export interface Contestants {
  readonly service: ServerProcess;
  /** What a user would build instead, over the same stores. */
  readonly peer: ServerProcess | undefined;
  /** Valid at both. */
  readonly key: string;
  /** How many requests of the key the service has counted in Redis; undefined: it has none. */
  readonly counted: (() => Promise<number>) | undefined;
}

export interface Comparison extends Launch {
  readonly place: Placement;
  /** For files that are needed meanwhile. */
  readonly folder: string;
  readonly animals: number;
  readonly rounds: number;
  readonly seconds: number;
}

/** Measures one scenario at the contestants and at a bare server that gives the service's answer, turn by turn. */
export async function compare(
  scenario: Scenario,
  { service, peer, key, counted }: Contestants,
  { place, folder, animals, rounds, seconds, signal }: Comparison,
): Promise<Result> {
  const requests = scenario.requests({ key, animals });
  const [first] = requests;
  if (first === undefined) throw new Error(`The scenario ${scenario.name} has no request.`);
  const answer = await answerOf(service.url, first);
  for (const { status, body } of [answer, peer && (await answerOf(peer.url, first))].filter(isDefined)) {
    if (status !== scenario.status) throw new Error(`${scenario.name} was answered with ${status}: ${body}`);
  }
  const port = await freePort();
  await using bare = await startServer(place('server', [execPath, BARE, `${port}`, JSON.stringify(answer)]), {
    port,
    probe: first,
    signal,
  });
  deepEqual(await answerOf(bare.url, first), answer, 'the bare server must give the same answer');

  const file = await writeRequests(folder, requests, new URL(service.url).host);
  const run = (target: ServerProcess, length: number): Promise<Measurement> =>
    measure(target, file, { seconds: length, place, signal });
  for (const target of [bare, service, peer].filter(isDefined)) await run(target, WARM_UP);
  const measured: Round[] = [];
  for (let round = 0; round < rounds; round++) {
    const ofBare = await run(bare, seconds);
    const before = await counted?.();
    const ofService = await run(service, seconds);
    const after = await counted?.();
    measured.push({
      bare: ofBare,
      service: ofService,
      peer: peer && (await run(peer, seconds)),
      counted: before !== undefined && after !== undefined ? (after - before) / ofService.requests : 1,
    });
  }
  return { name: scenario.name, rounds: measured };
}

function isDefined<T>(value: T | undefined): value is T {
  return value !== undefined;
}
