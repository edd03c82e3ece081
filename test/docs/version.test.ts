// One version everywhere: packages, changelog, documents. The banner and the console show that of package.json.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import client from '../../client/package.json' with { type: 'json' };
import manifest from '../../package.json' with { type: 'json' };

const { version } = manifest;

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

test('packages, changelog and documents name the same version', () => {
  assert.equal(client.version, version);
  const [, released] = /^## \[(\d+\.\d+\.\d+)\]/m.exec(read('CHANGELOG.md')) ?? [];
  assert.equal(released, version);
  for (const [path, text] of [
    ['README.md', `Pet Store ${version} (`],
    ['client/README.md', `petstore-client-${version}.tgz`],
    ['docs/go-live.md', `ln -s petstore-${version} /opt/petstore`],
  ] as const)
    assert.ok(read(path).includes(text), path);
});

test('no block of commands in the first documents has a prompt that a copy takes along', () => {
  for (const path of ['README.md', 'client/README.md', 'docs/go-live.md'])
    assert.doesNotMatch(read(path), /^```[^]*?^\$ [^]*?^```/m, path);
});
