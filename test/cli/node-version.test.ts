import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { execPath } from 'node:process';
import { test } from 'node:test';
import { NODE_20 } from '../support/packed-client.ts';
import { PROGRAM } from '../support/process.ts';

/** Makes this Node.js say that it is another version. */
function pretend(version: string): string {
  const source = `const version = '${version}';
Object.defineProperty(process, 'version', { value: 'v' + version });
Object.defineProperty(process, 'versions', { value: { ...process.versions, node: version } });`;
  return `--import=data:text/javascript,${encodeURIComponent(source)}`;
}

test('the program refuses every other major version of Node.js, and says in one line what to do', () => {
  for (const [version, node, ...options] of [
    ['v20.0.0', NODE_20],
    ['v25.9.9', execPath, pretend('25.9.9')],
    ['v27.0.0', execPath, pretend('27.0.0')],
  ] as const) {
    const { status, stdout, stderr } = spawnSync(node, [...options, PROGRAM, '--help'], { encoding: 'utf8' });
    assert.equal(status, 1);
    assert.equal(stdout, '');
    assert.equal(
      stderr,
      `petstore needs Node.js 26, and this is ${version}: run \`npm ci\` and then \`npm start\` or \`npx petstore\`, which use the Node.js that this project brings.\n`,
    );
  }
  const { status } = spawnSync(execPath, [pretend('26.99.0'), PROGRAM, '--help']);
  assert.equal(status, 0);
});
