// Contract: sections 5.2 and 8.2.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { Client } from 'pg';
import { PETS, type PetRow } from '../../src/resources/pets/table.ts';
import type { Store } from '../../src/resources/repositories.ts';
import { call } from '../support/api.ts';
import { fakeClock } from '../support/clock.ts';
import { makeOldPostgres, makeOldSqlite } from '../support/old-schema.ts';
import { temporaryPostgres } from '../support/postgres.ts';
import { runJson } from '../support/process.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { test } from '../support/test.ts';
import ofOnePostgres from './1.0.0/postgres.json' with { type: 'json' };
import ofOneSqlite from './1.0.0/sqlite.json' with { type: 'json' };
import beforePostgres from './6920dd7/postgres.json' with { type: 'json' };
import beforeSqlite from './6920dd7/sqlite.json' with { type: 'json' };
import { RESTORE } from './restore.ts';

// Databases of versions without owners of animals and actors of events.

/** A service over a database as it was when the services of its version had stopped. */
const start = (t: TestContext, databaseUrl: string, stoppedAt: string) =>
  startTestService(t, { databaseUrl, clock: fakeClock(stoppedAt) });

const notesIn = ({ log }: TestService) => log.filter(({ msg }) => String(msg).startsWith('upgraded: '));

async function readPets({ database }: Store): Promise<PetRow[]> {
  await using snapshot = await database.snapshot();
  const pets: PetRow[] = [];
  for await (const rows of snapshot.rows(PETS)) pets.push(...rows.map(PETS.parse));
  return pets;
}

interface ListedKey {
  readonly id: number;
  readonly scopes: readonly string[];
}

const withManage = ({ id, scopes }: ListedKey) => [
  id,
  scopes.flatMap((scope) => (scope === 'pets:write' ? [scope, 'pets:manage'] : scope)),
];

for (const [name, version, before, restore] of [
  ['SQLite', '1.0.0', ofOneSqlite, RESTORE.SQLite],
  ['SQLite', '6920dd7', beforeSqlite, RESTORE.SQLite],
  ['PostgreSQL', '1.0.0', ofOnePostgres, RESTORE.PostgreSQL],
  ['PostgreSQL', '6920dd7', beforePostgres, RESTORE.PostgreSQL],
] as const) {
  const prepare = (t: TestContext) => restore(t, version, before.stoppedAt);

  test(`${name} of ${version}: animals belong to the house, and keys that could change any still can`, async (t) => {
    const databaseUrl = await prepare(t);
    const keys = await runJson<readonly ListedKey[]>(['keys', 'list'], { DATABASE_URL: databaseUrl });
    assert.deepEqual(
      keys.map(({ id, scopes }) => [id, scopes]),
      before.keys.map(withManage),
    );
    const service = await start(t, databaseUrl, before.stoppedAt);
    const pets = await readPets(service.store);
    assert.equal(pets.length, JSON.parse(before.pets).length);
    for (const { ownerId, changedAt, changedBy } of pets)
      assert.deepEqual([ownerId, changedAt, changedBy], [0, undefined, undefined]);
    const writer = before.keys.find(
      ({ scopes, state, environment }) =>
        scopes.includes('pets:write') && state === 'active' && environment === 'production',
    );
    const changed = await call(service.url, `/v1/pets/${pets.at(-1)?.id}`, {
      method: 'PATCH',
      key: writer?.key,
      body: '{"name":"Maximilian"}',
    });
    assert.deepEqual([changed.status, changed.json.name], [200, 'Maximilian']);
    await service.stop();
  });

  test(`${name} of ${version}: one line at the first start says so, and which keys must wait`, async (t) => {
    const databaseUrl = await prepare(t);
    // A command migrates the database and says nothing.
    await runJson(['migrate'], { DATABASE_URL: databaseUrl });
    const first = await start(t, databaseUrl, before.stoppedAt);
    const [note, ...others] = notesIn(first);
    assert.equal(note?.['level'], 40);
    assert.match(String(note?.['msg']), /animals belong to the house.*pets:manage.*rotate no key/);
    assert.deepEqual(others, []);
    await first.stop();
    const second = await start(t, databaseUrl, before.stoppedAt);
    assert.deepEqual(notesIn(second), []);
    await second.stop();
  });
}

for (const [name, before, restore] of [
  ['SQLite', beforeSqlite, RESTORE.SQLite],
  ['PostgreSQL', beforePostgres, RESTORE.PostgreSQL],
] as const)
  test(`${name} of 6920dd7: animals, orders and events stay as they were`, async (t) => {
    const databaseUrl = await restore(t, '6920dd7', before.stoppedAt);
    const service = await start(t, databaseUrl, before.stoppedAt);
    const key = before.keys.find(({ scopes }) => scopes.includes('keys:manage'))?.key;
    const send = async (path: string, asked = {}) => call(service.url, `/v1${path}`, { key, ...asked });
    assert.equal((await send('/pets?limit=100')).text, before.pets);
    assert.equal((await send('/store/orders?limit=100')).text, before.orders);
    assert.equal((await send('/events')).text, before.events);
    const completed = await send('/store/orders/1/complete', { method: 'POST' });
    assert.deepEqual([completed.status, completed.json.status], [200, 'complete']);
    assert.equal((await send('/pets', { body: '{"name":"Max","categoryId":1}' })).json.id, 10);
    await service.stop();
  });

const ANIMALS = `INSERT INTO pets (name, category_id, status) VALUES ('Rex', 7, 'available'), ('Bo', 7, NULL)`;

for (const [name, prepare] of [
  [
    'SQLite',
    async (t: TestContext) => {
      const file = join(temporaryFolder(t), 'petstore.db');
      makeOldSqlite(file, 25, ANIMALS);
      return `sqlite:${file}`;
    },
  ],
  [
    'PostgreSQL',
    async (t: TestContext) => {
      const url = await temporaryPostgres(t);
      await makeOldPostgres(url, 20, ANIMALS);
      return url;
    },
  ],
] as const)
  test(`${name}: without keys, an upgrade concerns nobody and says nothing`, async (t) => {
    const service = await startTestService(t, { databaseUrl: await prepare(t) });
    assert.deepEqual(notesIn(service), []);
    await service.stop();
  });

/** What an instance of the version before writes: a new animal, a change of it, and the places of its events. */
const BESIDE = `
  WITH added AS MATERIALIZED (
    SELECT nextval('pets_id_seq') AS id, n, name, category_id, status, version
    FROM unnest('{Kim}'::text[], '{7}'::bigint[], '{sold}'::text[], '{1}'::bigint[])
      WITH ORDINALITY AS t (name, category_id, status, version, n)
  ), inserted AS (
    INSERT INTO pets (id, name, category_id, status, version) SELECT id, name, category_id, status, version FROM added
  ), noted AS (
    INSERT INTO event_queue (account_id, environment, type, at, version, data)
    SELECT 0, '', 'pet.created', 1, 1, '{"id":10,"name":"Kim","categoryId":7,"status":"sold"}' FROM added ORDER BY id
  )
  SELECT id FROM added ORDER BY n;
  WITH s0 AS (UPDATE pets SET name = 'Kimi', version = 2 WHERE id = 10)
  INSERT INTO event_queue (account_id, environment, type, at, version, data) VALUES
    (0, '', 'pet.updated', 1, 2, '{"id":10,"name":"Kimi","categoryId":7,"status":"sold"}');
  WITH queued AS (
    DELETE FROM event_queue WHERE id IN (SELECT id FROM event_queue ORDER BY id LIMIT 2000) RETURNING *
  ), placed AS (
    INSERT INTO events (key, account_id, environment, type, at, version, data)
    SELECT key, account_id, environment, type, at, version, data FROM queued ORDER BY id RETURNING 1
  )
  SELECT count(*) FROM placed`;

test('what the version before writes beside this one belongs to the house, and nobody is known to have done it', async (t) => {
  const { stoppedAt, keys } = beforePostgres;
  const url = await RESTORE.PostgreSQL(t, '6920dd7', stoppedAt);
  const service = await start(t, url, stoppedAt);
  const key = keys.find(({ scopes }) => scopes.includes('keys:manage'))?.key;
  const send = (path: string, asked = {}) => call(service.url, `/v1${path}`, { key, ...asked });
  const begin =
    /<[^>]*\/v1([^>]+)>/.exec((await send('/events?after=now')).headers.get('link') ?? '')?.[1] ?? '';
  const client = new Client(url);
  await client.connect();
  await client.query(BESIDE);
  const readKim = async () => (await readPets(service.store)).find(({ id }) => id === 10n);
  const kim = await readKim();
  assert.deepEqual([kim?.name, kim?.ownerId, kim?.changedBy], ['Kimi', 0, undefined]);
  assert.equal((await send('/pets/10', { method: 'PATCH', body: '{"status":"available"}' })).status, 200);
  // The version before does not say who changed it last.
  await client.query(`UPDATE pets SET name = 'Kim', version = version + 1 WHERE id = 10`);
  await client.end();
  const again = await readKim();
  assert.equal(again?.version, 4);
  assert.notEqual(again.changedVersion, again.version);
  assert.equal((await send('/pets/10')).json.name, 'Kim');
  await service.store.events.placeAll();
  const types = (await send(begin)).json.map((event: { type: string; version: number }) => [
    event.type,
    event.version,
  ]);
  assert.deepEqual(types, [
    ['pet.created', 1],
    ['pet.updated', 2],
    ['pet.updated', 3],
  ]);
  await service.stop();
});
