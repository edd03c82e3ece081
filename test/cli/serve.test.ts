// Contract: section 8.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { PROGRAM, run, startServiceProcess, temporaryEnvironment, waitFor } from '../support/process.ts';

const KEY = /petstore_live_[0-9A-Za-z]{38}/;

test('serve --first-key prints one key on standard error, with a curl line that works', async (t) => {
  const variables = temporaryEnvironment(t);
  const service = await startServiceProcess(t, variables, ['--first-key']);
  const command = await waitFor(service, ({ stderr }) => /^ +(curl .*)$/m.exec(stderr)?.[1]);
  const { stdout } = await promisify(execFile)('sh', ['-c', command]);
  assert.equal(stdout, '[]');
  assert.doesNotMatch(service.stdout(), KEY, 'the log must not hold the key');
});

test('in a shared output the first key stands below the first line of the log', async (t) => {
  const command = `exec "${process.execPath}" "${PROGRAM}" serve --first-key 2>&1`;
  const child = spawn('sh', ['-c', command], { env: temporaryEnvironment(t) });
  t.after(() => child.kill('SIGKILL'));
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  while (!text.includes('curl')) await once(child.stdout, 'data');
  assert.match(text, /^\{.*"listening"\}\n\nThere was no API key yet/);
});

test('serve --first-key creates and prints nothing when a key exists', async (t) => {
  const variables = temporaryEnvironment(t);
  const created = await run(['keys', 'create', '--account', 'shop', '--plan', 'free', '--json'], variables);
  assert.equal(created.code, 0, created.stderr);
  const service = await startServiceProcess(t, variables, ['--first-key']);
  service.child.kill('SIGTERM');
  const { stderr } = await service.ended;
  assert.equal(stderr, '');
  const listed = await run(['keys', 'list', '--json'], variables);
  assert.equal((JSON.parse(listed.stdout) as unknown[]).length, 1);
});

test('plain serve never prints a key', async (t) => {
  const variables = temporaryEnvironment(t);
  const service = await startServiceProcess(t, variables);
  service.child.kill('SIGINT');
  const { code, stdout, stderr } = await service.ended;
  assert.equal(code, 0);
  assert.equal(stderr, '');
  assert.doesNotMatch(stdout, KEY);
});

test('serve logs JSON lines on standard output, with ISO time and named level', async (t) => {
  const service = await startServiceProcess(t, { ...temporaryEnvironment(t), LOG_LEVEL: 'info' });
  service.child.kill('SIGTERM');
  const lines = (await service.ended).stdout.trimEnd().split('\n');
  const entries = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  assert.deepEqual(
    entries.map(({ level, msg }) => [level, msg]),
    [
      ['info', 'listening'],
      ['info', 'stopping'],
      ['info', 'stopped'],
    ],
  );
  for (const { time } of entries) assert.match(String(time), /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
});
