// Contract: sections 6, 7 and 8.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import { INT64_MIN } from '../../src/domain/int64.ts';
import { DEFAULT_DATABASE_URL } from '../../src/config/database-url.ts';
import { openDatabase } from '../../src/storage/sqlite/database.ts';
import { CLIENT, openStore } from '../support/store.ts';
import { fakeClock } from '../support/clock.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { get, list, requireValue, REX } from './fixture.ts';
import { sqliteFixture } from './sqlite-fixture.ts';

const FOLDER = new URL('../../src/storage/sqlite/migrations/', import.meta.url);
const MIGRATIONS = readdirSync(FOLDER).toSorted();

function open(t: TestContext, file: string) {
  const store = openStore(`sqlite:${file}`, fakeClock());
  t.after(() => store.close());
  return store;
}

/** A file made by `sql`, and what it holds. */
function madeBy(t: TestContext, sql: string): { file: string; bytes: Buffer } {
  const file = join(temporaryFolder(t), 'other.db');
  const db = new DatabaseSync(file);
  db.exec(sql);
  db.close();
  return { file, bytes: readFileSync(file) };
}

function assertRefused(file: string, fault: RegExp): void {
  assert.throws(
    () => openStore(`sqlite:${file}`, fakeClock()),
    (error: Error) => {
      assert.equal(error.name, 'StartupError');
      assert.match(error.message, fault);
      assert.ok(error.message.includes(file), 'the message names the file');
      assert.ok(!error.message.includes('\n'), 'the message is one line');
      return true;
    },
  );
}

test('a file that does not exist, and an empty one, get the schema', async (t) => {
  const file = join(temporaryFolder(t), 'petstore.db');
  writeFileSync(file, '');
  for (const each of [file, join(temporaryFolder(t), 'new.db')]) {
    const store = open(t, each);
    assert.equal(requireValue(await store.pets.create(CLIENT, REX)).id, 1n);
    const db = new DatabaseSync(each);
    t.after(() => db.close());
    assert.equal(db.prepare('PRAGMA user_version').get()?.['user_version'], MIGRATIONS.length);
    assert.equal(db.prepare('PRAGMA journal_mode').get()?.['journal_mode'], 'wal');
  }
});

test('opening a second time changes nothing', async (t) => {
  const { file, store, reopen } = await sqliteFixture(t);
  const pet = requireValue(await store.pets.create(CLIENT, REX));
  const again = await reopen();
  assert.deepEqual(await get(again.pets, pet.id), pet);
  assert.deepEqual(await get(open(t, file).pets, pet.id), pet);
});

test('a catalogue of the first schema keeps its animals and reuses no id', async (t) => {
  const { file } = madeBy(
    t,
    `${readFileSync(new URL(MIGRATIONS[0] ?? '', FOLDER), 'utf8')};
    INSERT INTO pets (name, category_id, status) VALUES ('Rex', 7, 'sold'), ('"Žofie"', ${INT64_MIN}, NULL), ('gone', 1, NULL);
    DELETE FROM pets WHERE id = 3;
    PRAGMA application_id = 0x50657453; PRAGMA user_version = 1`,
  );
  const { pets } = open(t, file);
  const animals = [
    { id: 2n, name: '"Žofie"', categoryId: INT64_MIN },
    { id: 1n, name: 'Rex', categoryId: 7n, status: 'sold' },
  ];
  assert.deepEqual(await list(pets, { limit: 3 }), animals);
  assert.deepEqual(await list(pets, { limit: 3, status: 'sold' }), animals.slice(1));
  assert.equal(requireValue(await pets.create(CLIENT, REX)).id, 4n);
});

test('a database of a newer schema is refused and not changed', async (t) => {
  const file = join(temporaryFolder(t), 'petstore.db');
  await openStore(`sqlite:${file}`, fakeClock()).close();
  const db = new DatabaseSync(file);
  db.exec(`PRAGMA user_version = ${MIGRATIONS.length + 1}`);
  db.close();
  const bytes = readFileSync(file);
  assertRefused(file, /newer version of petstore/);
  assert.deepEqual(readFileSync(file), bytes);
});

test('a file that is not a database is refused and not touched', (t) => {
  const file = join(temporaryFolder(t), 'notes.txt');
  const text = 'Dear diary, today I was given as DATABASE_URL. '.repeat(100);
  writeFileSync(file, text);
  assertRefused(file, /not a SQLite database/);
  assert.equal(readFileSync(file, 'utf8'), text);
});

for (const [title, sql] of [
  ['with tables of its own', 'CREATE TABLE pets (id INTEGER PRIMARY KEY)'],
  ['with an application id of its own', 'PRAGMA application_id = 77; CREATE TABLE t (x); DROP TABLE t'],
] as const) {
  test(`a foreign database ${title} is refused and not changed`, (t) => {
    const { file, bytes } = madeBy(t, sql);
    assertRefused(file, /belongs to another program/);
    assert.deepEqual(readFileSync(file), bytes);
  });
}

test('a database of another encoding is refused and not changed', (t) => {
  const { file, bytes } = madeBy(t, `PRAGMA encoding = 'UTF-16le'; CREATE TABLE x (a); DROP TABLE x`);
  assertRefused(file, /must be encoded in UTF-8, not UTF-16le/);
  assert.deepEqual(readFileSync(file), bytes);
});

test('a damaged database is refused', async (t) => {
  const file = join(temporaryFolder(t), 'petstore.db');
  await openStore(`sqlite:${file}`, fakeClock()).close();
  const bytes = readFileSync(file);
  // The list of tables begins behind the header of 100 bytes.
  writeFileSync(file, bytes.fill(0xff, 100, 4_000));
  assertRefused(file, /damaged; restore it from a backup/);
});

test('a missing folder is refused by name, and not created', (t) => {
  const folder = join(temporaryFolder(t), 'not-mounted');
  assert.throws(() => openStore(`sqlite:${folder}/petstore.db`, fakeClock()), {
    name: 'StartupError',
    message: `The folder ${folder} of the database does not exist.`,
  });
  assert.ok(!existsSync(folder));
});

test('the folder of the default DATABASE_URL is created', async (t) => {
  const folder = temporaryFolder(t);
  const before = process.cwd();
  process.chdir(folder);
  t.after(() => process.chdir(before));
  const store = openStore(DEFAULT_DATABASE_URL, fakeClock());
  t.after(() => store.close());
  await store.ping();
  assert.ok(existsSync(join(folder, 'data', 'petstore.db')));
});

test('a path where no file can be written is refused', (t) => {
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, 'file'), '');
  assertRefused(join(folder, 'file', 'petstore.db'), /cannot be opened/);
  mkdirSync(join(folder, 'folder'));
  assertRefused(join(folder, 'folder'), /cannot be opened/);
});

test('a second service of an environment over the same file is refused', async (t) => {
  const { store, another, file } = await sqliteFixture(t);
  const second = await another();
  await store.lockForServing('production');
  await assert.rejects(second.lockForServing('production'), {
    name: 'StartupError',
    message: `Another petstore already serves production from ${file}: stop it first.`,
  });
  await second.lockForServing('staging');
});

test('a service that ended leaves the file to the next one', async (t) => {
  const { store, reopen } = await sqliteFixture(t);
  await store.lockForServing('production');
  const next = await reopen();
  await next.lockForServing('production');
});

test('a lock that cannot be created is refused with its own reason', async (t) => {
  const { store, file } = await sqliteFixture(t);
  mkdirSync(`${file}.production.lock`);
  await assert.rejects(store.lockForServing('production'), {
    name: 'StartupError',
    message: /production\.lock cannot be opened/,
  });
});

test('the connection of the event loop cannot write', async (t) => {
  const { file } = await sqliteFixture(t);
  const db = openDatabase(file, { createFolder: false });
  t.after(() => db.close());
  assert.throws(() => db.exec("INSERT INTO pets (name, category_id) VALUES ('Rex', 1)"), /readonly/);
});
