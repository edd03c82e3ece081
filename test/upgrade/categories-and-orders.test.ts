// Contract: sections 2 and 3.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { INT64_MAX, INT64_MIN } from '../../src/domain/int64.ts';
import type { NewPet } from '../../src/resources/pets/schema.ts';

import { list, patch, requireValue, REX, readOutcome } from '../storage/fixture.ts';
import { fakeClock } from '../support/clock.ts';
import { makeOldPostgres, makeOldSqlite } from '../support/old-schema.ts';
import { stopDatabaseClock } from '../support/postgres-clock.ts';
import { temporaryPostgres } from '../support/postgres.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { test } from '../support/test.ts';
import { CLIENT, findAccount } from '../support/store.ts';

// Databases of the version before categories and orders.

const CLOCK = fakeClock();

const ANIMALS: readonly NewPet[] = [
  { name: 'Rex', categoryId: INT64_MIN, status: 'sold' },
  { name: "'e\u0301 🐕", categoryId: 7n },
  { name: 'Max', categoryId: 7n, status: 'pending' },
  { name: '{"id":1}', categoryId: INT64_MAX, status: 'available' },
];

const PETS = ANIMALS.map((animal, index) => ({ id: BigInt(index) + 1n, ...animal }));

/** The newest animal was deleted. */
const BEFORE = `
  INSERT INTO pets (name, category_id, status) VALUES ${ANIMALS.map(
    ({ name, categoryId, status }) =>
      `('${name.replaceAll("'", "''")}', ${categoryId}, ${status === undefined ? 'NULL' : `'${status}'`})`,
  ).join()}, ('Gone', 1, NULL);
  DELETE FROM pets WHERE id = 5;
  INSERT INTO accounts (name, folded_name, plan, created_at) VALUES ('shop', 'shop', 'free', 1);
  INSERT INTO idempotency (account_id, key, fingerprint, status, location, body, created_at)
    VALUES (1, 'sha256 a', 'f', 201, '/pets/5', '{"id":5}', ${Math.floor(CLOCK().unix)})`;

const PREPARE = {
  async SQLite(t: TestContext): Promise<string> {
    const file = join(temporaryFolder(t), 'petstore.db');
    makeOldSqlite(file, 10, BEFORE);
    return `sqlite:${file}`;
  },
  async PostgreSQL(t: TestContext, more = ''): Promise<string> {
    const url = await temporaryPostgres(t);
    await stopDatabaseClock(url, CLOCK().unix);
    await makeOldPostgres(url, 5, `${BEFORE}; ${more}`);
    return url;
  },
} as const;

async function assertServes({ store }: TestService): Promise<void> {
  const { pets, orders, accounts } = store;
  assert.deepEqual(await list(pets, { limit: 100 }), PETS.toReversed());
  for (const { categoryId, status } of ANIMALS) {
    const same = PETS.filter((pet) => pet.categoryId === categoryId);
    assert.deepEqual(await list(pets, { limit: 100, categoryId }), same.toReversed());
    const both = same.filter((pet) => status === undefined || pet.status === status);
    assert.deepEqual(await list(pets, { limit: 100, categoryId, status }), both.toReversed());
  }
  assert.equal((await findAccount(accounts, 'SHOP'))?.id, 1);
  const replayed = await pets.create(CLIENT, REX, {
    accountId: 1,
    key: 'sha256 a',
    fingerprint: 'f',
    status: 201,
    location: '/pets/{id}',
  });
  assert.deepEqual(replayed, { replay: { status: 201, location: '/pets/5', json: '{"id":5}' } });
  assert.equal(readOutcome(await orders.create(CLIENT, 1, { petId: 4n })), 'done');
  assert.deepEqual(await pets.delete(CLIENT, 4n, undefined), { error: 'conflict' });
  const patched = await pets.update(CLIENT, 3n, patch({ status: null }), undefined);
  assert.deepEqual(patched, { value: '{"id":3,"name":"Max","categoryId":7}' });
  const created = await pets.create(CLIENT, REX);
  assert.equal(requireValue(created).id, 6n);
  assert.deepEqual(created, { value: { id: 6n, ...REX } });
}

for (const [name, prepare] of Object.entries(PREPARE)) {
  test(`an upgrade of ${name} keeps the animals, which can be changed and ordered`, async (t) => {
    const service = await startTestService(t, { databaseUrl: await prepare(t), clock: CLOCK });
    await assertServes(service);
    await service.stop();
  });
}

const INDEX = `pets_by_category ON pets (category_id, coalesce(status, ''), id)`;

test('an upgrade of PostgreSQL keeps the index that was built before', async (t) => {
  const url = await PREPARE.PostgreSQL(t, `CREATE INDEX ${INDEX}`);
  const service = await startTestService(t, { databaseUrl: url, clock: CLOCK });
  await assertServes(service);
  await service.stop();
});

test('an upgrade of PostgreSQL refuses an index that is not complete', async (t) => {
  const invalid = `CREATE INDEX ${INDEX};
    UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'pets_by_category'::regclass`;
  const url = await PREPARE.PostgreSQL(t, invalid);
  await assert.rejects(startTestService(t, { databaseUrl: url, clock: CLOCK }), {
    name: 'StartupError',
    message: /index pets_by_category is not complete; wait for .*, or drop it if that has failed\.$/,
  });
});
