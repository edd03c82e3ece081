// Contract: sections 3, 6 and 8.
import assert from 'node:assert/strict';
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { openStore } from '../support/store.ts';
import { fakeClock } from '../support/clock.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { get } from './fixture.ts';
import { sqliteFixture } from './sqlite-fixture.ts';

const SCRIPT = fileURLToPath(new URL('open-when-told.ts', import.meta.url));

interface Process {
  readonly child: ChildProcessWithoutNullStreams;
  readonly line: () => Promise<string>;
}

/** A process that opens the store as soon as a line is written to it. */
async function startProcess(t: TestContext, file: string, environment = ''): Promise<Process> {
  const child = spawn(process.execPath, [SCRIPT, `sqlite:${file}`, environment]);
  t.after(() => child.kill('SIGKILL'));
  let errors = '';
  child.stderr.on('data', (text) => (errors += text));
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const line = async () => {
    const { done, value } = await lines.next();
    return done === true ? `failed: ${errors}` : value;
  };
  assert.equal(await line(), 'ready');
  return { child, line };
}

test('ten processes open one new database at once', async (t) => {
  const file = join(temporaryFolder(t), 'petstore.db');
  const processes = await Promise.all(Array.from({ length: 10 }, () => startProcess(t, file)));
  for (const { child } of processes) child.stdin.write('go\n');
  const answers = await Promise.all(processes.map(({ line }) => line()));
  const expected = Array.from({ length: 10 }, (_, index) => `added ${index + 1}`);
  assert.deepEqual(new Set(answers), new Set(expected));
});

test('a service that was killed leaves no lock behind', async (t) => {
  const { file, store } = await sqliteFixture(t);
  const { child, line } = await startProcess(t, file, 'production');
  child.stdin.write('go\n');
  assert.equal(await line(), 'added 1');
  await assert.rejects(store.lockForServing('production'), /already serves production/);
  child.kill('SIGKILL');
  await once(child, 'exit');
  await store.lockForServing('production');
});

test('an answered create outlives a killed process', async (t) => {
  const file = join(temporaryFolder(t), 'petstore.db');
  const { child, line } = await startProcess(t, file);
  child.stdin.write('go\n');
  assert.equal(await line(), 'added 1');
  child.kill('SIGKILL');
  await once(child, 'exit');
  const store = openStore(`sqlite:${file}`, fakeClock());
  t.after(() => store.close());
  assert.equal((await get(store.pets, 1n))?.name, 'Rex');
});
