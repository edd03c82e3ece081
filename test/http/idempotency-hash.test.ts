// Contract: sections 3 and 5.
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { Client } from 'pg';
import { call } from '../support/api.ts';
import { fakeClock } from '../support/clock.ts';
import { stopDatabaseClock } from '../support/postgres-clock.ts';
import { makeOldPostgres, makeOldSqlite } from '../support/old-schema.ts';
import { temporaryPostgres } from '../support/postgres.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { test } from '../support/test.ts';

// See docs/design/idempotency.md.

const SECRET = 'petstore_live_0123456789ABCDEFGHIJabcdefghij01abcdef';
const REX = '{"name":"Rex","categoryId":7}';

function create(service: TestService, key: string, idempotencyKey: string, body = REX) {
  return call(service.url, '/v1/pets', { key, body, headers: { 'idempotency-key': idempotencyKey } });
}

/** The names of the files in a folder that hold `text`. */
function filesWith(folder: string, text: string): string[] {
  return readdirSync(folder).filter((name) => readFileSync(join(folder, name)).includes(text));
}

/** Every row of the table, as text. */
async function recordsOf(url: string): Promise<string> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query('SELECT * FROM idempotency');
  await client.end();
  return JSON.stringify(rows);
}

/** The record that the version before made, of the animal 1 of the account 1. */
function plainRecord(idempotencyKey: string): string {
  const createdAt = Math.floor(fakeClock()().unix);
  return `INSERT INTO accounts (name, plan, created_at) VALUES ('acme', 'free', 1);
    INSERT INTO pets (name, category_id) VALUES ('Rex', 7);
    INSERT INTO idempotency VALUES
      (1, '${idempotencyKey}', '${hash('sha256', REX, 'base64url')}', 1, ${createdAt})`;
}

async function assertReplays(service: TestService, idempotencyKey: string): Promise<void> {
  const answer = await create(service, await service.issueKey(), idempotencyKey);
  assert.deepEqual([answer.status, answer.json.id], [201, 1]);
  assert.equal(answer.headers.get('idempotent-replay'), 'true');
}

/** Sends the secret in every way that the service answers differently. */
async function sendSecret(service: TestService): Promise<void> {
  const key = await service.issueKey();
  const answers = [
    await create(service, key, SECRET),
    await create(service, key, SECRET),
    await create(service, key, SECRET, '{"name":"Max","categoryId":7}'),
    await create(service, key, SECRET, '{'),
    await create(service, key, `${SECRET} `.repeat(9)),
  ];
  assert.deepEqual(
    answers.map(({ status }) => status),
    [201, 201, 422, 400, 400],
  );
  for (const { text } of answers) assert.ok(!text.includes(SECRET));
  assert.ok(!service.logText().includes(SECRET));
}

test('an Idempotency-Key is in no SQLite file, no backup and no log line', async (t) => {
  const folder = temporaryFolder(t);
  const databaseUrl = `sqlite:${join(folder, 'petstore.db')}`;
  const service = await startTestService(t, { databaseUrl, env: { LOG_LEVEL: 'trace' } });
  await sendSecret(service);
  await service.store.backup(join(folder, 'backup.db'));
  assert.ok(readdirSync(folder).includes('petstore.db-wal'));
  assert.deepEqual(filesWith(folder, SECRET), []);
  await service.stop();
  assert.deepEqual(filesWith(folder, SECRET), []);
});

test('an Idempotency-Key is in no row of PostgreSQL and no log line', async (t) => {
  const databaseUrl = await temporaryPostgres(t);
  const service = await startTestService(t, { databaseUrl, env: { LOG_LEVEL: 'trace' } });
  await sendSecret(service);
  assert.match(await recordsOf(databaseUrl), /sha256 [0-9a-f]{64}/);
  assert.ok(!(await recordsOf(databaseUrl)).includes(SECRET));
  await service.stop();
});

// The second looks like a hash itself.
for (const idempotencyKey of [SECRET, 'a'.repeat(64)]) {
  const name = idempotencyKey.slice(0, 9);

  test(`an upgrade of SQLite keeps the record of ${name} and drops its value`, async (t) => {
    const folder = temporaryFolder(t);
    const file = join(folder, 'petstore.db');
    makeOldSqlite(file, 5, plainRecord(idempotencyKey));
    assert.deepEqual(filesWith(folder, idempotencyKey), ['petstore.db']);
    const service = await startTestService(t, { databaseUrl: `sqlite:${file}` });
    assert.deepEqual(filesWith(folder, idempotencyKey), []);
    await assertReplays(service, idempotencyKey);
  });

  test(`an upgrade of PostgreSQL keeps the record of ${name} and drops its value`, async (t) => {
    const service = await upgradedPostgres(t, plainRecord(idempotencyKey));
    await assertReplays(service, idempotencyKey);
    assert.ok(!(await recordsOf(service.databaseUrl)).includes(idempotencyKey));
    await service.stop();
  });
}

async function upgradedPostgres(t: TestContext, sql: string): Promise<TestService & { databaseUrl: string }> {
  const databaseUrl = await temporaryPostgres(t);
  const clock = fakeClock();
  await stopDatabaseClock(databaseUrl, clock().unix);
  await makeOldPostgres(databaseUrl, 1, sql);
  const service = await startTestService(t, { databaseUrl, clock });
  return Object.assign(service, { databaseUrl });
}

/** The statement with which the version before creates an animal. */
const OLD_CREATE = `
  WITH claimed AS (
    INSERT INTO idempotency (account_id, key, fingerprint, pet_id, created_at)
    VALUES ($1, $2, $3, nextval('pets_id_seq'), $4)
    ON CONFLICT (account_id, key) DO UPDATE
      SET fingerprint = excluded.fingerprint, pet_id = excluded.pet_id, created_at = excluded.created_at
      WHERE idempotency.created_at <= $5
    RETURNING pet_id
  )
  INSERT INTO pets (id, name, category_id, status) SELECT pet_id, $6, $7, $8 FROM claimed RETURNING id`;

test('an instance of the previous version makes no second animal during an upgrade', async (t) => {
  const service = await upgradedPostgres(t, plainRecord('made-before'));
  const old = new Client({ connectionString: service.databaseUrl });
  await old.connect();
  const now = Math.floor(service.clock().unix);
  const oldCreate = async (idempotencyKey: string) => {
    const fingerprint = hash('sha256', REX, 'base64url');
    const values = [1, idempotencyKey, fingerprint, now, now - 86_400_000, 'Rex', 7, null];
    return (await old.query(OLD_CREATE, values)).rows[0]?.id;
  };
  const key = await service.issueKey();
  await create(service, key, 'made-here');
  assert.equal(await oldCreate('made-before'), undefined);
  assert.equal(await oldCreate('made-here'), undefined);
  const made = new Map([[SECRET, await oldCreate(SECRET)]]);
  await old.query('UPDATE idempotency SET created_at = created_at - 86400000 WHERE pet_id IS NULL');
  made.set('made-here', await oldCreate('made-here'));
  await old.end();
  assert.ok(!(await recordsOf(service.databaseUrl)).includes(SECRET));
  for (const [idempotencyKey, id] of made) {
    const replayed = await create(service, key, idempotencyKey);
    assert.deepEqual([replayed.status, replayed.headers.get('idempotent-replay')], [201, 'true']);
    assert.equal(replayed.text, `{"id":${id},"name":"Rex","categoryId":7}`);
    assert.equal(replayed.headers.get('location')?.endsWith(`/v1/pets/${id}`), true);
  }
  assert.equal((await call(service.url, '/v1/pets', { key })).json.length, 4);
  await service.stop();
});
