import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

interface Lock {
  readonly packages: Readonly<Record<string, { readonly link?: true; readonly integrity?: string }>>;
}

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

test('npm ci verifies every package of the benchmark peers', () => {
  assert.deepEqual(unverified('bench/peers/package-lock.json'), []);
});
