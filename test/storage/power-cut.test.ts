// Contract: section 3. What was answered is on disk, whenever the power goes.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { copyFileSync, readFileSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { TestContext } from 'node:test';
import { nat, sample } from 'fast-check';
import { call } from '../support/api.ts';
import { PROGRAM, runJson, temporaryEnvironment, waitFor, watch } from '../support/process.ts';
import { rounds } from '../support/rounds.ts';
import { program } from '../support/servers.ts';
import { CLIENT } from '../support/store.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { test } from '../support/test.ts';
import { sqliteFixture } from './sqlite-fixture.ts';
import { findFrames, transactionsInLog } from './wal.ts';

const COUNT = 40;

/** A database with some animals, each of a commit of its own that only the write-ahead log holds. */
async function fillLog(t: TestContext) {
  const { file, store, raw } = await sqliteFixture(t);
  raw().exec('PRAGMA wal_checkpoint(TRUNCATE)');
  for (let number = 0; number < COUNT; number++)
    await store.pets.create(CLIENT, { name: `animal ${number}`, categoryId: 1n, status: 'available' });
  assert.equal(transactionsInLog(file), COUNT);
  return file;
}

/** A copy of the database whose log ends after `length` bytes. */
function cutLog(file: string, folder: string, length: number): string {
  const copy = join(folder, `${length}.db`);
  copyFileSync(file, copy);
  copyFileSync(`${file}-wal`, `${copy}-wal`);
  truncateSync(`${copy}-wal`, length);
  return copy;
}

test('a log that the power cut anywhere opens clean and holds a prefix of the commits', async (t) => {
  const file = await fillLog(t);
  const folder = temporaryFolder(t);
  const log = readFileSync(`${file}-wal`);
  // SEED cuts at the same bytes again.
  const seed = Number(process.env['SEED'] ?? Date.now() % 2 ** 31);
  t.diagnostic(`seed ${seed}`);
  const bytes = sample(nat(log.length), { seed, numRuns: rounds(1_000) });
  const lengths = new Set([0, log.length, ...findFrames(log), ...bytes]);
  for (const length of lengths) {
    const copy = cutLog(file, folder, length);
    const commits = transactionsInLog(copy);
    const db = new DatabaseSync(copy);
    try {
      const check = db.prepare('PRAGMA integrity_check').all();
      assert.deepEqual(
        check.map((row) => row['integrity_check']),
        ['ok'],
        `${length} bytes`,
      );
      const animals = db.prepare('SELECT name FROM pets ORDER BY id').all();
      assert.deepEqual(
        animals.map(({ name }) => name),
        Array.from({ length: commits }, (_, number) => `animal ${number}`),
        `${length} bytes`,
      );
      const events = db.prepare("SELECT count(*) AS count FROM events WHERE type = 'pet.created'").get();
      assert.equal(events?.['count'], commits, `${length} bytes`);
    } finally {
      db.close();
    }
  }
});

/** The calls of a trace, in their order: those of the log that contain the name, its syncs, and the answers with the name. */
function findOrder(trace: string, name: string): string {
  // A call that other threads interrupt is written in two lines, and ends with the second.
  const steps = trace.split('\n').map((line) => {
    if (/pwrite64\(\d+<[^>]*-wal>/.test(line)) return line.includes(name) ? 'w' : '';
    if (/(?:fdatasync|fsync)\(\d+<[^>]*-wal>\s*\)\s*= 0/.test(line)) return 's';
    if (/<\.\.\. (?:fdatasync|fsync) resumed>\)\s*= 0/.test(line)) return 's';
    return line.includes('HTTP/1.1 201') && line.includes(name) ? 'a' : '';
  });
  return steps.join('').replaceAll(/(.)\1+/g, '$1');
}

test('each 201 comes after the sync of its commit', async (t) => {
  const strace = program('strace', 'strace');
  const variables = temporaryEnvironment(t);
  const { key } = await runJson<{ key: string }>(
    ['keys', 'create', '--account', 'shop', '--plan', 'pro'],
    variables,
  );
  const file = join(temporaryFolder(t), 'trace');
  const calls = 'trace=pwrite64,fdatasync,fsync,write,writev,sendto,sendmsg';
  const options = ['-D', '-f', '-qq', '-y', '-s', '5000', '-e', calls, '-o', file];
  const service = watch(spawn(strace, [...options, process.execPath, PROGRAM, 'serve'], { env: variables }));
  t.after(async () => {
    service.child.kill('SIGKILL');
    await service.ended;
  });
  const { url } = await waitFor(service, ({ stdout }) => {
    const line = stdout.split('\n').find((each) => each.includes('"listening"'));
    return line === undefined ? undefined : (JSON.parse(line) as { url: string });
  });
  const names = Array.from({ length: 20 }, (_, number) => `traced-${number}-animal`);
  for (const name of names) {
    const added = await call(url, '/v1/pets', { key, body: JSON.stringify({ name, categoryId: 1 }) });
    assert.equal(added.status, 201, added.text);
  }
  service.child.kill('SIGTERM');
  await service.ended;
  const trace = readFileSync(file, 'latin1');
  for (const name of names) assert.match(findOrder(trace, name), /^s?ws(?:[^a]*s)?a/, name);
});
