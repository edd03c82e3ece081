// Contract: section 9.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPet, listPets, PETS_RESOURCE } from '../../src/api/pets.ts';
import { EXAMPLE_URLS } from '../../src/config.ts';
import { openApi } from '../../src/description/openapi.ts';

const { document } = openApi(EXAMPLE_URLS, 'production');
const operations = Object.values(document.paths).flatMap((item) => Object.values(item));

test('stability becomes a badge, and a removal date a warning above the text', () => {
  const marked = openApi(EXAMPLE_URLS, 'production', [
    {
      ...PETS_RESOURCE,
      operations: [
        { ...listPets, stability: 'beta' },
        { ...createPet, stability: 'experimental' },
      ],
    },
  ]).document.paths['/pets'];
  assert.deepEqual(
    marked?.get?.['x-badges']?.map(({ name }) => name),
    ['Beta'],
  );
  assert.deepEqual(
    marked?.post?.['x-badges']?.map(({ name }) => name),
    ['Experimental'],
  );
  assert.match(
    document.paths['/pets/{petId}']?.get?.description ?? '',
    /^> \[!WARNING\]\n> .*removed on \*\*2030-12-05\*\*\.\n\n/,
  );
  for (const each of operations) assert.equal('x-badges' in each, false, each.operationId);
});

test('every operation has samples in curl, TypeScript and Python for this environment', () => {
  const { document: staging } = openApi(EXAMPLE_URLS, 'staging');
  for (const each of Object.values(staging.paths).flatMap((item) => Object.values(item))) {
    const samples = each['x-codeSamples'] ?? [];
    assert.deepEqual(
      samples.map(({ label }) => label),
      ['curl', 'TypeScript', 'Python'],
    );
    for (const { source } of samples) assert.ok(source.includes(EXAMPLE_URLS.staging));
  }
});
