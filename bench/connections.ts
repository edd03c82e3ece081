import { list } from './calls.ts';
import { openIdle } from './connections-idle.ts';
import { type InspectedService, type Memory, startInspected } from './inspected.ts';
import { type Measurement, writeRequests } from './load.ts';
import type { Outcome } from './modes.ts';
import type { Options } from './options.ts';
import { machine, settingLine } from './setting.ts';
import { median, type Spread, spread } from './statistics.ts';
import { type LocalService, type Surroundings, surroundings } from './surroundings.ts';
import { aligned, count } from './table.ts';
import { atLeast, atMost, verdictTable } from './verdict.ts';

const CONNECTIONS = 10_000;

/** Without a body, so that the end of the headers is the end of the answer. */
const HEAD = { method: 'HEAD' } as const;

/** How long the server runs before it counts, in seconds. */
const WARM_UP = 2;

const GOALS = { more: 150, throughput: 0.9 } as const;

interface Sample {
  readonly memory: Memory;
  readonly load: Measurement;
}

interface Round {
  readonly without: Sample;
  readonly beside: Sample;
}

/** What idle keep-alive connections take of memory, and of the throughput of the others. */
export async function connections(options: Options, signal: AbortSignal): Promise<Outcome> {
  const { animals, rounds, seconds } = options;
  await using around = await surroundings(signal);
  const prepared = await around.prepare(animals);
  await using server = await startInspected(prepared, around);
  const file = await writeRequests(prepared.folder, [list(prepared.key)], new URL(server.url).host);
  await around.load(server, file, WARM_UP);
  const measured: Round[] = [];
  for (let round = 0; round < rounds; round++) {
    console.error(`Round ${round + 1} …`);
    measured.push(await measureRound(around, { prepared, server, file, seconds, round }));
  }
  const more = spread(
    measured.map(({ without, beside }) => beside.memory.resident - without.memory.resident),
  );
  const ratio = spread(
    measured.map(({ without, beside }) => beside.load.requestsPerSecond / without.load.requestsPerSecond),
  );
  const verdicts = [
    atMost(`MiB that ${count(CONNECTIONS)} connections take`, more.median, GOALS.more),
    atLeast('list: throughput beside them', ratio.median, GOALS.throughput),
  ];
  const setting = { ...machine(), animals, rounds, seconds };
  const { warnings } = around;
  return {
    result: { ...setting, warnings, connections: CONNECTIONS, rounds: measured, more, ratio, verdicts },
    text: [
      settingLine(setting),
      table(measured),
      ranges(more, ratio),
      verdictTable(verdicts),
      ...warnings.map((warning) => `Warning: ${warning}`),
    ].join('\n\n'),
  };
}

interface Measured {
  readonly prepared: LocalService;
  readonly server: InspectedService;
  readonly file: string;
  readonly seconds: number;
  readonly round: number;
}

async function measureRound(
  around: Surroundings,
  { prepared, server, file, seconds, round }: Measured,
): Promise<Round> {
  const sample = async (): Promise<Sample> => ({
    memory: await server.memory(around.signal),
    load: await around.load(server, file, seconds),
  });
  const without = await sample();
  const from = `127.0.0.${2 + (round % 250)}`;
  using idle = await openIdle(server.url, { ...list(prepared.key), ...HEAD }, { count: CONNECTIONS, from });
  const beside = await sample();
  if (idle.lost() > 0) throw new Error(`The service closed ${idle.lost()} idle connections.`);
  return { without, beside };
}

function table(rounds: readonly Round[]): string {
  const line = (name: string, samples: readonly Sample[]) => [
    name,
    median(samples.map(({ memory }) => memory.resident)).toFixed(0),
    median(samples.map(({ memory }) => memory.heap)).toFixed(1),
    count(median(samples.map(({ load }) => load.requestsPerSecond))),
    median(samples.map(({ load }) => load.p99)).toFixed(2),
  ];
  return aligned([
    ['idle connections', 'MiB resident', 'in JavaScript', 'list req/s', 'p99 ms'],
    line(
      'none',
      rounds.map(({ without }) => without),
    ),
    line(
      count(CONNECTIONS),
      rounds.map(({ beside }) => beside),
    ),
  ]);
}

function ranges(more: Spread, ratio: Spread): string {
  return (
    `${more.median.toFixed(0)} MiB more (${more.lowest.toFixed(0)}–${more.highest.toFixed(0)}), ` +
    `${ratio.median.toFixed(2)} of the throughput (${ratio.lowest.toFixed(2)}–${ratio.highest.toFixed(2)})`
  );
}
