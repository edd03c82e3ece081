// Contract: section 9.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OPERATIONS } from '../../src/resources/operations.ts';
import { createPet, listPets } from '../../src/resources/pets/operations.ts';
import { EXAMPLE_URLS } from '../../src/config/config.ts';
import { bindOperations, Routes } from '../../src/http/routes.ts';
import { openApi } from '../../src/description/openapi.ts';
import type { Header } from '../../src/description/types.ts';

const { document } = openApi(EXAMPLE_URLS, EXAMPLE_URLS.production);
const operations = Object.values(document.paths).flatMap((item) => Object.values(item));

/** Has all that operations use, and is never called. */
const UNOPENED = new Proxy({}, { has: () => true }) as never;

test('stability is marked, and a removal date is a warning above the text', () => {
  const marked = openApi(EXAMPLE_URLS, EXAMPLE_URLS.production, [
    {
      name: 'Pets',
      description: 'The animals of the catalogue.',
      operations: [
        { ...listPets, stability: 'beta' },
        { ...createPet, stability: 'experimental' },
      ],
    },
  ]).document.paths['/pets'];
  assert.equal(marked?.get?.['x-stability'], 'beta');
  assert.equal(marked?.post?.['x-stability'], 'experimental');
  assert.match(
    document.paths['/pets/{petId}']?.get?.description ?? '',
    /^> \[!WARNING\]\n> .*removed on \*\*2030-12-05\*\*\.\n\n/,
  );
});

test('the specified operations have no mark, and all others are beta', () => {
  const specified = new Set(['listPets', 'createPet', 'getPet']);
  for (const { operationId, 'x-stability': stability } of operations)
    assert.equal(stability, specified.has(operationId) ? undefined : 'beta', operationId);
});

test('the groups whose operations are beta come last', () => {
  assert.deepEqual(
    document.tags.map(({ name }) => name),
    ['Pets', 'Account', 'Categories', 'Events', 'Keys', 'Store', 'Webhooks'],
  );
});

test('a link of an operation leads to a page of the guide', () => {
  const pages = new Set([...document.info.description.matchAll(/^## (.+)$/gm)].map(([, name = '']) => name));
  const linked = new Set<string>();
  for (const { operationId, description } of operations)
    for (const [, name = '', address = ''] of description.matchAll(/\[([^\]]+)\]\((http[^)]+)\)/g)) {
      const slug = name.toLowerCase().replaceAll(' ', '-');
      assert.equal(address, `https://petstore.example/reference#${slug}`, operationId);
      assert.ok(pages.has(name), `${operationId}: ${name}`);
      linked.add(`${operationId}: ${name}`);
    }
  for (const link of [
    'updatePet: States of an animal',
    'createOrder: Adopt an animal',
    'getUsage: Your account',
    'rotateKey: Roll your keys',
  ])
    assert.ok(linked.has(link), link);
});

test('the example of a 405 names the methods of its path', () => {
  const routes = new Routes(bindOperations(OPERATIONS, UNOPENED, EXAMPLE_URLS.production), '/v1');
  for (const [path, item] of Object.entries(document.paths)) {
    const methods = routes.match(`/v1${path.replaceAll(/\{\w+\}/g, '1')}`)?.route.methods;
    for (const { responses } of Object.values(item)) {
      const { value } = responses['default']?.content?.['application/json'].examples['status_405'] ?? {};
      assert.equal((value as { message: string }).message, `This path takes ${methods}.`, path);
    }
  }
});

test('a parameter that may be repeated is an array with one value each time', () => {
  const { style, explode, schema } = document.components.parameters['id'] ?? {};
  assert.deepEqual({ style, explode }, { style: 'form', explode: true });
  assert.deepEqual(schema, {
    type: 'array',
    items: { type: 'integer', format: 'int64' },
    minItems: 1,
    maxItems: 100,
  });
});

test('each response names the place of its own resource', () => {
  const example = (path: string, method: string, status: string, header: string) =>
    (document.paths[path]?.[method]?.responses[status]?.headers[header] as Header | undefined)?.example;
  const base = EXAMPLE_URLS.production;
  assert.equal(example('/pets', 'post', '201', 'Location'), `${base}/pets/42`);
  assert.equal(example('/categories', 'post', '201', 'Location'), `${base}/categories/7`);
  assert.equal(example('/store/orders', 'post', '201', 'Location'), `${base}/store/orders/9`);
  for (const path of ['/account/keys', '/account/keys/{keyId}/rotate'])
    assert.equal(example(path, 'post', '201', 'Location'), `${base}/account/keys/7`);
  for (const path of ['/pets', '/categories', '/store/orders'])
    assert.ok(String(example(path, 'get', '200', 'Link')).startsWith(`<${base}${path}?limit=20&cursor=`));
});

test('the text of every operation names its scope, and the plans that have it', () => {
  for (const { operationId, security = [], description } of operations) {
    const [scope] = security.flatMap((requirement) => Object.values(requirement).flat());
    const key = scope === undefined ? 'any key' : `a key with the scope \`${scope}\``;
    assert.ok(description.includes(`Needs ${key}, of an account on any plan.`), operationId);
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
  for (const { operationId, responses, 'x-codeSamples': samples = [] } of operations) {
    const [, address = ''] = /^curl '([^']+)'/.exec(samples[0]?.source ?? '') ?? [];
    const [example] = Object.values(responses['200']?.content?.['application/json'].examples ?? {});
    // The interval of a usage is no member of it, and a failed request is named by its request id.
    if (!Array.isArray(example?.value) || ['getUsage', 'listRequests'].includes(operationId)) continue;
    for (const item of example.value as Record<string, unknown>[]) {
      assert.ok('id' in item);
      for (const [name, value] of new URL(address).searchParams)
        if (name !== 'limit' && name !== 'wait')
          assert.equal(String(item[name]), value, `${operationId}: ${name}`);
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
