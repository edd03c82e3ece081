import { type Call, create, get, list, PAGE, pageBelow, walk } from './calls.ts';
import { atLeast, atMost, GOALS, under, verdict, verdictTable } from './goals.ts';
import { postgresGrowth } from './growth-postgres.ts';
import { type InspectedService, type Memory, startInspected } from './inspected.ts';
import { cpuTime, measure, type Measurement, writeRequests } from './load.ts';
import type { Outcome } from './modes.ts';
import type { Options } from './options.ts';
import type { PreparedService } from './service.ts';
import { settingLine, SMALL } from './setting.ts';
import { measureStart, type Start } from './start.ts';
import { median, type Spread, spread } from './statistics.ts';
import { openSurroundings, type Surroundings } from './surroundings.ts';
import { aligned, count, ranged } from './table.ts';

/** How many different requests: more pages than the service would remember. */
const DIFFERENT = 10_000;

/** The requests to a catalogue whose ids are 1 to `animals`: as many different ones at the small and at the large. */
type Requests = (animals: number, key: string) => readonly Call[];

const REQUESTS: Readonly<Record<string, Requests>> = {
  list: (_animals, key) => [list(key)],
  // From page to page as a client goes, as far as the small catalogue reaches.
  walk: (animals, key) => walk(animals, SMALL / PAGE - 2, key),
  anywhere: (animals, key) =>
    Array.from({ length: DIFFERENT }, () => pageBelow(PAGE + 1 + anyId(animals - PAGE), key)),
  get: (animals, key) => Array.from({ length: DIFFERENT }, () => get(`/v1/pets/${anyId(animals)}`, key)),
  // Last, because it makes the small catalogue grow.
  create: (_animals, key) => [create(key)],
};

interface Catalogue {
  readonly prepared: PreparedService;
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
  const { animals } = options;
  await using cleanUp = new AsyncDisposableStack();
  const around = cleanUp.use(await openSurroundings(signal));
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
    results.push({ requests, ...(await compare(around, small, large, of, options)) });
  }
  const sizes = { small: await small.server.memory(signal), large: await large.server.memory(signal) };
  const starts = { small: small.start, large: large.start };
  const verdicts = [
    ...results.map(({ requests, ratio }) =>
      verdict(`${requests}: throughput`, atLeast, GOALS.grow.throughput, ratio.median),
    ),
    verdict('memory', atMost, GOALS.grow.memory, sizes.large.resident / sizes.small.resident),
    verdict('start to ready, ms', under, GOALS.grow.start, large.start.milliseconds),
  ];
  return {
    result: { throughput: results, memory: sizes, start: starts, verdicts },
    text: [
      settingLine(options),
      throughputTable(results, animals),
      sizeTable(sizes, starts, animals),
      verdictTable(verdicts),
    ].join('\n\n'),
    warnings: around.warnings,
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
  { rounds, seconds, warmUp }: Options,
): Promise<Omit<Growth, 'requests'>> {
  const { place, signal } = around;
  const turn = async ({ prepared, server }: Running) => {
    const { folder, animals, key } = prepared;
    const file = await writeRequests(folder, requests(animals, key), new URL(server.url).host);
    return (length: number) => measure(server, file, { seconds: length, place, signal });
  };
  const turns = { small: await turn(small), large: await turn(large) };
  await turns.small(warmUp);
  await turns.large(warmUp);
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
    cpu: spread(measured.map((each) => cpuTime(each.large) / cpuTime(each.small))),
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
    start.milliseconds.toFixed(0),
  ];
  return aligned([
    ['animals', 'MiB resident', 'of them not files', 'ms from start to ready'],
    line(count(SMALL), sizes.small, starts.small),
    line(count(animals), sizes.large, starts.large),
  ]);
}

/** From 1 to `last`. */
function anyId(last: number): number {
  return 1 + Math.floor(Math.random() * last);
}
