// Contract: sections 3, 4 and 6.
// A service that cannot rely on its store admits nothing (docs/design/sqlite.md and docs/design/postgres.md).
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { renameSync, statSync, symlinkSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { assertError, assertRateHeaders, call } from '../support/api.ts';
import { startTestConsole } from '../support/console.ts';
import { issueKey } from '../support/instances.ts';
import { temporaryPostgres } from '../support/postgres.ts';
import { run, startServiceProcess, temporaryEnvironment, waitFor } from '../support/process.ts';
import { startTestService, temporaryDatabase, type TestService } from '../support/service.ts';
import { test } from '../support/test.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { until } from '../support/until.ts';

const REFUSED = 'requests are refused with 503 for now';
const AGAIN = 'requests are answered again';

/** Asks until the service answers with this status. */
async function untilAnswered(service: TestService, key: string, status: number) {
  const ask = () => call(service.url, '/v1/pets', { key });
  let answer = await ask();
  await until(async () => answer.status === status || (answer = await ask()).status === status);
  return answer;
}

async function assertClosed(service: TestService, key: string): Promise<void> {
  for (const caller of [key, 'unknown', undefined]) {
    const answer = await call(service.url, '/v1/pets', { key: caller });
    assertError(answer, 'unavailable');
    assertRateHeaders(answer);
    assert.match(answer.headers.get('retry-after') ?? '', /^\d+$/);
  }
  assertError(await call(service.url, '/readyz'), 'unavailable');
  assert.equal((await call(service.url, '/healthz')).status, 200);
}

const linesOf = ({ log }: TestService, message: string) => log.filter(({ msg }) => msg === message);

test('without its SQLite file the service answers 503, and 200 once the file is back', async (t) => {
  const databaseUrl = temporaryDatabase(t);
  const file = databaseUrl.slice('sqlite:'.length);
  const service = await startTestConsole(t, { databaseUrl });
  const key = await service.issueKey();
  const token = await service.makeToken('ada');
  await call(service.url, '/v1/pets', { key });
  renameSync(file, `${file}.moved`);
  const body = '{"name":"Rex","categoryId":7}';
  assertError(await call(service.url, '/v1/pets', { key, body }), 'unavailable');
  assertError(await call(service.url, '/readyz'), 'unavailable');
  await untilAnswered(service, key, 503);
  await assertClosed(service, key);
  assert.equal((await call(service.url, '/v1/pets', { method: 'OPTIONS' })).status, 204);
  assertError(await service.ask('/admin/v1/me', { key: token }), 'unavailable');
  assertError(await service.signIn('x'), 'unavailable');
  renameSync(`${file}.moved`, file);
  await untilAnswered(service, key, 200);
  assert.equal((await call(service.url, '/readyz')).status, 200);
  const refused = linesOf(service, REFUSED);
  assert.equal(refused.length, 1);
  assert.match(JSON.stringify(refused), /petstore\.db was deleted or moved/);
  assert.equal(linesOf(service, AGAIN).length, 1);
});

test('requests that meet one outage in the same second log its reason once at most', async (t) => {
  const databaseUrl = temporaryDatabase(t);
  const file = databaseUrl.slice('sqlite:'.length);
  // Its clock stands, apart from readings.
  const service = await startTestService(t, { databaseUrl });
  const key = await service.issueKey();
  renameSync(file, `${file}.moved`);
  const create = async () => {
    const body = '{"name":"Rex","categoryId":7}';
    assertError(await call(service.url, '/v1/pets', { key, body }), 'unavailable');
  };
  await Promise.all(Array.from({ length: 5 }, create));
  renameSync(`${file}.moved`, file);
  // None if the check of each second came first.
  assert.ok(service.log.filter(({ reason }) => reason !== undefined).length <= 1);
});

test('no animal that was answered is lost when the SQLite file is moved behind a link and the service killed', async (t) => {
  const environment = temporaryEnvironment(t);
  const { key } = await issueKey(environment);
  const service = await startServiceProcess(t, environment);
  const create = (url: string) => call(url, '/v1/pets', { key, body: '{"name":"Rex","categoryId":7}' });
  for (let id = 1; id <= 10; id++) assert.equal((await create(service.url)).json.id, id);
  const file = environment['DATABASE_URL']!.slice('sqlite:'.length);
  const moved = join(temporaryFolder(t), 'petstore.db');
  renameSync(file, moved);
  symlinkSync(moved, file);
  const isClosed = waitFor(service, ({ stdout }) => stdout.includes(REFUSED) || undefined);
  for (let more = 0; more < 10; more++) assertError(await create(service.url), 'unavailable');
  await isClosed;
  service.child.kill('SIGKILL');
  await service.ended;
  const again = await startServiceProcess(t, environment);
  assert.equal((await create(again.url)).json.id, 11);
  assert.equal((await call(again.url, '/v1/pets?limit=100', { key })).json.length, 11);
});

/** What is left of a file that is truncated while the service runs. */
const TRUNCATIONS: Readonly<Record<string, (size: number) => number>> = {
  'to nothing': () => 0,
  'to one page': () => 4_096,
  'by half': (size) => size / 2,
};

for (const [how, left] of Object.entries(TRUNCATIONS))
  test(`a service whose SQLite file is truncated ${how} answers 503, says why once and stops in order`, async (t) => {
    const environment = temporaryEnvironment(t);
    await run(['seed', '3000'], environment);
    const { key } = await issueKey(environment);
    const service = await startServiceProcess(t, environment);
    assert.equal((await call(service.url, '/v1/pets', { key })).status, 200);
    const file = environment['DATABASE_URL']!.slice('sqlite:'.length);
    truncateSync(file, left(statSync(file).size));
    const body = '{"name":"Rex","categoryId":7}';
    assertError(await call(service.url, '/v1/pets', { key, body }), 'unavailable');
    const isRefused = () => service.stdout().includes(REFUSED);
    // Before and after the check that closes the service.
    for (let after = 0; after < 2; after += Number(isRefused())) {
      for (const path of ['/v1/pets', '/v1/pets/17', '/v1/pets?status=sold']) {
        const answer = await call(service.url, path, { key });
        // A page of the list may still be in memory.
        if (answer.status === 200 && !isRefused()) continue;
        assertError(answer, 'unavailable');
        assertRateHeaders(answer);
        assert.match(answer.headers.get('retry-after') ?? '', /^\d+$/);
      }
      assertError(await call(service.url, '/readyz'), 'unavailable');
    }
    service.child.kill('SIGTERM');
    const { code, stdout, stderr } = await service.ended;
    assert.equal(code, 1);
    assert.match(stderr, /^petstore: [^\n]+\n$/);
    const lines = stdout.trim().split('\n');
    const refused = lines.filter((line) => line.includes(REFUSED));
    assert.equal(refused.length, 1);
    assert.match(refused[0]!, /petstore\.db was truncated while in use/);
    assert.match(lines.at(-1)!, /"stopped"/);
    assert.doesNotMatch(stdout, /internal error/);
  });

/** A service that counts by itself over PostgreSQL, an account of 60 requests per minute, and an operator. */
async function countingService(t: TestContext) {
  // Hooks run in the order they are registered: the service stops before its database is dropped.
  let service: TestService | undefined;
  t.after(() => service?.stop());
  const databaseUrl = await temporaryPostgres(t);
  const operator = new Client({ connectionString: databaseUrl });
  operator.on('error', () => undefined);
  await operator.connect();
  service = await startTestService(t, { databaseUrl });
  const key = await service.issueKey({ limits: { perMinute: 60, perDay: 1_000 } });
  for (let sent = 0; sent < 10; sent++) await untilAnswered(service, key, 200);
  return { service, key, operator, databaseUrl };
}

const remaining = (answer: Awaited<ReturnType<typeof call>>) =>
  Number(answer.headers.get('x-ratelimit-remaining'));

const TERMINATE_HOLDER = `SELECT pg_terminate_backend(pid) FROM pg_locks
  WHERE locktype = 'advisory' AND granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

test("a service that lost its lock answers 503, then takes over the other's counts", async (t) => {
  const { service, key, operator, databaseUrl } = await countingService(t);
  const other = new Client({ connectionString: databaseUrl });
  other.on('error', () => undefined);
  await other.connect();
  const WRITTEN = `SELECT 1 FROM usage WHERE caller = 'account 1' AND minute_count = 10`;
  await until(async () => (await operator.query(WRITTEN)).rows.length > 0);
  // It waits for the lock, and has it at the moment that the service loses it.
  const taken = other.query(`SELECT pg_advisory_lock(hashtext('petstore production'))`);
  const WAITING = `SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
  await until(async () => (await operator.query(WAITING)).rows.length > 0);
  await operator.query(TERMINATE_HOLDER);
  await taken;
  // From the moment the service hears of it.
  await until(() => linesOf(service, 'a connection to the database was lost').length > 0);
  await assertClosed(service, key);
  await until(() => service.logText().includes('Another petstore already serves production'));
  const COUNT = `UPDATE usage SET minute_count = 50, day_count = 50 WHERE caller = 'account 1'`;
  await other.query(COUNT);
  await other.end();
  const answer = await untilAnswered(service, key, 200);
  assert.equal(remaining(answer), 9);
  assert.equal(linesOf(service, REFUSED).length, 2, 'the loss, and who has the lock now');
  assert.equal(linesOf(service, AGAIN).length, 1);
});

test('a service that retakes its lost lock at once forgets no counts', async (t) => {
  const { service, key, operator } = await countingService(t);
  await operator.query(TERMINATE_HOLDER);
  await until(() => linesOf(service, AGAIN).length > 0);
  assert.equal(remaining(await untilAnswered(service, key, 200)), 49);
  await operator.end();
});
