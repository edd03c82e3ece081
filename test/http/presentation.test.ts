// Contract: section 9.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPet, listPets, PETS_RESOURCE } from '../../src/api/pets.ts';
import { EXAMPLE_URLS } from '../../src/config.ts';
import { openApi } from '../../src/description/openapi.ts';

const { document } = openApi(EXAMPLE_URLS, EXAMPLE_URLS.production);
const operations = Object.values(document.paths).flatMap((item) => Object.values(item));

test('stability becomes a badge, and a removal date a warning above the text', () => {
  const marked = openApi(EXAMPLE_URLS, EXAMPLE_URLS.production, [
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

test('the text of every operation names its scope, and the plans that have it', () => {
  for (const { operationId, security, description } of operations) {
    const [scope] = security.flatMap((requirement) => Object.values(requirement).flat());
    assert.ok(
      description.includes(`Needs a key with the scope \`${scope}\`, of an account on any plan.`),
      operationId,
    );
  }
});

test('the codes of one status read as alternatives', () => {
  for (const { operationId, responses } of operations) {
    for (const [status, { description, content }] of Object.entries(responses)) {
      const codes = Object.keys(content?.['application/json'].examples ?? {});
      if (status < '400' || status === 'default' || codes.length === 1) continue;
      const [head, , ...items] = description.split('\n');
      assert.equal(head, `One of ${codes.length} codes:`, `${operationId} ${status}`);
      assert.deepEqual(
        items.map((item) => /^- `(\w+)`: .+\.$/.exec(item)?.[1]),
        codes,
      );
    }
  }
});

test('the first example of a list answers the request of its code samples', () => {
  for (const { operationId, responses, 'x-codeSamples': samples } of operations) {
    const [, address = ''] = /^curl '([^']+)'/.exec(samples[0]?.source ?? '') ?? [];
    const [example] = Object.values(responses['200']?.content?.['application/json'].examples ?? {});
    if (!Array.isArray(example?.value)) continue;
    for (const item of example.value as Record<string, unknown>[]) {
      assert.ok('id' in item);
      for (const [name, value] of new URL(address).searchParams)
        if (name !== 'limit') assert.equal(String(item[name]), value, `${operationId}: ${name}`);
    }
  }
});

test('every operation has samples in curl, TypeScript and Python for this environment', () => {
  const { document: staging } = openApi(EXAMPLE_URLS, EXAMPLE_URLS.staging);
  for (const each of Object.values(staging.paths).flatMap((item) => Object.values(item))) {
    const samples = each['x-codeSamples'] ?? [];
    assert.deepEqual(
      samples.map(({ label }) => label),
      ['curl', 'TypeScript', 'Python'],
    );
    for (const { source } of samples) assert.ok(source.includes(EXAMPLE_URLS.staging));
  }
});
