import { deepEqual } from 'node:assert/strict';
import { execPath } from 'node:process';
import type { Call } from './calls.ts';
import { type Run, writeRequests } from './load.ts';
import { type Peer, type RunningPeer, startPeer } from './peers.ts';
import type { Placement } from './placement.ts';
import { freePort, type Launch, type ServerProcess, startServer } from './processes.ts';
import { type Answer, answerOf, NUMBER, withNumber } from './request.ts';
import type { Scenario } from './scenarios.ts';
import { type PreparedService, startService } from './service.ts';

const BARE = new URL('bare.ts', import.meta.url).pathname;

/** What is measured in one scenario: each runs, and has given the answer that it should. */
export interface Contestants extends AsyncDisposable {
  readonly service: ServerProcess;
  /** Gives the service's answers with no work at all. */
  readonly bare: ServerProcess;
  readonly peers: readonly RunningPeer[];
  /** The requests, and how they are sent. */
  readonly file: string;
  readonly sending: Omit<Run, 'seconds'>;
}

/** Starts everything anew for a scenario, so that none depends on what was measured before. */
export async function startContestants(
  scenario: Scenario,
  prepared: PreparedService,
  peers: readonly Peer[],
  launch: Launch & { place: Placement },
): Promise<Contestants> {
  const { animals, folder } = prepared;
  const requests = scenario.requests(prepared);
  await using starting = new AsyncDisposableStack();
  const service = starting.use(await startService(prepared, launch, scenario));
  for (const request of scenario.before?.(prepared) ?? []) await answerOf(service.url, request);

  const samples = firstOfEachMethod(requests).map((request) => withNumber(request, animals));
  const answers: Record<string, Answer> = {};
  for (const sample of samples) answers[sample.method] = await expectedAnswer(service, sample);
  const bare = starting.use(await startBare(answers, samples, launch));
  for (const sample of samples) {
    const { [sample.method]: expected } = answers;
    const same = await answerOf(bare.url, sample);
    deepEqual(comparable(same), comparable(expected), 'the bare server must give the same answer');
  }
  const running: RunningPeer[] = [];
  for (const peer of peers) {
    const started = await startPeer(peer, launch);
    starting.use(started.server);
    for (const sample of samples) await expectedAnswer(started.server, sample);
    running.push(started);
  }
  const { place, signal } = launch;
  const file = await writeRequests(folder, requests, new URL(service.url).host);
  const statuses = [...new Set(requests.map(({ status }) => status))];
  const numbers = requests[0]?.path.includes(NUMBER) === true ? animals : undefined;
  const sending = { place, signal, statuses, numbers };
  const resources = starting.move();
  return {
    service,
    bare,
    peers: running,
    file,
    sending,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

function firstOfEachMethod(requests: readonly Call[]): Call[] {
  const first = new Map<string, Call>();
  for (const request of requests) if (!first.has(request.method)) first.set(request.method, request);
  return [...first.values()];
}

/** With its header fields in a fixed order: Node.js puts a length that it counts itself behind its own fields. */
function comparable(answer: Answer | undefined): object | undefined {
  const fields = answer?.headers.flatMap((name, index, all) =>
    index % 2 === 0 ? [`${name}: ${all[index + 1]}`] : [],
  );
  return answer && { ...answer, headers: fields?.toSorted() };
}

async function expectedAnswer({ url }: ServerProcess, request: Call): Promise<Answer> {
  const answer = await answerOf(url, request);
  if (answer.status === request.status) return answer;
  throw new Error(`${request.method} ${request.path} was answered with ${answer.status}: ${answer.body}`);
}

async function startBare(
  answers: Readonly<Record<string, Answer>>,
  [probe]: readonly Call[],
  { place, signal }: Launch & { place: Placement },
): Promise<ServerProcess> {
  if (probe === undefined) throw new Error('A scenario has no request.');
  const port = await freePort();
  const command = [execPath, BARE, `${port}`, JSON.stringify(answers)];
  return startServer(place('server', command), { port, probe, signal });
}
