// Contract: section 8.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { test } from 'node:test';
import { startEndpoint } from '../support/endpoint.ts';
import {
  PROGRAM,
  run,
  start,
  startServiceProcess,
  temporaryEnvironment,
  waitFor,
} from '../support/process.ts';
import { withShop } from './prepared.ts';

test('a command that follows ends quietly when its reader closes the pipe, and with 1 on a full disk', async (t) => {
  const { variables, key } = await withShop(t);
  const { url } = await startServiceProcess(t, variables);
  const program = await startEndpoint(t);
  const client = { ...variables, PETSTORE_API_KEY: key, PETSTORE_URL: `${url}/v1` };
  const commands = [
    ['events', '--follow', '--since', '1d'],
    ['events', '--follow', '--since', '1d', '--json'],
    ['listen', '--forward-to', program.url],
  ];
  const closed = commands.map((args) => start(args, client));
  t.after(() => closed.forEach(({ child }) => child.kill('SIGKILL')));
  await Promise.all(closed.map((running) => waitFor(running, ({ stdout }) => stdout || undefined)));
  for (const { child } of closed) child.stdout?.destroy();
  const full = openSync('/dev/full', 'w');
  t.after(() => closeSync(full));
  const failing = commands.map(async (args) => {
    const child = spawn(process.execPath, [PROGRAM, ...args], {
      env: client,
      stdio: ['ignore', full, 'pipe'],
    });
    t.after(() => child.kill('SIGKILL'));
    let stderr = '';
    child.stderr?.setEncoding('utf8').on('data', (piece: string) => {
      stderr += piece;
    });
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, stderr };
  });
  const all = Promise.all([...closed.map(({ ended }) => ended), ...failing]);
  // A closed pipe is noticed with the next event.
  const add = () => run(['import', '-'], variables, 'name,categoryId\nRex,1\n');
  while (await Promise.race([all.then(() => false), add().then(() => true)]));
  const ends = await all;
  for (const { code, stderr } of ends.slice(0, commands.length))
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
  for (const { code, stderr } of ends.slice(commands.length)) {
    assert.equal(code, 1);
    assert.match(stderr, /^petstore: The output cannot be written: ENOSPC[^\n]*\n$/);
  }
});

test('a standard error that cannot be written changes no status', async (t) => {
  const variables = temporaryEnvironment(t);
  const full = openSync('/dev/full', 'w');
  t.after(() => closeSync(full));
  const statusOf = async (args: readonly string[], input = '') => {
    const child = spawn(process.execPath, [PROGRAM, ...args], {
      env: variables,
      stdio: ['pipe', 'ignore', full],
    });
    child.stdin?.end(input);
    return ((await once(child, 'close')) as [number | null])[0];
  };
  assert.equal(await statusOf(['pets', 'fly']), 2);
  assert.equal(await statusOf(['import', '/nowhere.csv']), 1);
  assert.equal(await statusOf(['import', '-'], 'name,categoryId\nRex,1\n,1\n'), 3);
});
