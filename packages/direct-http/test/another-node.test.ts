import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { env, execPath } from 'node:process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { TRIED_ON } from '../src/main.ts';

test('on another Node, the package steps aside, and the answers are the same', async () => {
  const versions = `{ ...process.versions, node: '${TRIED_ON + 1}.0.0' }`;
  const source = `Object.defineProperty(process, 'versions', { value: ${versions} });`;
  const another = `--import=data:text/javascript,${encodeURIComponent(source)}`;
  // `node --test` within a test runs nothing while this variable is set.
  const { NODE_TEST_CONTEXT: _, ...rest } = env;
  const main = JSON.stringify(new URL('../src/main.ts', import.meta.url).href);
  const script = `import { STEPS_ASIDE } from ${main}; console.log(STEPS_ASIDE);`;
  const said = await promisify(execFile)(execPath, [another, '--input-type=module', '--eval', script], {
    env: rest,
  });
  assert.equal(said.stdout, 'true\n');
  const file = new URL('response.test.ts', import.meta.url).pathname;
  const { stdout } = await promisify(execFile)(execPath, [another, '--test', file], { env: rest });
  assert.match(stdout, /^ℹ pass [1-9]/m);
});
