// Contract: section 6.
// One service of an environment counts over a SQLite file (docs/design/sqlite.md).
import assert from 'node:assert/strict';
import { existsSync, linkSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import { fakeClock } from '../support/clock.ts';
import { openStore } from '../support/store.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { sqliteFixture } from './sqlite-fixture.ts';

const HELD = { name: 'StartupError', message: /^Another petstore already serves production/ };

/** A store that holds the lock, its lock file, and a name for its database in another folder. */
async function lockedFixture(t: TestContext) {
  const fixture = await sqliteFixture(t);
  await fixture.store.lockForServing('production');
  const alias = join(temporaryFolder(t), 'alias.db');
  return { ...fixture, lockFile: `${fixture.file}.production.lock`, alias };
}

test('a second service is refused when it names the file by a symbolic link', async (t) => {
  const { file, alias } = await lockedFixture(t);
  symlinkSync(file, alias);
  const second = openStore(`sqlite:${alias}`, fakeClock());
  t.after(() => second.close());
  await assert.rejects(second.lockForServing('production'), HELD);
  // Beside the file itself, where a service in another container looks for it.
  await second.lockForServing('staging');
  assert.ok(existsSync(`${file}.staging.lock`));
});

test('a database with two hard links is not opened', async (t) => {
  const { file, alias } = await lockedFixture(t);
  linkSync(file, alias);
  for (const name of [file, alias])
    assert.throws(() => openStore(`sqlite:${name}`, fakeClock()), {
      name: 'StartupError',
      message: `The database ${name} has 2 names (hard links), and SQLite needs one: delete the others.`,
    });
  assert.equal(existsSync(`${alias}-wal`), false);
});

test('a second service is refused although the lock file was deleted', async (t) => {
  const { another, lockFile } = await lockedFixture(t);
  rmSync(lockFile);
  await assert.rejects((await another()).lockForServing('production'), HELD);
});

test('the service recreates a deleted lock file and holds it', async (t) => {
  const { store, lockFile } = await lockedFixture(t);
  rmSync(lockFile);
  assert.equal(await store.check(), 'kept');
  const other = new DatabaseSync(lockFile);
  t.after(() => other.close());
  assert.throws(() => other.exec('BEGIN EXCLUSIVE'), /locked/);
});

test('a service whose lock file another one recreated never counts again', async (t) => {
  const { store, lockFile } = await lockedFixture(t);
  rmSync(lockFile);
  // In another container, where the socket of this one is not seen.
  const other = new DatabaseSync(lockFile);
  other.exec('BEGIN EXCLUSIVE');
  await assert.rejects(store.check(), HELD);
  other.close();
  await assert.rejects(store.check(), HELD);
});

test('a refused service leaves nothing locked', async (t) => {
  const { store, file } = await sqliteFixture(t);
  const other = new DatabaseSync(`${file}.production.lock`);
  other.exec('BEGIN EXCLUSIVE');
  await assert.rejects(store.lockForServing('production'), HELD);
  other.close();
  await store.lockForServing('production');
});
