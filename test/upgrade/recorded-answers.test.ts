// Contract: section 3.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { Pet } from '../../src/resources/pets/schema.ts';
import type { Idempotency } from '../../src/domain/idempotency.ts';
import type { PetRepository } from '../../src/resources/pets/repository.ts';
import { petJson } from '../../src/resources/pets/table.ts';
import { fakeClock } from '../support/clock.ts';
import { makeOldPostgres, makeOldSqlite } from '../support/old-schema.ts';
import { stopDatabaseClock } from '../support/postgres-clock.ts';
import { temporaryPostgres } from '../support/postgres.ts';
import { startTestService } from '../support/service.ts';
import { CLIENT, openStore } from '../support/store.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { test } from '../support/test.ts';

// Records of versions that stored the id of the animal: see docs/design/idempotency.md.

const NAMES = [
  ...Array.from({ length: 0x9f }, (_, code) => `a${String.fromCodePoint(code + 1)}b`),
  '\\u0041 \\" \\\\ </script>',
  'e\u0301 ﷺ 🐕‍🦺',
  'a\u2028b\u2029c\ufeffd\uffffe\u{10ffff}',
];

const PETS: readonly Pet[] = [
  { id: 1n, name: 'Rex', categoryId: -(2n ** 63n), status: 'sold' },
  ...NAMES.map((name, index): Pet => ({ id: BigInt(index) + 2n, name, categoryId: 2n ** 63n - 1n })),
];

/** The key of the record of an animal that was deleted before the upgrade. */
const ORPHAN = 99_999n;

const CLOCK = fakeClock();

function idempotencyOf(id: bigint): Idempotency {
  return { accountId: 1, key: `sha256 ${id}`, fingerprint: 'f', status: 201, location: '/pets/{id}' };
}

const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`;

/** The animals and their records as the versions before wrote them. */
const BEFORE = `
  INSERT INTO pets (id, name, category_id, status) VALUES ${PETS.map(
    ({ id, name, categoryId, status }) =>
      `(${id}, ${quoted(name)}, ${categoryId}, ${status === undefined ? 'NULL' : quoted(status)})`,
  ).join()};
  INSERT INTO idempotency (account_id, key, fingerprint, pet_id, created_at) VALUES ${[
    ...PETS.map(({ id }) => id),
    ORPHAN,
  ]
    .map((id) => `(1, 'sha256 ${id}', 'f', ${id}, ${Math.floor(CLOCK().unix)})`)
    .join()}`;

async function assertUpgraded(pets: PetRepository): Promise<void> {
  for (const pet of PETS) {
    const replayed = await pets.create(CLIENT, { name: 'Max', categoryId: 1n }, idempotencyOf(pet.id));
    const replay = { status: 201, location: `/pets/${pet.id}`, json: petJson(pet) };
    assert.deepEqual(replayed, { replay });
  }
  const fresh = await pets.create(CLIENT, { name: 'Max', categoryId: 1n }, idempotencyOf(ORPHAN));
  assert.ok('value' in fresh);
}

test('an upgrade of SQLite replays the exact answer of every record', async (t) => {
  const file = join(temporaryFolder(t), 'petstore.db');
  makeOldSqlite(file, 7, BEFORE);
  const store = openStore(`sqlite:${file}`, CLOCK);
  t.after(() => store.close());
  await assertUpgraded(store.pets);
});

test('an upgrade of PostgreSQL replays the exact answer of every record', async (t) => {
  const url = await temporaryPostgres(t);
  await stopDatabaseClock(url, CLOCK().unix);
  await makeOldPostgres(url, 2, `${BEFORE}; SELECT setval('pets_id_seq', 1000)`);
  const service = await startTestService(t, { databaseUrl: url, clock: CLOCK });
  await assertUpgraded(service.store.pets);
  await service.stop();
});
