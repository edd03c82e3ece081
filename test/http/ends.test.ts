// Contract: section 3.1.
import assert from 'node:assert/strict';
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { ERROR_CODES } from '../../src/domain/errors.ts';
import { type Operation, queryParameters } from '../../src/http/operation.ts';
import type { NamedParameter } from '../../src/http/parameters.ts';
import { OPERATIONS, OPERATOR_OPERATIONS } from '../../src/resources/operations.ts';
import { type Api, startBothApis } from '../support/both-apis.ts';
import {
  type Attempt,
  bodyAttempts,
  cursorsLike,
  headerAttempts,
  headOf,
  pathAttempts,
  cursorName,
  queriesOf,
  UNKNOWN_PARAMETERS,
  withQuery,
} from '../support/ends.ts';
import { lifetimeOfFile } from '../support/lifetime.ts';
import type { Sent } from '../support/load.ts';
import { isTorture } from '../support/rounds.ts';
import { countStatements } from '../support/statements.ts';
import { startForFile, test } from '../support/test.ts';

/** Statements and rows of one request, at most, with those of background tasks meanwhile. The database is small. */
const MOST_STATEMENTS = 80;
const MOST_ROWS = 1_300;

/** Under torture: milliseconds of an answer, and of a turn of the event loop. */
const LONGEST_ANSWER = 500;
const LONGEST_TURN = 50;

const file = lifetimeOfFile();
const statements = countStatements(file);

const APIS = { public: OPERATIONS, admin: OPERATOR_OPERATIONS } as const;

const databases = await startForFile(async () => ({
  SQLite: await startBothApis(file, 'SQLite'),
  PostgreSQL: await startBothApis(file, 'PostgreSQL'),
}));

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

/** The number of statements that look up the caller, counted on a request that the service on SQLite refuses before its operation. */
const lookUps = {
  public: await countLookUps(databases.SQLite.public),
  admin: await countLookUps(databases.SQLite.admin),
};

/** What SQLite's service answered without another statement: no database makes a difference to it. */
const answeredWithoutDatabase = new Map<string, Sent>();

/** The least of several, because the first one fills a cache, and background tasks work meanwhile. */
async function countLookUps(api: Api): Promise<number> {
  const counts: number[] = [];
  for (let again = 0; again < 5; again++)
    counts.push((await measure(api, { method: 'GET', path: '/pets?limit=none' })).statements);
  return Math.min(...counts);
}

/** Sends a request, unless its answer is known, and checks what every answer promises. */
async function attempt(api: Api, each: Attempt): Promise<Sent> {
  const key = `${api.name} ${JSON.stringify(each)}`;
  const known = api.database === 'SQLite' ? undefined : answeredWithoutDatabase.get(key);
  if (known !== undefined) return known;
  const about = JSON.stringify(each).slice(0, 300);
  let work = await measure(api, each);
  // Background tasks may have worked meanwhile.
  for (let again = 0; again < 3 && isTooMuch(work) && work.statements < 10 * MOST_STATEMENTS; again++)
    work = await measure(api, each);
  const { sent, ...costs } = work;
  if (api.database === 'SQLite' && work.statements <= lookUps[api.name])
    answeredWithoutDatabase.set(key, sent);
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
    const name = cursorName(each);
    return name === undefined ? [] : String(each.parameters[name]?.example);
  }),
);

for (const name of ['SQLite', 'PostgreSQL'] as const)
  for (const kind of ['public', 'admin'] as const)
    for (const operation of APIS[kind]) {
      const { id } = operation;
      const pageParameter = cursorName(operation);
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

      if (pageParameter !== undefined)
        test(`${name}, ${kind}: ${id} checks what a cursor holds`, async () => {
          const api = databases[name][kind];
          const example = String(operation.parameters[pageParameter]?.example);
          const { headers } = await attempt(api, withQuery(operation, 'limit=1'));
          const next = /^<(?:https?:\/\/[^/]+\/v1|\/admin\/v1)([^>]+)>/.exec(headers['link'] ?? '')?.[1];
          if (next !== undefined)
            assert.equal((await attempt(api, { method: 'HEAD', path: next })).status, 200, next);
          const real =
            new RegExp(`[?&]${pageParameter}=([\\w-]+)>`).exec(headers['link'] ?? '')?.[1] ?? example;
          const intervals =
            'interval' in operation.parameters ? ['', '&interval=hour', '&interval=day'] : [''];
          for (const cursor of [real, ...cursorsLike(real), ...cursorsLike(example), ...FOREIGN])
            for (const interval of intervals)
              await attempt(api, headOf(withQuery(operation, `${pageParameter}=${cursor}${interval}`)));
          for (const [other, { isCursor, example: value }] of parameters)
            if (isCursor !== true)
              await attempt(
                api,
                headOf(
                  withQuery(
                    operation,
                    `${pageParameter}=${real}&${other}=${encodeURIComponent(String(value))}`,
                  ),
                ),
              );
        });
    }
