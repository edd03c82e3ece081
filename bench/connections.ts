import { setTimeout as delay } from 'node:timers/promises';
import { list } from './calls.ts';
import { openIdle } from './connections-idle.ts';
import { atLeast, atMost, GOALS, verdict, verdictTable } from './goals.ts';
import { type InspectedService, type Memory, startInspected } from './inspected.ts';
import { cpuTime, measure, type Measurement, writeRequests } from './load.ts';
import type { Outcome } from './modes.ts';
import type { Options } from './options.ts';
import type { PreparedService } from './service.ts';
import { settingLine } from './setting.ts';
import { median, spread } from './statistics.ts';
import { openSurroundings, type Surroundings } from './surroundings.ts';
import { aligned, count, ranged } from './table.ts';

const CONNECTIONS = 10_000;

/** Without a body, so that the end of the headers is the end of the answer. */
const HEAD = { method: 'HEAD' } as const;

/** How long the server takes to see that connections were closed, in milliseconds. */
const CLOSING = 2_000;

/** Without idle connections and beside them: each time weighed first, which both loads come after alike. */
interface Round {
  readonly without: Weighed;
  readonly beside: Weighed;
}

interface Weighed {
  readonly memory: Memory;
  readonly load: Measurement;
}

/** What idle keep-alive connections take of memory, and of the throughput of the others. */
export async function connections(options: Options, signal: AbortSignal): Promise<Outcome> {
  const { animals, rounds, seconds, warmUp } = options;
  await using around = await openSurroundings(signal);
  const prepared = await around.prepare(animals);
  await using server = await startInspected(prepared, around);
  const file = await writeRequests(prepared.folder, [list(prepared.key)], new URL(server.url).host);
  await measure(server, file, { seconds: warmUp, place: around.place, signal });
  const measured: Round[] = [];
  for (let round = 0; round < rounds; round++) {
    console.error(`Round ${round + 1} …`);
    measured.push(await measureRound(around, { prepared, server, file, seconds, warmUp, round }));
  }
  const after = await server.memory(signal);
  const ratioOf = (figure: (load: Measurement) => number) =>
    spread(measured.map(({ without, beside }) => figure(beside.load) / figure(without.load)));
  // Beside what there was before the first of them: of what they took, much is kept for the next ones.
  const resident = measured[0]?.without.memory.resident ?? Number.NaN;
  const more = spread(measured.map(({ beside }) => beside.memory.resident - resident));
  const throughput = ratioOf(({ requestsPerSecond }) => requestsPerSecond);
  const cpu = ratioOf(cpuTime);
  const verdicts = [
    verdict(`MiB that ${count(CONNECTIONS)} connections take`, atMost, GOALS.connections.memory, more.median),
    verdict('list: throughput beside them', atLeast, GOALS.connections.throughput, throughput.median),
  ];
  return {
    result: { connections: CONNECTIONS, rounds: measured, after, more, throughput, cpu, verdicts },
    text: [
      settingLine(options),
      table(measured, after),
      `throughput  ${ranged(throughput)}\nCPU a request  ${ranged(cpu)}`,
      verdictTable(verdicts),
    ].join('\n\n'),
    warnings: around.warnings,
  };
}

interface Measured {
  readonly prepared: PreparedService;
  readonly server: InspectedService;
  readonly file: string;
  readonly seconds: number;
  readonly warmUp: number;
  readonly round: number;
}

async function measureRound(
  around: Surroundings,
  { prepared, server, file, seconds, warmUp, round }: Measured,
): Promise<Round> {
  const { place, signal } = around;
  const load = (length: number) => measure(server, file, { seconds: length, place, signal });
  const weighAndLoad = async (): Promise<Weighed> => {
    const memory = await server.memory(signal);
    // With the garbage, compiled code was collected.
    await load(warmUp);
    return { memory, load: await load(seconds) };
  };
  const without = await weighAndLoad();
  // Another address each time: the ports of the last one are not free yet.
  const from = `127.0.0.${2 + (round % 250)}`;
  const idle = await openIdle(server.url, { ...list(prepared.key), ...HEAD }, { count: CONNECTIONS, from });
  try {
    const beside = await weighAndLoad();
    if (idle.lost() > 0) throw new Error(`The service closed ${idle.lost()} idle connections.`);
    return { without, beside };
  } finally {
    idle.close();
    await delay(CLOSING);
  }
}

function table(measured: readonly Round[], after: Memory): string {
  const line = (name: string, rounds: readonly Weighed[]) => [
    name,
    median(rounds.map(({ memory }) => memory.resident)).toFixed(0),
    count(median(rounds.map(({ load }) => load.requestsPerSecond))),
    median(rounds.map(({ load }) => load.p99)).toFixed(2),
  ];
  return aligned([
    ['idle connections', 'MiB resident', 'list req/s', 'p99 ms'],
    line(
      'none',
      measured.map(({ without }) => without),
    ),
    line(
      count(CONNECTIONS),
      measured.map(({ beside }) => beside),
    ),
    ['none any more', after.resident.toFixed(0), '', ''],
  ]);
}
