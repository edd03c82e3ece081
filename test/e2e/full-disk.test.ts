import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmdirSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { assertError, assertRateHeaders, call } from '../support/api.ts';
import { run, startServiceProcess } from '../support/process.ts';

/** A file system of 2 MiB in a folder, gone after the test; undefined where one may not be mounted. */
function smallDisk(t: TestContext): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'petstore-test', folder], { stdio: 'pipe' });
  } catch (error) {
    if (process.getuid?.() === 0) throw error;
    rmdirSync(folder);
    return undefined;
  }
  t.after(() => {
    execFileSync('umount', ['--lazy', folder]);
    rmdirSync(folder);
  });
  return folder;
}

/** Writes until nothing more fits. */
function fill(file: string): void {
  const descriptor = openSync(file, 'w');
  try {
    for (const size of [65_536, 4_096, 1]) {
      try {
        for (;;) writeSync(descriptor, Buffer.alloc(size));
      } catch (error) {
        assert.equal((error as NodeJS.ErrnoException).code, 'ENOSPC');
      }
    }
  } finally {
    closeSync(descriptor);
  }
}

test('decisions §2: a disk that fills up: creates get 503 with Retry-After, reads go on, and it recovers', async (t) => {
  const folder = smallDisk(t);
  if (folder === undefined) return t.skip('needs root, to mount a small file system');
  const env = { DATABASE_URL: `sqlite:${join(folder, 'petstore.db')}`, PORT: '0' };
  const made = await run(['keys', 'create', '--account', 'acme', '--plan', 'business', '--json'], env);
  const { key } = JSON.parse(made.stdout) as { key: string };
  const service = await startServiceProcess(t, env);
  const body = JSON.stringify({ name: 'x'.repeat(200), categoryId: 1 });
  const create = () => call(service.url, '/v1/pets', { key, body });
  assert.equal((await create()).status, 201);

  const filler = join(folder, 'filler');
  fill(filler);
  let answer = await create();
  let answered = 1;
  // What the log of the database has room for is still taken.
  while (answer.status === 201) {
    answered++;
    answer = await create();
  }
  for (let i = 0; i < 5; i++) {
    assertError(answer, 'unavailable');
    assertRateHeaders(answer);
    assert.match(answer.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
    answer = await create();
  }
  const list = await call(service.url, '/v1/pets?limit=100', { key });
  assert.equal(list.status, 200);
  assert.equal(list.json.length, Math.min(answered, 100), 'exactly what was answered is there');

  rmSync(filler);
  assert.equal((await create()).status, 201);
  assert.equal(
    (await call(service.url, '/v1/pets?limit=100', { key })).json.length,
    Math.min(answered + 1, 100),
  );
  service.child.kill('SIGTERM');
  assert.equal((await service.ended).code, 0);
});

test('a full disk at start is one clear line and exit 1, and nothing is damaged', async (t) => {
  const folder = smallDisk(t);
  if (folder === undefined) return t.skip('needs root, to mount a small file system');
  const env = { DATABASE_URL: `sqlite:${join(folder, 'petstore.db')}`, PORT: '0' };
  await run(['seed', '10'], env);
  const filler = join(folder, 'filler');
  fill(filler);
  const { code, stderr } = await run(['serve'], env);
  assert.equal(code, 1);
  assert.match(stderr, /^petstore: [^\n]*(full|cannot)[^\n]*\n$/);
  rmSync(filler);
  assert.equal((await run(['export'], env)).stdout.trim().split('\n').length, 10);
});
