// Contract: section 8.
import assert from 'node:assert/strict';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { holdDatabase, nameOfCopy, placingSteps } from '../../src/storage/sqlite/restore.ts';
import {
  run,
  runJson,
  runProcess,
  start,
  startServiceProcess,
  temporaryEnvironment,
  type Variables,
} from '../support/process.ts';
import { temporaryFolder } from '../support/temporary.ts';

const exported = async (file: string) =>
  (await run(['export'], { DATABASE_URL: `sqlite:${file}` })).stdout.split('\n').length - 1;

/** A database with 7 animals, and a backup of it when it had 5. */
async function withBackup(t: TestContext) {
  const variables = temporaryEnvironment(t);
  const database = (variables['DATABASE_URL'] ?? '').slice('sqlite:'.length);
  const backup = join(temporaryFolder(t), 'nightly.db');
  await runJson(['seed', '5', '--random-seed', '1'], variables);
  await runJson(['backup', backup], variables);
  await runJson(['seed', '2', '--random-seed', '1'], variables);
  return { variables, database, backup };
}

/** The files beside a database, itself included. */
const filesOf = (database: string) => readdirSync(dirname(database)).toSorted();

/** Runs a restore that must fail, and returns its line. */
async function refusal(backup: string, variables: Variables): Promise<string> {
  const { code, stdout, stderr } = await run(['restore', backup], variables);
  assert.deepEqual([code, stdout], [1, ''], stderr);
  return stderr;
}

test('restore puts a backup in place, keeps the old database whole, and adds to the audit log', async (t) => {
  const { variables, database, backup } = await withBackup(t);
  chmodSync(database, 0o644);
  const bytes = readFileSync(backup);
  const result = await runJson<{ kept: string }>(['restore', backup], variables);
  assert.deepEqual(result, { database, backup, bytes: statSync(database).size, kept: result.kept });
  assert.deepEqual(filesOf(database), ['petstore.db', result.kept.slice(dirname(database).length + 1)]);
  assert.deepEqual(
    [database, result.kept].map((file) => statSync(file).mode & 0o777),
    [0o600, 0o600],
  );
  assert.deepEqual(readFileSync(backup), bytes);
  assert.equal(await exported(database), 5);
  assert.equal(await exported(result.kept), 7);
  const [entry] = await runJson<{ action: string; target: unknown }[]>(['audit'], variables);
  assert.deepEqual([entry?.action, entry?.target], ['restore', { kind: 'database', name: backup }]);
});

test('restore makes a database where there is none, which only its owner can read', async (t) => {
  const { backup } = await withBackup(t);
  const database = join(temporaryFolder(t), 'new.db');
  const { code, stdout } = await run(['restore', backup], { DATABASE_URL: `sqlite:${database}` });
  assert.equal(code, 0);
  assert.equal(stdout, `${database} now holds the backup ${backup} (${statSync(database).size} bytes).\n`);
  assert.equal(statSync(database).mode & 0o777, 0o600);
  assert.equal(await exported(database), 5);
});

test('restore follows a symbolic link, and replaces the file behind it', async (t) => {
  const { database, backup } = await withBackup(t);
  const link = join(temporaryFolder(t), 'link.db');
  symlinkSync(database, link);
  assert.equal((await run(['restore', backup], { DATABASE_URL: `sqlite:${link}` })).code, 0);
  assert.equal(await exported(database), 5);
  assert.equal(await exported(link), 5);
});

test('restore refuses while a service runs, and changes nothing', async (t) => {
  const { variables, database, backup } = await withBackup(t);
  await startServiceProcess(t, variables);
  const before = filesOf(database);
  const { code, stderr } = await runProcess(['restore', backup], variables);
  assert.equal(code, 1);
  assert.equal(
    stderr,
    `petstore: Another petstore already serves production from ${database}: stop it first.\n`,
  );
  assert.deepEqual(filesOf(database), before);
  assert.equal(await exported(database), 7);
});

test('restore refuses while another process has the database open', async (t) => {
  const { variables, database, backup } = await withBackup(t);
  const other = new DatabaseSync(database);
  t.after(() => other.close());
  other.exec('SELECT count(*) FROM pets');
  assert.equal(
    await refusal(backup, variables),
    `petstore: Another process uses the database ${database}: stop it first.\n`,
  );
});

test('a database that is held cannot be opened by another process', async (t) => {
  const { variables, database } = await withBackup(t);
  const held = await holdDatabase(database);
  const outcome = await run(['export'], variables);
  assert.deepEqual([outcome.code, outcome.stdout], [1, '']);
  assert.match(outcome.stderr, /cannot be opened: database is locked/);
  await held.release();
  assert.equal(await exported(database), 7);
});

test('restore replaces a database that is too damaged to be opened, and keeps it with its log', async (t) => {
  const { variables, database, backup } = await withBackup(t);
  writeFileSync(database, 'x'.repeat(10_000));
  writeFileSync(`${database}-wal`, 'a log');
  const { kept } = await runJson<{ kept: string }>(['restore', backup], variables);
  assert.equal(readFileSync(kept, 'utf8'), 'x'.repeat(10_000));
  assert.equal(readFileSync(`${kept}-wal`, 'utf8'), 'a log');
  assert.equal(existsSync(`${database}-wal`), false);
  assert.equal(await exported(database), 5);
});

test('restore refuses a file that is no whole backup of this version, and changes nothing', async (t) => {
  const { variables, database, backup } = await withBackup(t);
  const folder = temporaryFolder(t);
  /** A copy of the backup that is changed. */
  const changed = (name: string, change: (file: string) => void) => {
    const file = join(folder, name);
    copyFileSync(backup, file);
    change(file);
    return file;
  };
  const execute = (sql: string) => (file: string) => {
    const db = new DatabaseSync(file);
    db.exec(sql);
    db.close();
  };
  const before = filesOf(database);
  for (const [file, message] of [
    [join(folder, 'missing.db'), 'Cannot read FILE: no such file or directory.'],
    [folder, 'Cannot read FILE: it is no file.'],
    [changed('text.db', (copy) => writeFileSync(copy, 'x'.repeat(5_000))), 'it is not a SQLite database'],
    [changed('empty.db', (copy) => truncateSync(copy)), 'FILE holds no petstore database.'],
    [changed('short.db', (copy) => truncateSync(copy, 40_960)), 'damaged'],
    [
      changed('newer.db', execute('PRAGMA user_version = 9999')),
      'FILE was made by a newer version of petstore',
    ],
    [changed('other.db', execute('PRAGMA application_id = 1')), 'FILE belongs to another program'],
    [
      changed('negative.db', execute('PRAGMA user_version = -1')),
      'FILE has the schema version -1, which no petstore has made.',
    ],
    [
      changed('zero.db', execute('PRAGMA user_version = 0')),
      'FILE has the table accounts, which petstore did not make.',
    ],
    [changed('older.db', execute('PRAGMA user_version = 20')), 'FILE has another table '],
    [
      changed('used.db', (copy) => writeFileSync(`${copy}-wal`, 'a log')),
      'FILE is no backup but a database in use',
    ],
  ] as const) {
    const stderr = await refusal(file, variables);
    assert.ok(stderr.includes(message.replace('FILE', file)), stderr);
    assert.deepEqual(filesOf(database), before, file);
  }
  assert.equal(await exported(database), 7);
});

test('restore refuses a backup with an object that petstore did not make, or without one that it made', async (t) => {
  const { variables, database, backup } = await withBackup(t);
  const before = filesOf(database);
  const bad = join(temporaryFolder(t), 'bad.db');
  for (const [sql, message] of [
    [
      `CREATE TRIGGER more AFTER INSERT ON pets BEGIN UPDATE operators SET role = 'admin'; END`,
      'has the trigger more, which petstore did not make.',
    ],
    [
      `CREATE TRIGGER no BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'no'); END`,
      'has the trigger no, which petstore did not make.',
    ],
    ['CREATE VIEW all_pets AS SELECT * FROM pets', 'has the view all_pets, which petstore did not make.'],
    ['CREATE INDEX fast ON pets (id + 1)', 'has the index fast, which petstore did not make.'],
    ['CREATE TABLE more (x)', 'has the table more, which petstore did not make.'],
    ['CREATE VIRTUAL TABLE found USING fts5(text)', 'has the table found, which petstore did not make.'],
    [
      `ALTER TABLE operators ADD COLUMN rank INTEGER AS (CASE role WHEN 'admin' THEN 1 END)`,
      'has another table operators than petstore makes.',
    ],
    [
      'DROP TRIGGER audit_not_updated; CREATE TRIGGER audit_not_updated BEFORE UPDATE ON audit BEGIN SELECT 1; END',
      'has another trigger audit_not_updated than petstore makes.',
    ],
    ['DROP TRIGGER audit_not_updated', 'lacks the trigger audit_not_updated.'],
    ['DROP INDEX passkeys_by_operator', 'lacks the index passkeys_by_operator.'],
  ] as const) {
    copyFileSync(backup, bad);
    const db = new DatabaseSync(bad);
    db.exec(sql);
    db.close();
    assert.equal(await refusal(bad, variables), `petstore: The database ${bad} ${message}\n`);
    assert.deepEqual(filesOf(database), before);
  }
  assert.equal(await exported(database), 7);
});

test('restore says in one line that rows of a backup cannot be used', async (t) => {
  const { variables, database, backup } = await withBackup(t);
  const db = new DatabaseSync(backup);
  // No entry of the audit log can follow.
  db.exec(`UPDATE sqlite_sequence SET seq = 9223372036854775807 WHERE name = 'audit'`);
  db.close();
  const stderr = await refusal(backup, variables);
  assert.match(stderr, /^petstore: The backup .* cannot be used: .*\n$/);
  assert.equal(await exported(database), 7);
});

test('restore takes a backup of version 1.0.0, and one that ANALYZE has seen', async (t) => {
  const { variables, database, backup } = await withBackup(t);
  const db = new DatabaseSync(backup);
  db.exec('ANALYZE');
  db.close();
  await runJson(['restore', backup], variables);
  assert.equal(await exported(database), 5);
  const old = fileURLToPath(new URL('../upgrade/1.0.0/sqlite.db', import.meta.url));
  await runJson(['restore', old], variables);
  assert.notEqual(await exported(database), 5);
});

test('restore names the tools of PostgreSQL', async (t) => {
  const { backup } = await withBackup(t);
  const stderr = await refusal(backup, { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' });
  assert.match(stderr, /^petstore: restore is for SQLite\. .* pg_restore or psql .*\n$/);
});

test('after a crash in any step, the database is the whole old one or the whole backup', async (t) => {
  const { database, backup } = await withBackup(t);
  const kept = join(dirname(database), 'kept.db');
  const all = placingSteps({ file: database, exists: true }, kept).length;
  const found: number[] = [];
  for (let steps = 0; steps <= all; steps++) {
    const folder = join(temporaryFolder(t), String(steps));
    mkdirSync(folder);
    const [file, old] = [join(folder, 'petstore.db'), join(folder, 'kept.db')];
    copyFileSync(database, file);
    copyFileSync(backup, nameOfCopy(file));
    for (const step of placingSteps({ file, exists: true }, old).slice(0, steps)) step();
    const { nlink } = statSync(file);
    if (nlink > 1) {
      const { code, stderr } = await run(['export'], { DATABASE_URL: `sqlite:${file}` });
      assert.equal(code, 1);
      assert.match(stderr, /has 2 names \(hard links\), and SQLite needs one: delete the others\./);
      // As the message says.
      const single = join(folder, 'single.db');
      copyFileSync(file, single);
      found.push(await exported(single));
    } else found.push(await exported(file));
    // What was killed can be repeated.
    assert.equal((await run(['restore', backup], { DATABASE_URL: `sqlite:${file}` })).code, 0);
    assert.equal(await exported(file), 5);
    assert.equal(existsSync(nameOfCopy(file)), false);
  }
  assert.deepEqual(new Set(found), new Set([7, 5]));
  assert.deepEqual(
    found,
    found.toSorted((one, other) => other - one),
  );
  assert.ok(found.includes(5));
});

test('a restore that is killed while it copies leaves the old database, and can be repeated', async (t) => {
  const { variables, database, backup } = await withBackup(t);
  const { child, ended } = start(['restore', backup], variables);
  while (!existsSync(nameOfCopy(database)) && child.exitCode === null) await new Promise(setImmediate);
  child.kill('SIGKILL');
  assert.equal((await ended).code, null);
  assert.equal(await exported(database), 7);
  assert.equal((await run(['restore', backup], variables)).code, 0);
  assert.equal(await exported(database), 5);
});

test('a database with two names is refused before it is changed', async (t) => {
  const { variables, database } = await withBackup(t);
  linkSync(database, `${database}.second`);
  assert.match((await run(['export'], variables)).stderr, /has 2 names/);
});
