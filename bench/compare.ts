import { deepEqual } from 'node:assert/strict';
import { execPath } from 'node:process';
import { measure, writeRequests } from './load.ts';
import type { Placement } from './placement.ts';
import { freePort, type Launch, startServer } from './processes.ts';
import type { Result } from './report.ts';
import { answerOf } from './request.ts';
import type { Scenario } from './scenarios.ts';
import type { MeasuredService } from './service.ts';

const BARE = new URL('bare.ts', import.meta.url).pathname;

/** How long each server runs before it counts, in seconds: its code is compiled by then. */
const WARM_UP = 2;

export interface Comparison extends Launch {
  readonly place: Placement;
  /** For files that are needed meanwhile. */
  readonly folder: string;
  readonly animals: number;
  readonly rounds: number;
  readonly seconds: number;
}

/** Measures one scenario at the service and at a bare server that gives the same answer, turn by turn. */
export async function compare(
  scenario: Scenario,
  { server, key }: MeasuredService,
  { place, folder, animals, rounds, seconds, signal }: Comparison,
): Promise<Result> {
  const requests = scenario.requests({ key, animals });
  const [first] = requests;
  if (first === undefined) throw new Error(`The scenario ${scenario.name} has no request.`);
  const answer = await answerOf(server.url, first);
  if (answer.status !== scenario.status) {
    throw new Error(`${scenario.name} was answered with ${answer.status}: ${answer.body}`);
  }
  const port = await freePort();
  await using bare = await startServer(place('server', [execPath, BARE, `${port}`, JSON.stringify(answer)]), {
    port,
    probe: first,
    signal,
  });
  deepEqual(await answerOf(bare.url, first), answer, 'the bare server must give the same answer');

  const file = await writeRequests(folder, requests, new URL(server.url).host);
  const run = (target: typeof bare, length: number) =>
    measure(target, file, { seconds: length, place, signal });
  await run(bare, WARM_UP);
  await run(server, WARM_UP);
  const measured: Result['rounds'][number][] = [];
  for (let round = 0; round < rounds; round++) {
    measured.push({ bare: await run(bare, seconds), service: await run(server, seconds) });
  }
  return { name: scenario.name, rounds: measured };
}
