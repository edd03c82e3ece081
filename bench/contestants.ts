import { deepEqual } from 'node:assert/strict';
import { execPath } from 'node:process';
import { freePort } from '../test/support/servers.ts';
import type { Call } from './calls.ts';
import { type Load, writeLoad } from './load.ts';
import { startPeer } from './peers.ts';
import { type RunContext, type ServerProcess, startServer } from './processes.ts';
import { type Answer, answerOf, type BenchRequest, CREATED, kindOf, NUMBER } from './request.ts';
import type { Scenario } from './scenarios.ts';
import { type PreparedService, startService } from './service.ts';

/** Animals whose numbers the load leaves out, because the samples have changed them. */
const SAMPLES = 2;

const ANYTHING: BenchRequest = { method: 'GET', path: '/', headers: {} };

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
  await scenario.prepare?.(prepared);
  for (const request of scenario.before?.(prepared) ?? []) await answerOf(service.url, request);

  const { animals } = prepared;
  const samples = firstOfEachKind(calls);
  const answers = await answersTo(samples, service, animals);
  const bare = starting.use(await startBare(answers, context));
  const bareAnswers = await answersTo(samples, bare, animals);
  deepEqual(comparable(bareAnswers), comparable(answers), 'the bare server must give the same answers');
  const peer = withPeer ? starting.use(await startPeer(prepared.stores, context)) : undefined;
  if (peer !== undefined) await answersTo(samples, peer, animals - 1);
  const load = await writeLoad({ ...prepared, animals: animals - SAMPLES }, calls);
  const resources = starting.move();
  return { service, bare, peer, load, [Symbol.asyncDispose]: () => resources.disposeAsync() };
}

function firstOfEachKind(calls: readonly Call[]): readonly Call[] {
  const kinds = new Map(calls.toReversed().map((call) => [kindOf(call.method, call.path), call]));
  return [...kinds.values()].toReversed();
}

/** The answers to the samples by their kinds. Each must have the expected status. */
async function answersTo(
  samples: readonly Call[],
  { url }: ServerProcess,
  number: number,
): Promise<Readonly<Record<string, Answer>>> {
  const answers: Record<string, Answer> = {};
  let created = '';
  for (const sample of samples) {
    const fill = (text: string) => text.replace(NUMBER, `${number}`).replace(CREATED, created);
    const call = { ...sample, path: fill(sample.path), ...(sample.body && { body: fill(sample.body) }) };
    const answer = await answerOf(url, call);
    if (answer.status !== call.status)
      throw new Error(`${call.method} ${call.path} was answered with ${answer.status}: ${answer.body}`);
    answers[kindOf(call.method, call.path)] = answer;
    created = /"id":(\d+)/.exec(answer.body)?.[1] ?? '';
  }
  return answers;
}

/** Sorts the headers, because Node.js sends a length that it counts itself after the other headers. */
function comparable(answers: Readonly<Record<string, Answer>>): object {
  const sorted = ({ headers, ...rest }: Answer) => {
    const fields = headers.flatMap((name, index) =>
      index % 2 === 0 ? [`${name}: ${headers[index + 1]}`] : [],
    );
    return { ...rest, fields: fields.toSorted() };
  };
  return Object.fromEntries(Object.entries(answers).map(([kind, answer]) => [kind, sorted(answer)]));
}

async function startBare(
  answers: Readonly<Record<string, Answer>>,
  context: RunContext,
): Promise<ServerProcess> {
  const port = await freePort();
  return startServer(
    [execPath, BARE, `${port}`, JSON.stringify(answers)],
    { port, probe: ANYTHING },
    context,
  );
}
