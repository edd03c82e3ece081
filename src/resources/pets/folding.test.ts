// Contract: section 8.2.
import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { list, REX } from '../../../test/storage/fixture.ts';
import { postgresFixture } from '../../../test/storage/postgres-fixture.ts';
import { sqliteFixture } from '../../../test/storage/sqlite-fixture.ts';
import { CLIENT } from '../../../test/support/store.ts';
import { test } from '../../../test/support/test.ts';

/** A store, and what runs a statement as an instance of the version before does. */
const STORES = {
  SQLite: async (...args: Parameters<typeof sqliteFixture>) => {
    const { store, raw } = await sqliteFixture(...args);
    return {
      store,
      async raw(statement: string) {
        raw().exec(statement);
        // A turn of the event loop reads as of its beginning.
        await setImmediate();
      },
    };
  },
  PostgreSQL: postgresFixture,
};

for (const [name, fresh] of Object.entries(STORES))
  test(`${name}: animals that the version before wrote are found by name once their names are folded`, async (t) => {
    const fixture = await fresh(t);
    const { pets } = fixture.store;
    await pets.create(CLIENT, { ...REX, name: 'STRASSE' });
    const find = async () => (await list(pets, { limit: 10, name: 'straße' })).map(({ id }) => id);
    assert.deepEqual(await find(), [1n]);
    await fixture.raw(`INSERT INTO pets (name, category_id) SELECT 'Straße', 7`);
    await fixture.raw(`UPDATE pets SET name = 'Minka', version = version + 1 WHERE id = 1`);
    await assert.rejects(find(), { code: 'unavailable' });
    assert.equal((await list(pets, { limit: 10 })).length, 2);
    await pets.foldNames();
    assert.deepEqual(await find(), [2n]);
    assert.equal((await list(pets, { limit: 10, name: 'MINKA' })).length, 1);
  });
