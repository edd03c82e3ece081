// Contract: section 8.2. Two transactions of PostgreSQL that use one reference meet between the look and the write.
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { Client } from 'pg';
import { PLANS } from '../../domain/plan.ts';
import { PATIENT_LOCKS } from '../../../test/storage/fixture.ts';
import { postgresFixture } from '../../../test/storage/postgres-fixture.ts';
import { assertError, call } from '../../../test/support/api.ts';
import { migratedPostgres } from '../../../test/support/migrated-postgres.ts';
import { waitForBlocked } from '../../../test/support/postgres.ts';
import { startTestService, type TestService } from '../../../test/support/service.ts';
import { CLIENT, createAccount, ROOT } from '../../../test/support/store.ts';
import { test } from '../../../test/support/test.ts';
import { HOUSE } from './table.ts';

const REX = { name: 'Rex', categoryId: 7, reference: 'A1' };

const TAKEN = 'An animal of the same owner has this reference already.';

/** An animal with the reference A1, which only its own transaction sees. */
const INSERT = `INSERT INTO pets (name, category_id, version, owner_id, reference) VALUES ('Bo', 1, 1, $1, 'A1')`;

/** What a change writes. */
const WRITTEN = `SELECT (SELECT json_agg(p ORDER BY id) FROM pets p WHERE name <> 'Bo') AS pets,
  (SELECT count(*)::int FROM idempotency) AS recorded,
  ((SELECT count(*) FROM events) + (SELECT count(*) FROM event_queue))::int AS events`;

/** A service with an animal without a reference, and three requests that wait for the transaction of an operator. */
async function meet(t: TestContext) {
  let service: TestService | undefined;
  let operator: Client | undefined;
  // Before the database is dropped.
  t.after(async () => Promise.all([service?.stop(), operator?.end()]));
  const databaseUrl = await migratedPostgres(t);
  service = await startTestService(t, { databaseUrl, pool: PATIENT_LOCKS });
  const { url } = service;
  const key = await service.issueKey({ account: 'shelter' });
  const send = (method: string, path: string, body?: object, once?: string) =>
    call(url, `/v1${path}`, {
      key,
      method,
      ...(once !== undefined && { headers: { 'idempotency-key': once } }),
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  const { id } = (await send('POST', '/pets', { name: 'Max', categoryId: 7, color: 'Tan' })).json;
  operator = new Client({ connectionString: databaseUrl });
  await operator.connect();
  const { rows } = await operator.query(`SELECT id FROM accounts WHERE name = 'shelter'`);
  const before = (await operator.query(WRITTEN)).rows[0];
  await operator.query('BEGIN');
  await operator.query(INSERT, [rows[0].id]);
  const answers = Promise.all([
    send('POST', '/pets', REX),
    send('POST', '/pets', REX, 'once'),
    send('PATCH', `/pets/${id}`, { reference: 'A1', color: 'Black', status: 'sold' }),
  ]);
  await waitForBlocked(operator, 3);
  return { send, operator, answers, before };
}

test('a reference that another transaction commits meanwhile is 409, and nothing is half done', async (t) => {
  const { send, operator, answers, before } = await meet(t);
  await operator.query('COMMIT');
  for (const answer of await answers) {
    assertError(answer, 'conflict');
    assert.equal(answer.json.message, TAKEN);
  }
  assert.deepEqual((await operator.query(WRITTEN)).rows[0], before);
  const again = await send('POST', '/pets', REX, 'once');
  assertError(again, 'conflict');
  assert.equal(again.json.message, TAKEN);
  await operator.query(`DELETE FROM pets WHERE name = 'Bo'`);
  assert.equal((await send('POST', '/pets', REX, 'once')).status, 201);
});

test('of those that wait for a reference that another transaction gives up, one gets it', async (t) => {
  const { send, operator, answers, before } = await meet(t);
  await operator.query('ROLLBACK');
  const refused = (await answers).filter(({ status }) => status >= 300);
  assert.equal(refused.length, 2);
  for (const answer of refused) assertError(answer, 'conflict');
  assert.equal((await send('GET', '/pets?reference=A1')).json.length, 1);
  assert.equal((await operator.query(WRITTEN)).rows[0].events, before.events + 1);
});

test('an animal whose reference the new owner gets meanwhile is not moved', async (t) => {
  const { store, connect } = await postgresFixture(t, PATIENT_LOCKS);
  const shop = await createAccount(store.accounts, 'shop', 'free', PLANS.free);
  await store.pets.create(CLIENT, { name: 'Rex', categoryId: 7n, reference: 'A1' });
  const operator = await connect();
  t.after(() => operator.end());
  const meetWith = async <T>(move: () => Promise<T>): Promise<T> => {
    await operator.query('BEGIN');
    await operator.query(INSERT, [shop.id]);
    const moved = move();
    await Promise.race([waitForBlocked(operator, 1), moved]);
    await operator.query('COMMIT');
    try {
      return await moved;
    } finally {
      await operator.query(`DELETE FROM pets WHERE name = 'Bo'`);
    }
  };
  assert.deepEqual(await meetWith(() => store.pets.assign(ROOT, shop, [1n])), {
    error: 'conflict',
    message: TAKEN,
  });
  const options = { beforeChange: async () => undefined, onProgress: () => undefined };
  await assert.rejects(
    meetWith(() => store.pets.assignAll(shop.id, options)),
    { code: 'conflict', message: /^Another program has just taken a reference/ },
  );
  const { rows } = await operator.query('SELECT owner_id FROM pets');
  assert.deepEqual(rows, [{ owner_id: String(HOUSE) }]);
});
