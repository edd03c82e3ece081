import { steadyClock } from '../src/domain/clock.ts';
import { openPostgres } from '../src/storage/postgres/store.ts';
import type { Store } from '../src/storage/store.ts';
import { PAGE } from './calls.ts';
import type { Outcome } from './modes.ts';
import type { Options } from './options.ts';
import { temporaryDatabase } from './postgres.ts';
import { settingLine, SMALL } from './setting.ts';
import { median, type Spread, spread } from './statistics.ts';
import { aligned, count, ranged } from './table.ts';

/** Queries in a row at one catalogue before it is the other's turn. */
const TURN = 100;

/** As the service is set up unless it is told otherwise, but a migration of the full database may take its time. */
const LIMITS = { connections: 2, connectTimeout: 2_000, statementTimeout: 60_000 };

interface Catalogue extends AsyncDisposable {
  readonly store: Store;
  readonly animals: number;
}

/** Where a page begins: before which id, in a catalogue whose ids are 1 to `animals`; undefined for the newest. */
type Start = (animals: number, query: number) => bigint | undefined;

/** Different pages all the time, but for the newest: one after the other, so that nothing is shared. */
const QUERIES: Readonly<Record<string, Start>> = {
  newest: () => undefined,
  // From page to page as a client goes, and again from the start after as many pages as the small catalogue has.
  walk: (animals, query) => BigInt(animals - PAGE * (query % (SMALL / PAGE - 1))),
  // Never the last page, whose query stops early.
  anywhere: (animals) => BigInt(PAGE + 2 + Math.floor(Math.random() * (animals - PAGE - 1))),
};

interface Growth {
  readonly query: string;
  /** Of one list, in microseconds: medians. */
  readonly small: number;
  readonly large: number;
  readonly ratio: Spread;
}

/** What a list costs at a small and at a large catalogue in PostgreSQL, from the store's port to the rows. */
export async function postgresGrowth(options: Options, signal: AbortSignal): Promise<Outcome> {
  const { animals, servers } = options;
  await using cleanUp = new AsyncDisposableStack();
  const open = async (size: number): Promise<Catalogue> => {
    console.error(`Inserting ${count(size)} animals …`);
    return cleanUp.use(await catalogue(servers.postgres, size, signal));
  };
  const small = await open(SMALL);
  const large = await open(animals);
  const results: Growth[] = [];
  for (const [query, start] of Object.entries(QUERIES)) {
    console.error(`Measuring ${query} …`);
    results.push({ query, ...(await compare(small, large, start, options, signal)) });
  }
  return { result: { lists: results }, text: `${settingLine(options)}\n\n${table(results, animals)}` };
}

function table(results: readonly Growth[], animals: number): string {
  const head = ['list', `µs at ${count(SMALL)}`, `µs at ${count(animals)}`, 'ratio (range)'];
  const lines = results.map(({ query, small, large, ratio }) => [
    query,
    small.toFixed(0),
    large.toFixed(0),
    ranged(ratio),
  ]);
  return aligned([head, ...lines]);
}

async function compare(
  small: Catalogue,
  large: Catalogue,
  start: Start,
  { rounds, seconds, warmUp }: Options,
  signal: AbortSignal,
): Promise<Omit<Growth, 'query'>> {
  await round(small, large, start, warmUp * 1000, signal);
  const measured: { small: number; large: number }[] = [];
  for (let number = 0; number < rounds; number++) {
    measured.push(await round(small, large, start, seconds * 1000, signal));
  }
  return {
    small: median(measured.map((each) => each.small)),
    large: median(measured.map((each) => each.large)),
    ratio: spread(measured.map((each) => each.large / each.small)),
  };
}

/** Both catalogues turn by turn for so many milliseconds. Gives the median turn, in microseconds a query. */
async function round(
  small: Catalogue,
  large: Catalogue,
  start: Start,
  milliseconds: number,
  signal: AbortSignal,
): Promise<{ small: number; large: number }> {
  const turns = { small: [] as number[], large: [] as number[] };
  const end = performance.now() + milliseconds;
  for (let first = 0; performance.now() < end; first += TURN) {
    signal.throwIfAborted();
    turns.small.push(await turn(small, start, first));
    turns.large.push(await turn(large, start, first));
  }
  return { small: median(turns.small), large: median(turns.large) };
}

async function turn({ store, animals }: Catalogue, start: Start, first: number): Promise<number> {
  const begin = performance.now();
  for (let query = first; query < first + TURN; query++) {
    const before = start(animals, query);
    const page = await store.pets.list({ limit: PAGE, ...(before !== undefined && { before }) });
    if (page.next === undefined) throw new Error('A list gave the last page.');
  }
  return ((performance.now() - begin) * 1000) / TURN;
}

async function catalogue(postgres: string, animals: number, signal: AbortSignal): Promise<Catalogue> {
  await using opening = new AsyncDisposableStack();
  const database = opening.use(await temporaryDatabase(postgres));
  const store = await openPostgres(database.url, {
    clock: steadyClock(Date.now, () => performance.now()),
    environment: 'production',
    limits: LIMITS,
    onLost: () => undefined,
  });
  opening.defer(() => store.close());
  await database.run(
    `INSERT INTO pets (name, category_id, status)
     SELECT 'Rex ' || n, n % 50, (ARRAY['available', 'pending', 'sold'])[n % 4 + 1] FROM generate_series(1, ${animals}) n`,
    signal,
  );
  await database.run('VACUUM ANALYZE', signal);
  const resources = opening.move();
  return { store, animals, [Symbol.asyncDispose]: () => resources.disposeAsync() };
}
