import { encodeCursor } from '../src/domain/cursor.ts';
import { create, get, list, PAGE } from './calls.ts';
import { postgresGrowth } from './growth-postgres.ts';
import { type InspectedService, type Memory, startInspected } from './inspected.ts';
import { type Measurement, writeRequests } from './load.ts';
import type { Outcome } from './modes.ts';
import type { Options } from './options.ts';
import type { BenchRequest } from './request.ts';
import { machine, settingLine } from './setting.ts';
import { measureStart, type Start } from './start.ts';
import { median, type Spread, spread } from './statistics.ts';
import { cpuPerRequest, type LocalService, type Surroundings, surroundings } from './surroundings.ts';
import { aligned, count, ranged } from './table.ts';
import { atLeast, atMost, type Verdict, verdictTable } from './verdict.ts';

const SMALL = 10_000;

/** How many different requests: more pages than the service would remember. */
const DIFFERENT = 10_000;

/** How long each server runs with each kind of request before it counts, in seconds. */
const WARM_UP = 2;

const GOALS = { throughput: 0.95, memory: 1.2, start: 300 } as const;

/** The requests to a catalogue whose ids are 1 to `animals`: as many different ones at the small and at the large. */
type Requests = (animals: number, key: string) => readonly BenchRequest[];

const REQUESTS: Readonly<Record<string, Requests>> = {
  list: (_animals, key) => [list(key)],
  // From page to page as a client goes, as far as the small catalogue reaches.
  walk: (animals, key) =>
    Array.from({ length: SMALL / PAGE - 2 }, (_, page) => pageBefore(animals + 1 - PAGE * (page + 1), key)),
  anywhere: (animals, key) =>
    Array.from({ length: DIFFERENT }, () => pageBefore(PAGE + 1 + anyId(animals - PAGE), key)),
  get: (animals, key) => Array.from({ length: DIFFERENT }, () => get(`/v1/pets/${anyId(animals)}`, key)),
  // Last, because it makes the small catalogue grow.
  create: (_animals, key) => [create(key)],
};

interface Catalogue {
  readonly prepared: LocalService;
  readonly start: Start;
}

interface Running extends Catalogue {
  readonly server: InspectedService;
}

interface Growth {
  readonly requests: string;
  /** Requests per second: medians. */
  readonly small: number;
  readonly large: number;
  /** Throughput at the large catalogue to that at the small one. */
  readonly ratio: Spread;
  /** The same of the processor time that a request takes of the server, which hangs less on what else the machine does. */
  readonly cpu: Spread;
}

/** What a small and a large catalogue make of throughput, memory and start, through HTTP. */
export async function growth(options: Options, signal: AbortSignal): Promise<Outcome> {
  if (options.scale) return postgresGrowth(options, signal);
  const { animals, rounds, seconds } = options;
  await using cleanUp = new AsyncDisposableStack();
  const around = cleanUp.use(await surroundings(signal));
  const catalogues = {
    small: await catalogue(around, SMALL),
    large: await catalogue(around, animals),
  };
  const run = async (each: Catalogue): Promise<Running> => ({
    ...each,
    server: cleanUp.use(await startInspected(each.prepared, around)),
  });
  const small = await run(catalogues.small);
  const large = await run(catalogues.large);
  const results: Growth[] = [];
  for (const [requests, of] of Object.entries(REQUESTS)) {
    console.error(`Measuring ${requests} …`);
    results.push({ requests, ...(await compare(around, small, large, of, { rounds, seconds })) });
  }
  const sizes = { small: await small.server.memory(signal), large: await large.server.memory(signal) };
  const starts = { small: small.start, large: large.start };
  const verdicts = [
    ...results.map(({ requests, ratio }) =>
      atLeast(`${requests}: throughput`, ratio.median, GOALS.throughput),
    ),
    atMost('memory', sizes.large.resident / sizes.small.resident, GOALS.memory),
    atMost('start to ready, ms', large.start.milliseconds, GOALS.start),
  ];
  const setting = { ...machine(), animals, rounds, seconds };
  const { warnings } = around;
  return {
    result: { ...setting, warnings, throughput: results, memory: sizes, start: starts, verdicts },
    text: [
      settingLine(setting),
      throughputTable(results, animals),
      sizeTable(sizes, starts, animals),
      verdictTable(verdicts satisfies Verdict[]),
      ...warnings.map((warning) => `Warning: ${warning}`),
    ].join('\n\n'),
  };
}

async function catalogue(around: Surroundings, animals: number): Promise<Catalogue> {
  const prepared = await around.prepare(animals);
  console.error('Measuring start …');
  return { prepared, start: await measureStart(prepared, around) };
}

async function compare(
  around: Surroundings,
  small: Running,
  large: Running,
  requests: Requests,
  { rounds, seconds }: Pick<Options, 'rounds' | 'seconds'>,
): Promise<Omit<Growth, 'requests'>> {
  const turn = async ({ prepared, server }: Running) => {
    const { folder, animals, key } = prepared;
    const file = await writeRequests(folder, requests(animals, key), new URL(server.url).host);
    return (length: number) => around.load(server, file, length);
  };
  const turns = { small: await turn(small), large: await turn(large) };
  await turns.small(WARM_UP);
  await turns.large(WARM_UP);
  const measured: { small: Measurement; large: Measurement }[] = [];
  for (let round = 0; round < rounds; round++) {
    // Each begins every other round, for the machine may slow down or speed up meanwhile.
    const first = round % 2 === 0 ? await turns.small(seconds) : undefined;
    const atLarge = await turns.large(seconds);
    measured.push({ small: first ?? (await turns.small(seconds)), large: atLarge });
  }
  return {
    small: median(measured.map((each) => each.small.requestsPerSecond)),
    large: median(measured.map((each) => each.large.requestsPerSecond)),
    ratio: spread(measured.map((each) => each.large.requestsPerSecond / each.small.requestsPerSecond)),
    cpu: spread(measured.map((each) => cpuPerRequest(each.large) / cpuPerRequest(each.small))),
  };
}

function throughputTable(results: readonly Growth[], animals: number): string {
  const head = [
    '',
    `req/s at ${count(SMALL)}`,
    `at ${count(animals)}`,
    'ratio (range)',
    'CPU a request (range)',
  ];
  const lines = results.map(({ requests, small, large, ratio, cpu }) => [
    requests,
    count(small),
    count(large),
    ranged(ratio),
    ranged(cpu),
  ]);
  return aligned([head, ...lines]);
}

type Both<T> = Readonly<Record<'small' | 'large', T>>;

function sizeTable(sizes: Both<Memory>, starts: Both<Start>, animals: number): string {
  const line = (name: string, memory: Memory, start: Start) => [
    name,
    memory.resident.toFixed(0),
    memory.anonymous.toFixed(0),
    memory.heap.toFixed(1),
    start.milliseconds.toFixed(0),
  ];
  return aligned([
    ['animals', 'MiB resident', 'of them not files', 'in JavaScript', 'ms from start to ready'],
    line(count(SMALL), sizes.small, starts.small),
    line(count(animals), sizes.large, starts.large),
  ]);
}

function pageBefore(id: number, key: string): BenchRequest {
  return get(`/v1/pets?limit=${PAGE}&cursor=${encodeCursor(BigInt(id))}`, key);
}

/** From 1 to `last`. */
function anyId(last: number): number {
  return 1 + Math.floor(Math.random() * last);
}
