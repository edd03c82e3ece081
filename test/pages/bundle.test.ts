// How pages are made: docs/design/console.md.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { test, type TestContext } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { bundle } from '../../src/pages/shared/bundle.ts';
import { projectFile } from '../../src/pages/shared/hashed-files.ts';
import { temporaryFolder } from '../support/temporary.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** What the bundle of these files exports, of which the first one is the entry. */
async function run(t: TestContext, files: Readonly<Record<string, string>>): Promise<unknown> {
  const folder = temporaryFolder(t);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const [entry = ''] = Object.keys(files);
  const packages = new Map([
    ['tool', { name: 'tool', file: pathToFileURL(join(folder, 'tool.js')), global: 'tool' }],
  ]);
  const text = await bundle(projectFile(relative(ROOT, join(folder, entry))), packages);
  return import(`data:text/javascript,${encodeURIComponent(text)}`);
}

test('a bundle does what its modules do, each of them once', async (t) => {
  const { default: exports } = (await run(t, {
    'main.js': `import { count as times, next } from './counter.js';
import { count } from './again.js';
import tool from 'tool';
/** A comment: import { x } from 'y'. */
next();
export const results = [times(), count(), tool.name, 'export const text'];
export async function wait() {
  return 'waited';
}
`,
    'counter.js':
      'let number = 0;\nexport const next = () => ++number;\nexport function count() {\n  return number;\n}\n',
    'again.js': "export { count } from './counter.js';\n",
    'tool.js': "/*! a licence */\nvar tool={name:'tool'};\n",
  })) as { default: { results: unknown; wait: () => Promise<string> } };
  assert.deepEqual(exports.results, [1, 1, 'tool', 'export const text']);
  assert.equal(await exports.wait(), 'waited');
});

test('modules that import each other in a circle, or have an unknown form of export, are refused', async (t) => {
  await assert.rejects(
    run(t, {
      'a.js': "import { b } from './b.js';\nexport const a = b;\n",
      'b.js': "import { a } from './a.js';\nexport const b = a;\n",
    }),
    /a\.js imports itself in a circle/,
  );
  await assert.rejects(run(t, { 'a.js': 'export let a = 1;\n' }), /a\.js cannot be bundled: export let a/);
  await assert.rejects(
    run(t, { 'a.js': "import * as all from './b.js';\n", 'b.js': '' }),
    /cannot be bundled: import \* as all/,
  );
});
