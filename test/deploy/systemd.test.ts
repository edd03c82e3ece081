// The units of deploy/systemd, and the command that runs like them. Contract: section 7.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { TestContext } from 'node:test';
import { readConfig } from '../../src/app/config.ts';
import { systemdAnalyze } from '../support/deploy-checks.ts';
import { newDatabase } from '../support/new-database.ts';
import { program } from '../support/servers.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { test } from '../support/test.ts';
import { pathOf, read } from './files.ts';

const UNIT = read('deploy/systemd/petstore.service');
const CHECKOUT = pathOf('').replace(/\/$/, '');

/** The values of a setting of a unit, which may come several times. */
const settings = (unit: string, name: string) =>
  [...unit.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value = '']) => value);

/** A folder with everything of deploy/systemd as it would be installed: for this checkout, this user and this folder. */
function install(t: TestContext): string {
  const folder = temporaryFolder(t);
  const paths = [
    ['/usr/local/bin/petstore', join(folder, 'petstore.sh')],
    ['/opt/petstore', CHECKOUT],
    ['/var/lib', folder],
    ['/etc/petstore', join(folder, 'petstore')],
    ['= petstore ]', `= ${userInfo().username} ]`],
  ] as const;
  for (const name of readdirSync(pathOf('deploy/systemd'))) {
    const text = paths.reduce(
      (changed, [from, to]) => changed.replaceAll(from, to),
      read(`deploy/systemd/${name}`),
    );
    writeFileSync(join(folder, name), text);
  }
  chmodSync(join(folder, 'petstore.sh'), 0o755);
  return folder;
}

test('systemd accepts the units without a warning', async (t) => {
  const folder = install(t);
  // Debian's package may be missing here.
  const backup = readFileSync(join(folder, 'petstore-backup.service'), 'utf8');
  writeFileSync(
    join(folder, 'petstore-backup.service'),
    backup.replaceAll('/usr/bin/restic', process.execPath),
  );
  const units = ['petstore.service', 'petstore-backup.service', 'petstore-backup.timer'];
  assert.equal(await systemdAnalyze('verify', ...units.map((unit) => join(folder, unit))), '');
});

test('systemd rates the exposure of the unit at most 2 of 10', async (t) => {
  const file = join(install(t), 'petstore.service');
  await systemdAnalyze('security', '--offline=true', '--threshold=20', file);
});

test('the unit starts a program that exists, with a configuration that is valid', () => {
  const [command = ''] = settings(UNIT, 'ExecStart');
  assert.match(
    command,
    /^\/opt\/petstore\/node_modules\/\.bin\/node --disable-sigusr1 bin\/petstore\.js serve$/,
  );
  assert.ok(existsSync(pathOf('bin/petstore.js')));
  const variables = settings(UNIT, 'Environment').map((value) => value.split('=', 2) as [string, string]);
  const { databaseUrl } = readConfig(Object.fromEntries(variables));
  assert.equal(databaseUrl, `sqlite:/var/lib/${settings(UNIT, 'StateDirectory')[0]}/petstore.db`);
});

/** Runs the installed command. `variables` are those of its caller. */
function runInstalled(folder: string, args: readonly string[], variables: Record<string, string> = {}) {
  return execFileSync(join(folder, 'petstore.sh'), args, { encoding: 'utf8', env: variables });
}

/** The configuration in force for the installed command. */
function configuration(
  folder: string,
  variables?: Record<string, string>,
): ReadonlyMap<string, string | null> {
  const shown = JSON.parse(runInstalled(folder, ['config', '--json'], variables)) as {
    variable: string;
    value: string | null;
  }[];
  return new Map(shown.map(({ variable, value }) => [variable, value]));
}

test('the installed command has the database of the unit, and the variables of the file as systemd reads it', (t) => {
  const folder = install(t);
  const databaseUrl = `sqlite:${folder}/petstore/petstore.db`;
  assert.equal(configuration(folder).get('DATABASE_URL'), databaseUrl);
  const lines = [
    '# a comment',
    '',
    'PRODUCTION_URL = "https://pets.example/$HOME&b/v1"  ',
    "CORS_ORIGINS='https://a.example, https://b.example'",
    'TRUST_PROXY=10.0.0.0/8, \\',
    '  127.0.0.1',
    'BAN_AFTER=50',
    'BAN_AFTER=60',
  ];
  writeFileSync(join(folder, 'petstore.env'), lines.join('\r\n').replaceAll('\\\r', '\\'));
  const found = configuration(folder);
  assert.equal(found.get('DATABASE_URL'), databaseUrl);
  assert.equal(found.get('PRODUCTION_URL'), 'https://pets.example/$HOME&b/v1');
  assert.equal(found.get('CORS_ORIGINS'), 'https://a.example, https://b.example');
  assert.equal(found.get('TRUST_PROXY'), '10.0.0.0/8,   127.0.0.1');
  assert.equal(found.get('BAN_AFTER'), '60');
});

test('a variable of the caller wins over the file, and the file over the unit', (t) => {
  const folder = install(t);
  const moved = `sqlite:${folder}/moved.db`;
  writeFileSync(join(folder, 'petstore.env'), `DATABASE_URL="${moved}"\nPORT=1\nMETRICS_PORT=2\n`);
  const found = configuration(folder, { PORT: '3', METRICS_PORT: '' });
  assert.equal(found.get('DATABASE_URL'), moved);
  assert.equal(found.get('PORT'), '3');
  assert.equal(found.get('METRICS_PORT'), null);
});

test('after a move, commands and the backup use the database that the file names', (t) => {
  const folder = install(t);
  mkdirSync(join(folder, 'petstore'));
  newDatabase(join(folder, 'petstore/petstore.db'));
  newDatabase(join(folder, 'moved.db'));
  writeFileSync(join(folder, 'petstore.env'), `DATABASE_URL='sqlite:${folder}/moved.db'\n`);
  runInstalled(folder, ['accounts', 'create', 'shop', '--plan', 'free']);
  runInstalled(folder, ['backup', join(folder, 'copy.db')]);
  const accounts = (file: string) => {
    const database = new DatabaseSync(join(folder, file), { readOnly: true });
    t.after(() => database.close());
    return database
      .prepare('SELECT name FROM accounts')
      .all()
      .map(({ name }) => name);
  };
  assert.deepEqual(accounts('petstore/petstore.db'), []);
  assert.deepEqual(accounts('copy.db'), ['shop']);
});

test('a file of variables that cannot be read stops a command', (t) => {
  const folder = install(t);
  const file = join(folder, 'petstore.env');
  // Latin-1, and systemd refuses what is not UTF-8.
  writeFileSync(file, Buffer.from('PORT=1\n# Zo\xeb\n', 'latin1'));
  const run = (uid?: number) =>
    spawnSync(join(folder, 'petstore.sh'), ['config'], { encoding: 'utf8', env: {}, ...(uid && { uid }) });
  const odd = run();
  assert.equal(odd.status, 1);
  assert.match(odd.stderr, /^petstore: .* is not UTF-8/);
  chmodSync(folder, 0o711);
  chmodSync(file, 0o000);
  // root can read every file, so the command runs as another user.
  const closed = run(userInfo().uid === 0 ? 65_534 : undefined);
  assert.equal(closed.status, 1);
  assert.match(closed.stderr, /^petstore: \w+ cannot read \S+\/petstore\.env: /);
  assert.equal(closed.stdout, '');
});

test('the backup unit leaves a complete copy here and in restic each time, and notes when', (t) => {
  const folder = install(t);
  const run = (command: string) =>
    execFileSync('/bin/sh', ['-c', `umask 077; ${command}`], {
      encoding: 'utf8',
      env: {
        PATH: process.env['PATH'],
        RESTIC_REPOSITORY: join(folder, 'repository'),
        RESTIC_PASSWORD: 'not a secret',
        RESTIC_CACHE_DIR: join(folder, 'cache'),
      },
    });
  for (const name of ['petstore', 'petstore-backup', 'prometheus/node-exporter'])
    mkdirSync(join(folder, name), { recursive: true });
  newDatabase(join(folder, 'petstore/petstore.db'));
  program('restic', 'restic');
  run('restic init --quiet');
  const steps = settings(readFileSync(join(folder, 'petstore-backup.service'), 'utf8'), 'ExecStart');
  for (let times = 0; times < 2; times++)
    for (const step of steps) run(step.replace(/^\+/, '').replaceAll('%%', '%'));

  const note = join(folder, 'prometheus/node-exporter/backup.prom');
  // Another user reads it.
  assert.equal(statSync(note).mode & 0o777, 0o644);
  assert.match(readFileSync(note, 'utf8'), /^petstore_backup_timestamp_seconds \d{10}\n$/);
  run(`restic restore latest --quiet --target ${folder}/restored`);
  for (const file of [
    join(folder, 'petstore-backup/petstore.db'),
    join(folder, 'restored', folder, 'petstore-backup/petstore.db'),
  ]) {
    const copy = new DatabaseSync(file, { readOnly: true });
    t.after(() => copy.close());
    assert.deepEqual({ ...copy.prepare('PRAGMA integrity_check').get() }, { integrity_check: 'ok' });
    assert.deepEqual({ ...copy.prepare('SELECT count(*) AS accounts FROM accounts').get() }, { accounts: 0 });
  }
});
