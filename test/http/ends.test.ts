// Contract: section 3.1.
import assert from 'node:assert/strict';
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { DAY, HOUR } from '../../src/domain/clock.ts';
import { ERROR_CODES } from '../../src/domain/errors.ts';
import { SCOPES } from '../../src/domain/scope.ts';
import { type Operation, queryParameters } from '../../src/http/operation.ts';
import type { NamedParameter } from '../../src/http/parameters.ts';
import { OPERATIONS, OPERATOR_OPERATIONS } from '../../src/resources/index.ts';
import { fakeClock } from '../support/clock.ts';
import { consoleOf, type TestConsole } from '../support/console.ts';
import {
  type Attempt,
  bodyAttempts,
  cursorsLike,
  headerAttempts,
  headOf,
  pathAttempts,
  placeName,
  queriesOf,
  UNKNOWN_PARAMETERS,
  withQuery,
} from '../support/ends.ts';
import { addExamples, EXAMPLE_ENV } from '../support/example-database.ts';
import { lifetimeOfFile } from '../support/lifetime.ts';
import { keepAliveClient, type Sent } from '../support/load.ts';
import { migratedPostgres } from '../support/migrated-postgres.ts';
import { type AdvanceDatabase, stopDatabaseClock } from '../support/postgres-clock.ts';
import { isTorture } from '../support/rounds.ts';
import { startTestService, temporaryDatabase } from '../support/service.ts';
import { countStatements } from '../support/statements.ts';
import { startForFile, test } from '../support/test.ts';

/** Statements and rows of one request, at most, with those of background tasks meanwhile. The database is small. */
const MOST_STATEMENTS = 80;
const MOST_ROWS = 1_300;

/** Under torture: milliseconds of an answer, and of a turn of the event loop. */
const LONGEST_ANSWER = 500;
const LONGEST_TURN = 50;

const file = lifetimeOfFile();
const services: TestConsole[] = [];
// Before their databases go: what is registered first runs first.
file.after(() => Promise.all(services.map((service) => service.stop())));
const statements = countStatements(file);

type Send = (attempt: Attempt) => Promise<Sent>;

const APIS: Readonly<Record<'public' | 'admin', readonly Operation[]>> = {
  public: OPERATIONS,
  admin: OPERATOR_OPERATIONS,
};

interface Api {
  readonly name: string;
  readonly database: 'SQLite' | 'PostgreSQL';
  readonly send: Send;
  readonly hasRateHeaders: boolean;
}

/** Both APIs of a service whose database has everything that examples name. Its clock moves when a window is used up. */
async function start(
  database: Api['database'],
  databaseUrl: string,
  clock = fakeClock(),
  advance: AdvanceDatabase = async () => {},
) {
  const env = { ...EXAMPLE_ENV, CONSOLE_PORT: '0' };
  const service = consoleOf(await startTestService(file, { databaseUrl, clock, env }));
  services.push(service);
  await addExamples(service);
  const { store, url, listener } = service;
  const hour = Math.floor(clock().unix / HOUR);
  const counts = Array.from({ length: 20 }, (_, index) => ({
    hour: hour - 24 * index,
    keyId: 1 + (index % 5),
    operation: index % 2 === 0 ? 'getPet' : 'listPets',
    counts: [1, 2, 3, 4] as const,
  }));
  await store.usageHistory.add({ writer: 'one', sequence: 1, counts });
  const ban = { until: Math.floor(clock().unix) + DAY, count: 1 };
  await store.limits.writeBanRecords(new Map([11, 12, 13].map((id) => [id, { refusals: [], ban }])));
  // Neither the key nor the operator has a number that is an end, because attempts delete those.
  const key = await service.issueKey({ scopes: SCOPES });
  await service.makeToken('first');
  const token = await service.makeToken('ada');
  const open = (base: string, secret: string) => {
    const client = keepAliveClient(base, secret, 1);
    file.after(() => client.close());
    return client;
  };
  const [client, operator] = [open(url, key), open(listener, token)];
  const sendTo =
    ({ send }: ReturnType<typeof keepAliveClient>, prefix: string): Send =>
    async ({ method, path, headers, body }) => {
      const sent = await send(prefix + path, body, { ...headers }, method);
      if (sent.headers['x-ratelimit-remaining'] === '0') {
        const wait = Number(sent.headers['x-ratelimit-reset']) * 1_000 - clock().unix;
        clock.advance(wait);
        await advance(wait);
      }
      return sent;
    };
  return {
    public: { name: 'public', database, send: sendTo(client, '/v1'), hasRateHeaders: true } as Api,
    admin: { name: 'admin', database, send: sendTo(operator, '/admin/v1'), hasRateHeaders: false } as Api,
  };
}

const databases = await startForFile(async () => {
  const clock = fakeClock();
  const postgres = await migratedPostgres(file);
  return {
    SQLite: await start('SQLite', temporaryDatabase(file)),
    PostgreSQL: await start('PostgreSQL', postgres, clock, await stopDatabaseClock(postgres, clock().unix)),
  };
});

const turns = monitorEventLoopDelay({ resolution: 1 });
if (isTorture) turns.enable();
file.after(() => turns.disable());

/** Sends a request, and measures its work. */
async function measure({ send }: Api, each: Attempt) {
  statements.take();
  if (isTorture) turns.reset();
  const begun = performance.now();
  const sent = await send(each);
  return { sent, ...statements.take(), took: performance.now() - begun, turn: turns.max / 1e6 };
}

/** Whether a request took more than any may take. */
function isTooMuch({ statements: count, rows, took, turn }: Awaited<ReturnType<typeof measure>>): boolean {
  const isSlow = isTorture && (took > LONGEST_ANSWER || turn > LONGEST_TURN);
  return count > MOST_STATEMENTS || rows > MOST_ROWS || isSlow;
}

/** What SQLite's service answered without a statement: no database makes a difference to it. */
const answeredWithoutStatement = new Map<string, Sent>();

/** Sends a request, unless its answer is known, and checks what every answer promises. */
async function attempt(api: Api, each: Attempt): Promise<Sent> {
  const key = `${api.name} ${JSON.stringify(each)}`;
  const known = api.database === 'SQLite' ? undefined : answeredWithoutStatement.get(key);
  if (known !== undefined) return known;
  const about = JSON.stringify(each).slice(0, 300);
  let work = await measure(api, each);
  // Background tasks may have worked meanwhile.
  for (let again = 0; again < 3 && isTooMuch(work) && work.statements < 10 * MOST_STATEMENTS; again++)
    work = await measure(api, each);
  const { sent, ...costs } = work;
  if (api.database === 'SQLite' && work.statements === 0) answeredWithoutStatement.set(key, sent);
  assert.ok(!isTooMuch(work), `${JSON.stringify(costs)}: ${about}`);
  assert.ok(sent.status < 500, `${sent.status} ${about}: ${sent.text.slice(0, 300)}`);
  assert.notEqual(sent.status, 401, about);
  if (sent.status >= 400 && each.method !== 'HEAD') {
    const { code, message, status, ...rest } = JSON.parse(sent.text);
    assert.deepEqual([status, rest], [sent.status, {}], about);
    assert.ok(ERROR_CODES.includes(code), about);
    assert.ok(message.length > 0 && message.length <= 1_000, `${message.length} characters: ${about}`);
  }
  if (api.hasRateHeaders)
    for (const name of ['limit', 'remaining', 'reset'])
      assert.match(sent.headers[`x-ratelimit-${name}`] ?? '', /^\d+$/, about);
  return sent;
}

/** Sends each value of a query parameter alone. Returns some queries that were taken: the first, the last, and two between. */
async function tryParameter(api: Api, operation: Operation, parameter: NamedParameter): Promise<string[]> {
  const queries = new Set<string>();
  for (const query of queriesOf(parameter)) {
    const { status } = await attempt(api, headOf(withQuery(operation, query)));
    if (status < 400) queries.add(query);
  }
  const taken = [...queries];
  const chosen = new Set([0, 1, 2, 3].map((third) => taken[Math.round(((taken.length - 1) * third) / 3)]));
  return [...chosen].filter((query) => query !== undefined);
}

/** A cursor of each list. */
const FOREIGN = new Set(
  [...OPERATIONS, ...OPERATOR_OPERATIONS].flatMap((each) => {
    const name = placeName(each);
    return name === undefined ? [] : String(each.parameters[name]?.example);
  }),
);

for (const name of ['SQLite', 'PostgreSQL'] as const)
  for (const kind of ['public', 'admin'] as const)
    for (const operation of APIS[kind]) {
      const { id } = operation;
      const place = placeName(operation);
      const parameters = queryParameters(operation);

      test(`${name}, ${kind}: ${id} answers every value at once, whatever it is`, async () => {
        const api = databases[name][kind];
        for (const each of pathAttempts(operation)) await attempt(api, each);
        for (const each of bodyAttempts(operation)) await attempt(api, each);
        // No header reaches a database.
        if (name === 'SQLite') for (const each of headerAttempts(operation)) await attempt(api, each);
        for (const query of UNKNOWN_PARAMETERS) await attempt(api, withQuery(operation, query));
        const taken: string[][] = [];
        for (const parameter of parameters) taken.push(await tryParameter(api, operation, parameter));
        for (const [index, some] of taken.entries())
          for (const one of some)
            for (const other of taken.slice(index + 1).flat())
              await attempt(api, headOf(withQuery(operation, `${one}&${other}`)));
      });

      if (place !== undefined)
        test(`${name}, ${kind}: ${id} checks what a cursor holds`, async () => {
          const api = databases[name][kind];
          const example = String(operation.parameters[place]?.example);
          const { headers } = await attempt(api, withQuery(operation, 'limit=1'));
          const next = /^<(?:https?:\/\/[^/]+\/v1|\/admin\/v1)([^>]+)>/.exec(headers['link'] ?? '')?.[1];
          if (next !== undefined)
            assert.equal((await attempt(api, { method: 'HEAD', path: next })).status, 200, next);
          const real = new RegExp(`[?&]${place}=([\\w-]+)>`).exec(headers['link'] ?? '')?.[1] ?? example;
          const intervals =
            'interval' in operation.parameters ? ['', '&interval=hour', '&interval=day'] : [''];
          for (const cursor of [real, ...cursorsLike(real), ...cursorsLike(example), ...FOREIGN])
            for (const interval of intervals)
              await attempt(api, headOf(withQuery(operation, `${place}=${cursor}${interval}`)));
          for (const [other, { isPlace, example: value }] of parameters)
            if (isPlace !== true)
              await attempt(
                api,
                headOf(
                  withQuery(operation, `${place}=${real}&${other}=${encodeURIComponent(String(value))}`),
                ),
              );
        });
    }
