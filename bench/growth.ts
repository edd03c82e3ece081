import { type Call, create, get, list, PAGE, pageBelow, walk } from './calls.ts';
import { openContext } from './context.ts';
import { count, median, ranged, type Spread, spread, table } from './figures.ts';
import { atLeast, GOALS, goalText, type Judged, under, verdict, verdictTable } from './goals.ts';
import { startInspected } from './inspector.ts';
import { measure, writeLoad } from './load.ts';
import type { Options } from './options.ts';
import type { RunContext } from './processes.ts';
import { heading, type Outcome } from './results.ts';
import { type PreparedService, startService } from './service.ts';

/** Animals of the small catalogue. */
const SMALL = 10_000;

/** Different requests: more pages than the service caches. */
const DIFFERENT = 10_000;

/** Categories of the animals that `petstore seed` invents. */
const CATEGORIES = 12;

const STARTS = 5;

/** Returns the requests to a catalogue with the ids 1 to `animals`: the same number of different ones at any size. */
type Requests = (animals: number, key: string) => readonly Call[];

const REQUESTS: Readonly<Record<string, Requests>> = {
  list: (_animals, key) => [list(key)],
  // As many pages as the small catalogue has.
  walk: (animals, key) => walk(animals, SMALL / PAGE - 2, key),
  anywhere: (animals, key) => pagesAnywhere(animals, key, () => ''),
  category: (_animals, key) =>
    Array.from({ length: CATEGORIES }, (_, index) =>
      get(`/v1/pets?limit=${PAGE}&categoryId=${index + 1}`, key),
    ),
  'category, anywhere': (animals, key) => pagesAnywhere(animals, key, categoryFilter),
  'category and status, anywhere': (animals, key) =>
    pagesAnywhere(animals, key, () => `${categoryFilter()}&status=available`),
  get: (animals, key) => Array.from({ length: DIFFERENT }, () => get(`/v1/pets/${randomId(animals)}`, key)),
  // The last, because it makes the small catalogue grow.
  create: (_animals, key) => [create(key)],
};

interface Growth {
  readonly requests: string;
  /** Requests per second: medians. */
  readonly small: number;
  readonly large: number;
  /** Throughput with the large catalogue divided by that with the small one. */
  readonly ratio: Spread & Judged;
}

/** Compares throughput, memory and start with a large and a small catalogue. */
export async function growth(options: Options, signal: AbortSignal): Promise<Outcome> {
  const { animals, rounds, seconds, warmUp, scale } = options;
  const goals = scale ? GOALS.growScale : GOALS.grow;
  await using context = await openContext(signal, scale);
  const small = await context.prepare(SMALL);
  const large = await context.prepare(animals);
  const start = { small: await measureStart(small, context), large: await measureStart(large, context) };
  await using smallServer = await startInspected(small, context);
  await using largeServer = await startInspected(large, context);

  const compare = async (name: string, requests: Requests): Promise<Growth> => {
    console.error(`Measuring ${name} …`);
    const smallLoad = await writeLoad(small, requests(small.animals, small.key));
    const largeLoad = await writeLoad(large, requests(large.animals, large.key));
    const ofSmall = (length: number) => measure(smallServer, smallLoad, length, context);
    const ofLarge = (length: number) => measure(largeServer, largeLoad, length, context);
    await ofSmall(warmUp);
    await ofLarge(warmUp);
    const measured: { small: number; large: number }[] = [];
    for (let round = 0; round < rounds; round++) {
      // They take turns to begin, because the machine may become slower or faster during a round.
      const first = round % 2 === 0 ? await ofSmall(seconds) : undefined;
      const { requestsPerSecond } = await ofLarge(seconds);
      const other = first ?? (await ofSmall(seconds));
      measured.push({ small: other.requestsPerSecond, large: requestsPerSecond });
    }
    const ratio = spread(measured.map((each) => each.large / each.small));
    const goal = name.startsWith('category') ? goals.category : goals.throughput;
    return {
      requests: name,
      small: median(measured.map((each) => each.small)),
      large: median(measured.map((each) => each.large)),
      ratio: { ...ratio, ...atLeast(goal, ratio.median) },
    };
  };

  const results: Growth[] = [];
  for (const [name, requests] of Object.entries(REQUESTS)) results.push(await compare(name, requests));
  const memory = { small: await smallServer.usedMemory(), large: await largeServer.usedMemory() };
  const verdicts = [
    verdict('memory', under, goals.memory, memory.large / memory.small),
    verdict('start to ready, ms', under, goals.start, start.large),
  ];
  const lines = [
    ['req/s', count(SMALL), count(animals), 'ratio (range)', 'goal'],
    ...results.map((each) => {
      return [each.requests, count(each.small), count(each.large), ranged(each.ratio), goalText(each.ratio)];
    }),
  ];
  return {
    result: { throughput: results, memory, start, verdicts },
    text: [heading(options), table(lines), verdictTable(verdicts)].join('\n\n'),
    warnings: context.warnings,
  };
}

/** Milliseconds from the start of the process to its first 200 at /readyz: the median of five starts. */
async function measureStart(service: PreparedService, context: RunContext): Promise<number> {
  const times: number[] = [];
  while (times.length < STARTS) {
    await using server = await startService(service, context);
    times.push(server.startTime);
  }
  return median(times);
}

function pagesAnywhere(animals: number, key: string, filter: () => string): readonly Call[] {
  return Array.from({ length: DIFFERENT }, () =>
    pageBelow(PAGE + 1 + randomId(animals - PAGE), key, filter()),
  );
}

function categoryFilter(): string {
  return `&categoryId=${randomId(CATEGORIES)}`;
}

/** A random id from 1 to `last`. */
function randomId(last: number): number {
  return 1 + Math.floor(Math.random() * last);
}
