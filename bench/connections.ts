import { setTimeout as delay } from 'node:timers/promises';
import { list } from './calls.ts';
import { openContext } from './context.ts';
import { count, median, ranged, spread, table } from './figures.ts';
import { atLeast, GOALS, under, verdict, verdictTable } from './goals.ts';
import { openIdle } from './idle-connections.ts';
import { startInspected } from './inspector.ts';
import { measure, type Measurement, writeLoad } from './load.ts';
import type { Options } from './options.ts';
import { heading, type Outcome } from './results.ts';

const CONNECTIONS = 10_000;

/** Milliseconds until the server knows that its clients have closed the connections. */
const CLOSING = 2_000;

/** Memory in MiB, and then the load. */
interface State {
  readonly memory: number;
  readonly load: Measurement;
}

interface Round {
  readonly without: State;
  readonly beside: State;
}

/** Measures the memory of idle keep-alive connections, and the throughput of other connections beside them. */
export async function connections(options: Options, signal: AbortSignal): Promise<Outcome> {
  const { animals, rounds, seconds, warmUp } = options;
  await using context = await openContext(signal);
  const prepared = await context.prepare(animals);
  const env = { ...prepared.env, MAX_CONNECTIONS_PER_ADDRESS: `${2 * CONNECTIONS}` };
  await using server = await startInspected({ ...prepared, env }, context);
  const load = await writeLoad(prepared, [list(prepared.key)]);
  const state = async (): Promise<State> => {
    const memory = await server.usedMemory();
    // The garbage collection dropped compiled code as well.
    await measure(server, load, warmUp, context);
    return { memory, load: await measure(server, load, seconds, context) };
  };
  // The end of the headers is the end of the answer, because HEAD has no body.
  const request = { ...list(prepared.key), method: 'HEAD' } as const;
  const measureRound = async (round: number): Promise<Round> => {
    console.error(`Round ${round + 1} …`);
    const without = await state();
    // Each round uses another address, because the ports of the last one are not free yet.
    const from = `127.0.0.${2 + (round % 250)}`;
    using idle = await openIdle(server.url, request, { count: CONNECTIONS, from });
    const beside = await state();
    const closed = idle.closedByServer();
    if (closed > 0) throw new Error(`The service closed ${closed} idle connections.`);
    return { without, beside };
  };
  await measure(server, load, warmUp, context);
  const measured: Round[] = [];
  while (measured.length < rounds) {
    measured.push(await measureRound(measured.length));
    await delay(CLOSING, undefined, { signal });
  }
  // Compared with the state before the first round: the service keeps much of the memory of closed connections.
  const before = measured[0]?.without.memory ?? Number.NaN;
  const more = spread(measured.map(({ beside }) => beside.memory - before));
  const throughput = spread(
    measured.map(({ without, beside }) => beside.load.requestsPerSecond / without.load.requestsPerSecond),
  );
  const verdicts = [
    verdict(`MiB that ${count(CONNECTIONS)} connections take`, under, GOALS.connections.memory, more.median),
    verdict('list: throughput beside them', atLeast, GOALS.connections.throughput, throughput.median),
  ];
  const lines = (['without', 'beside'] as const).map((each) => {
    const states = measured.map((round) => round[each]);
    return [
      each === 'without' ? 'none' : count(CONNECTIONS),
      count(median(states.map(({ memory }) => memory))),
      count(median(states.map(({ load: { requestsPerSecond } }) => requestsPerSecond))),
      each === 'without' ? '' : ranged(throughput),
    ];
  });
  const head = ['idle connections', 'MiB resident', 'list req/s', 'ratio (range)'];
  return {
    result: { connections: CONNECTIONS, rounds: measured, more, throughput, verdicts },
    text: [heading(options), table([head, ...lines]), verdictTable(verdicts)].join('\n\n'),
    warnings: context.warnings,
  };
}
