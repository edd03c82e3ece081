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

/** Beside idle connections and without any. */
interface Round {
  readonly without: Measurement;
  readonly beside: Measurement;
  /** While the connections idle. */
  readonly memory: Memory;
}

/** What idle keep-alive connections take of memory, and of the throughput of the others. */
export async function connections(options: Options, signal: AbortSignal): Promise<Outcome> {
  const { animals, rounds, seconds, warmUp } = options;
  await using around = await openSurroundings(signal);
  const prepared = await around.prepare(animals);
  await using server = await startInspected(prepared, around);
  const file = await writeRequests(prepared.folder, [list(prepared.key)], new URL(server.url).host);
  await measure(server, file, { seconds: warmUp, place: around.place, signal });
  const before = await server.memory(signal);
  const measured: Round[] = [];
  for (let round = 0; round < rounds; round++) {
    console.error(`Round ${round + 1} …`);
    measured.push(await measureRound(around, { prepared, server, file, seconds, round }));
  }
  const after = await server.memory(signal);
  const more = spread(measured.map(({ memory }) => memory.resident - before.resident));
  const throughput = spread(
    measured.map(({ without, beside }) => beside.requestsPerSecond / without.requestsPerSecond),
  );
  const cpu = spread(measured.map(({ without, beside }) => cpuTime(beside) / cpuTime(without)));
  const verdicts = [
    verdict(`MiB that ${count(CONNECTIONS)} connections take`, atMost, GOALS.connections.memory, more.median),
    verdict('list: throughput beside them', atLeast, GOALS.connections.throughput, throughput.median),
  ];
  return {
    result: { connections: CONNECTIONS, before, rounds: measured, after, more, throughput, cpu, verdicts },
    text: [
      settingLine(options),
      table(measured, before, after),
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
  readonly round: number;
}

async function measureRound(
  around: Surroundings,
  { prepared, server, file, seconds, round }: Measured,
): Promise<Round> {
  const { place, signal } = around;
  const load = () => measure(server, file, { seconds, place, signal });
  const without = await load();
  // Another address each time: the ports of the last one are not free yet.
  const from = `127.0.0.${2 + (round % 250)}`;
  const idle = await openIdle(server.url, { ...list(prepared.key), ...HEAD }, { count: CONNECTIONS, from });
  try {
    const memory = await server.memory(signal);
    const beside = await load();
    if (idle.lost() > 0) throw new Error(`The service closed ${idle.lost()} idle connections.`);
    return { without, beside, memory };
  } finally {
    idle.close();
    await delay(CLOSING);
  }
}

function table(rounds: readonly Round[], before: Memory, after: Memory): string {
  const line = (name: string, memory: Memory, loads: readonly Measurement[]) => [
    name,
    memory.resident.toFixed(0),
    ...(loads.length === 0
      ? ['', '']
      : [
          count(median(loads.map(({ requestsPerSecond }) => requestsPerSecond))),
          median(loads.map(({ p99 }) => p99)).toFixed(2),
        ]),
  ];
  const beside: Memory = {
    resident: median(rounds.map(({ memory }) => memory.resident)),
    anonymous: median(rounds.map(({ memory }) => memory.anonymous)),
  };
  return aligned([
    ['idle connections', 'MiB resident', 'list req/s', 'p99 ms'],
    line(
      'none yet',
      before,
      rounds.map(({ without }) => without),
    ),
    line(
      count(CONNECTIONS),
      beside,
      rounds.map((round) => round.beside),
    ),
    line('none any more', after, []),
  ]);
}
