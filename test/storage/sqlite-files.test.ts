// Contract: section 3.
// A create is answered once the animal is on disk, in the file that the next start opens.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, renameSync, rmSync, symlinkSync, truncateSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { test, type TestContext } from 'node:test';
import { fakeClock } from '../support/clock.ts';
import { CLIENT, openStore } from '../support/store.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { get, requireValue, REX } from './fixture.ts';
import { sqliteFixture } from './sqlite-fixture.ts';

const UNAVAILABLE = { code: 'unavailable' };

/** A store whose thread has written before. */
async function usedFixture(t: TestContext) {
  const fixture = await sqliteFixture(t);
  await fixture.store.pets.create(CLIENT, REX);
  return fixture;
}

/** What happens to the files, and what the log says of it. */
const ACCIDENTS: Readonly<Record<string, { happen: (file: string) => void; reason: RegExp }>> = {
  'database was deleted': { happen: (file) => rmSync(file), reason: /petstore\.db was deleted or moved/ },
  'database was moved': {
    happen: (file) => renameSync(file, `${file}.old`),
    reason: /petstore\.db was deleted or moved/,
  },
  'database was replaced by a copy': {
    happen(file) {
      copyFileSync(file, `${file}.copy`);
      renameSync(`${file}.copy`, file);
    },
    reason: /petstore\.db was replaced by another file/,
  },
  'write-ahead log was deleted': {
    happen: (file) => rmSync(`${file}-wal`),
    reason: /petstore\.db-wal was deleted or moved/,
  },
  'index of the write-ahead log was deleted': {
    happen: (file) => rmSync(`${file}-shm`),
    reason: /petstore\.db-shm was deleted or moved/,
  },
};

for (const [what, { happen, reason }] of Object.entries(ACCIDENTS)) {
  test(`creates and readiness fail after the ${what}`, async (t) => {
    const { store, file } = await usedFixture(t);
    happen(file);
    for (let create = 0; create < 2; create++)
      await assert.rejects(store.pets.create(CLIENT, REX), UNAVAILABLE);
    await assert.rejects(store.ping(), UNAVAILABLE);
    await assert.rejects(store.check(), reason);
  });
}

test('a create is refused when the database is moved and a symbolic link to it left in its place', async (t) => {
  const { store, file, reopen } = await usedFixture(t);
  const moved = join(temporaryFolder(t), 'petstore.db');
  renameSync(file, moved);
  symlinkSync(moved, file);
  await assert.rejects(store.pets.create(CLIENT, REX), UNAVAILABLE);
  await assert.rejects(store.ping(), UNAVAILABLE);
  // The next start looks for the log beside the database.
  await assert.rejects(store.check(), /petstore\.db-wal was deleted or moved/);
  rmSync(file);
  renameSync(moved, file);
  assert.equal(requireValue(await store.pets.create(CLIENT, REX)).id, 2n);
  assert.equal((await get((await reopen()).pets, 2n))?.id, 2n);
});

test('a database that was moved and put back is written again, without half writes', async (t) => {
  const { store, file, reopen } = await usedFixture(t);
  renameSync(file, `${file}.old`);
  await assert.rejects(store.pets.create(CLIENT, REX), UNAVAILABLE);
  renameSync(`${file}.old`, file);
  assert.equal(await store.check(), 'kept');
  assert.equal(requireValue(await store.pets.create(CLIENT, REX)).id, 2n);
  assert.equal((await get((await reopen()).pets, 2n))?.id, 2n);
});

test('a create is refused when the database is deleted while it is written', async (t) => {
  const { store, raw, file } = await usedFixture(t);
  const db = raw();
  // The transaction takes some hundred milliseconds.
  db.exec(`CREATE TRIGGER slow AFTER INSERT ON pets BEGIN
    SELECT count(*) FROM (WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000000) SELECT i FROM n);
  END`);
  const creation = store.pets.create(CLIENT, REX);
  const isRefused = assert.rejects(creation, UNAVAILABLE);
  const isWriting = () => {
    try {
      db.exec('BEGIN IMMEDIATE; ROLLBACK');
      return false;
    } catch {
      return true;
    }
  };
  while (!isWriting()) await setImmediate();
  rmSync(file);
  await isRefused;
});

test('a symbolic link that now leads to another file is another file', async (t) => {
  const { file } = await usedFixture(t);
  const link = join(temporaryFolder(t), 'petstore.db');
  symlinkSync(file, link);
  const store = openStore(`sqlite:${link}`, fakeClock());
  t.after(() => store.close());
  await store.pets.create(CLIENT, REX);
  const { file: other } = await usedFixture(t);
  rmSync(link);
  symlinkSync(other, link);
  await assert.rejects(store.pets.create(CLIENT, REX), UNAVAILABLE);
});

test('symbolic links in a circle end the search for the database', (t) => {
  const folder = temporaryFolder(t);
  const [one, other] = [join(folder, 'one.db'), join(folder, 'other.db')];
  symlinkSync(one, other);
  symlinkSync(other, one);
  const module = new URL('../../src/storage/sqlite/database-files.ts', import.meta.url);
  // In a process of its own, because a search without an end would end no test.
  const search = `import { databaseFiles } from '${module.href}'; databaseFiles('${one}');`;
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', search], {
    encoding: 'utf8',
    timeout: 30_000,
  });
  assert.equal(status, 1);
  assert.match(stderr, /behind more than 40 symbolic links/);
});

test('a create is refused when the file behind its symbolic link is replaced', async (t) => {
  const { file } = await usedFixture(t);
  const link = join(temporaryFolder(t), 'petstore.db');
  symlinkSync(file, link);
  const store = openStore(`sqlite:${link}`, fakeClock());
  t.after(() => store.close());
  await store.pets.create(CLIENT, REX);
  copyFileSync(file, `${file}.copy`);
  renameSync(`${file}.copy`, file);
  await assert.rejects(store.pets.create(CLIENT, REX), UNAVAILABLE);
});

/** A store that was opened through a link to a link to its file, and the folders of the three. */
async function storeBehindLinks(t: TestContext) {
  const { file } = await usedFixture(t);
  const middle = join(temporaryFolder(t), 'middle.db');
  symlinkSync(file, middle);
  const folder = temporaryFolder(t);
  // Relative, in a folder that is itself reached through a link.
  symlinkSync(dirname(middle), join(folder, 'parent'));
  const link = join(folder, 'petstore.db');
  symlinkSync(join('parent', basename(middle)), link);
  const store = openStore(`sqlite:${link}`, fakeClock());
  t.after(() => store.close());
  await store.pets.create(CLIENT, REX);
  return { store, file, middle, link, folder };
}

/** What happens to the links, after which a start opens another file or another log. */
const SWAPS: Readonly<
  Record<string, (links: Awaited<ReturnType<typeof storeBehindLinks>>, other: string) => void>
> = {
  'a link in the middle': ({ middle }, other) => {
    rmSync(middle);
    symlinkSync(other, middle);
  },
  'the link of a parent folder': ({ folder }, other) => {
    copyFileSync(other, join(dirname(other), 'middle.db'));
    rmSync(join(folder, 'parent'));
    symlinkSync(dirname(other), join(folder, 'parent'));
  },
  'the link, to the same file in another folder': ({ file, link }, other) => {
    renameSync(file, other);
    rmSync(link);
    symlinkSync(other, link);
  },
};

for (const [what, swap] of Object.entries(SWAPS))
  test(`a create is refused at once when somebody swaps ${what}`, async (t) => {
    const links = await storeBehindLinks(t);
    const { file: other } = await usedFixture(t);
    swap(links, other);
    await assert.rejects(links.store.pets.create(CLIENT, REX), UNAVAILABLE);
    await assert.rejects(links.store.check());
  });

test('creates go on when files and log move to another folder together, behind a link', async (t) => {
  const { store, folder } = await storeInFolder(t);
  renameSync(folder, `${folder}.new`);
  symlinkSync(`${folder}.new`, folder);
  assert.equal(requireValue(await store.pets.create(CLIENT, REX)).id, 2n);
  assert.equal(await store.check(), 'kept');
});

test('a create is refused from the moment that the database is truncated, even if somebody makes it long again', async (t) => {
  const { store, file, raw } = await usedFixture(t);
  const checkpoint = () => raw().exec('PRAGMA wal_checkpoint(TRUNCATE)');
  checkpoint();
  // Not every database that gets smaller is truncated.
  raw().exec('CREATE TABLE filler AS SELECT randomblob(1000000) AS bytes');
  checkpoint();
  await store.pets.create(CLIENT, REX);
  raw().exec('DROP TABLE filler; VACUUM');
  checkpoint();
  assert.equal(requireValue(await store.pets.create(CLIENT, REX)).id, 3n);
  assert.equal(await store.check(), 'kept');

  copyFileSync(file, `${file}.copy`);
  truncateSync(file, 8_192);
  for (let create = 0; create < 2; create++)
    await assert.rejects(store.pets.create(CLIENT, REX), UNAVAILABLE);
  await assert.rejects(store.check(), /petstore\.db was truncated while in use/);
  copyFileSync(`${file}.copy`, file);
  await assert.rejects(store.pets.create(CLIENT, REX), UNAVAILABLE);
  await assert.rejects(store.check(), /petstore\.db was truncated while in use/);
});

/** A used store in a folder that can be moved. */
async function storeInFolder(t: TestContext) {
  const folder = join(temporaryFolder(t), 'data');
  mkdirSync(folder);
  const { store } = await sqliteFixture(t, { folder });
  await store.pets.create(CLIENT, REX);
  return { store, folder };
}

test('a create is refused when the folder of the database is moved', async (t) => {
  const { store, folder } = await storeInFolder(t);
  renameSync(folder, `${folder}.old`);
  await assert.rejects(store.pets.create(CLIENT, REX), UNAVAILABLE);
});

test('a create is refused when a copy with the same times replaces the folder', async (t) => {
  const { store, folder } = await storeInFolder(t);
  execFileSync('cp', ['-a', folder, `${folder}.copy`]);
  renameSync(folder, `${folder}.old`);
  renameSync(`${folder}.copy`, folder);
  await assert.rejects(store.pets.create(CLIENT, REX), UNAVAILABLE);
});
