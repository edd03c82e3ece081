import { deepEqual } from 'node:assert/strict';
import { execPath } from 'node:process';
import { freePort } from '../test/support/servers.ts';
import type { Call } from './calls.ts';
import { type Load, writeLoad } from './load.ts';
import { startPeer } from './peers.ts';
import { type RunContext, type ServerProcess, startServer } from './processes.ts';
import { type Answer, answerOf, NUMBER } from './request.ts';
import type { Scenario } from './scenarios.ts';
import { type PreparedService, startService } from './service.ts';

const BARE = new URL('bare.ts', import.meta.url).pathname;

/** The servers of one scenario. Each runs and has given the expected answers. */
export interface Contestants extends AsyncDisposable {
  readonly service: ServerProcess;
  /** Sends the answers of the service and does no work. */
  readonly bare: ServerProcess;
  readonly peer: ServerProcess | undefined;
  readonly load: Load;
}

/** Starts all servers again for a scenario, so that it does not depend on earlier scenarios. */
export async function startContestants(
  scenario: Scenario,
  prepared: PreparedService,
  withPeer: boolean,
  context: RunContext,
): Promise<Contestants> {
  const calls = scenario.requests(prepared);
  await using starting = new AsyncDisposableStack();
  const service = starting.use(await startService(prepared, context, scenario));
  for (const request of scenario.before?.(prepared) ?? []) await answerOf(service.url, request);

  const samples = firstOfEachMethod(calls).map((call) => withNumber(call, prepared.animals));
  const answers: Record<string, Answer> = {};
  for (const sample of samples) answers[sample.method] = await expectedAnswer(service, sample);
  const bare = starting.use(await startBare(answers, samples, context));
  for (const sample of samples) {
    const answer = await answerOf(bare.url, sample);
    const { [sample.method]: expected } = answers;
    deepEqual(comparable(answer), comparable(expected), 'the bare server must give the same answer');
  }
  const peer = withPeer ? starting.use(await startPeer(prepared.stores, context)) : undefined;
  if (peer !== undefined) for (const sample of samples) await expectedAnswer(peer, sample);
  const load = await writeLoad(prepared, calls);
  const resources = starting.move();
  return { service, bare, peer, load, [Symbol.asyncDispose]: () => resources.disposeAsync() };
}

function firstOfEachMethod(calls: readonly Call[]): readonly Call[] {
  return ['GET', 'POST'].flatMap((name) => calls.find(({ method }) => method === name) ?? []);
}

function withNumber(call: Call, number: number): Call {
  return { ...call, path: call.path.replace(NUMBER, `${number}`) };
}

/** Sorts the headers, because Node.js sends a length that it counts itself after the other headers. */
function comparable(answer: Answer | undefined): object | undefined {
  const fields = answer?.headers.flatMap((name, index, all) =>
    index % 2 === 0 ? [`${name}: ${all[index + 1]}`] : [],
  );
  return answer && { ...answer, headers: fields?.toSorted() };
}

async function expectedAnswer({ url }: ServerProcess, call: Call): Promise<Answer> {
  const answer = await answerOf(url, call);
  if (answer.status === call.status) return answer;
  throw new Error(`${call.method} ${call.path} was answered with ${answer.status}: ${answer.body}`);
}

async function startBare(
  answers: Readonly<Record<string, Answer>>,
  [probe]: readonly Call[],
  context: RunContext,
): Promise<ServerProcess> {
  if (probe === undefined) throw new Error('A scenario has no request.');
  const port = await freePort();
  return startServer([execPath, BARE, `${port}`, JSON.stringify(answers)], { port, probe }, context);
}
