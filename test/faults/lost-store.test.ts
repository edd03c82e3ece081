// Contract: sections 3, 4 and 6.
// A service that cannot rely on its store admits nothing (docs/decisions/0029 and 0030).
import assert from 'node:assert/strict';
import { renameSync } from 'node:fs';
import { test, type TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { Client } from 'pg';
import { assertError, assertRateHeaders, call } from '../support/api.ts';
import { temporaryPostgres } from '../support/postgres.ts';
import { startTestService, temporaryDatabase, type TestService } from '../support/service.ts';

const REFUSED = 'requests are refused with 503 for now';
const AGAIN = 'requests are answered again';

/** Asks until the service answers with this status. */
async function until(service: TestService, key: string, status: number) {
  for (;;) {
    const answer = await call(service.url, '/v1/pets', { key });
    if (answer.status === status) return answer;
    await wait(20);
  }
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
  const service = await startTestService(t, { databaseUrl });
  const key = await service.issueKey();
  await call(service.url, '/v1/pets', { key });
  renameSync(file, `${file}.moved`);
  const body = '{"name":"Rex","categoryId":7}';
  assertError(await call(service.url, '/v1/pets', { key, body }), 'unavailable');
  assertError(await call(service.url, '/readyz'), 'unavailable');
  await until(service, key, 503);
  await assertClosed(service, key);
  renameSync(`${file}.moved`, file);
  await until(service, key, 200);
  assert.equal((await call(service.url, '/readyz')).status, 200);
  const refused = linesOf(service, REFUSED);
  assert.equal(refused.length, 1);
  assert.match(JSON.stringify(refused), /petstore\.db was deleted or moved/);
  assert.equal(linesOf(service, AGAIN).length, 1);
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
  for (let sent = 0; sent < 10; sent++) await until(service, key, 200);
  return { service, key, operator, databaseUrl };
}

const remaining = (answer: Awaited<ReturnType<typeof call>>) =>
  Number(answer.headers.get('x-ratelimit-remaining'));

const TERMINATE_HOLDER = `SELECT pg_terminate_backend(pid) FROM pg_locks
  WHERE locktype = 'advisory' AND granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

test('a service that lost its lock to another one answers 503, then goes on from the counts of the other', async (t) => {
  const { service, key, operator, databaseUrl } = await countingService(t);
  const other = new Client({ connectionString: databaseUrl });
  other.on('error', () => undefined);
  await other.connect();
  const WRITTEN = `SELECT 1 FROM usage WHERE caller = 'account 1' AND minute_count = 10`;
  while ((await operator.query(WRITTEN)).rows.length === 0) await wait(20);
  // It waits for the lock, and has it at the moment that the service loses it.
  const taken = other.query(`SELECT pg_advisory_lock(hashtext('petstore production'))`);
  const WAITING = `SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`;
  while ((await operator.query(WAITING)).rows.length === 0);
  await operator.query(TERMINATE_HOLDER);
  await taken;
  // From the moment the service hears of it.
  while (linesOf(service, 'a connection to the database was lost').length === 0) await wait(5);
  await assertClosed(service, key);
  while (!service.logText().includes('Another petstore already serves production')) await wait(20);
  const COUNT = `UPDATE usage SET minute_count = 50, day_count = 50 WHERE caller = 'account 1'`;
  await other.query(COUNT);
  await other.end();
  const answer = await until(service, key, 200);
  assert.equal(remaining(answer), 9);
  assert.equal(linesOf(service, REFUSED).length, 2, 'the loss, and who has the lock now');
  assert.equal(linesOf(service, AGAIN).length, 1);
});

test('a service that loses its lock and takes it again at once forgets nothing that it counted', async (t) => {
  const { service, key, operator } = await countingService(t);
  await operator.query(TERMINATE_HOLDER);
  while (linesOf(service, AGAIN).length === 0) await wait(20);
  assert.equal(remaining(await until(service, key, 200)), 49);
  await operator.end();
});
