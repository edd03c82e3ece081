// The fast path is optional: without it, Node's own response answers everything. Contract: section 1.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { env, execPath } from 'node:process';
import { test } from 'node:test';
import { promisify } from 'node:util';

const OFF = new URL('../support/without-direct-responses.ts', import.meta.url).href;
const FILES = ['changes-in-a-row', 'direct-response', 'read-ahead', 'response', 'transport'];

test('without direct responses, answers and ends of connections are the same', async () => {
  const files = FILES.map((name) => new URL(`${name}.test.ts`, import.meta.url).pathname);
  // `node --test` within a test runs nothing while this variable is set.
  const { NODE_TEST_CONTEXT: _, ...rest } = env;
  const { stdout } = await promisify(execFile)(execPath, [`--import=${OFF}`, '--test', ...files], {
    env: rest,
  });
  assert.match(stdout, /^ℹ pass [1-9]/m);
});
