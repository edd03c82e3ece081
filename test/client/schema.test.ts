// Contract: section 3.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { clientOperations, clientResources, clientSchema } from '../../scripts/client-schema.ts';
import { EXAMPLE_URLS } from '../../src/config/config.ts';
import { OPERATIONS, RESOURCES } from '../../src/resources/index.ts';
import { sunsetDate } from '../../src/http/operation.ts';
import { GET_PET_DEPRECATION } from '../../src/resources/pets/operations.ts';
import { openApi } from '../../src/description/openapi.ts';

function source(name: string): string {
  return readFileSync(new URL(`../../client/src/${name}`, import.meta.url), 'utf8');
}

test("the client's types, table of calls and resources are those of the description", () => {
  const { document } = openApi(EXAMPLE_URLS, EXAMPLE_URLS.production);
  const generated = {
    'schema.ts': clientSchema(document),
    'operations.ts': clientOperations(document),
    'resources.ts': clientResources(RESOURCES),
  };
  for (const [name, text] of Object.entries(generated))
    assert.ok(source(name) === text, `client/src/${name} is out of date: run npm run openapi`);
});

test('the client calls every operation', () => {
  const folder = new URL('../../client/src/', import.meta.url);
  const all = readdirSync(folder).map(source).join('\n');
  for (const { id } of OPERATIONS) assert.ok(all.includes(`operation: '${id}'`), id);
});

test('the client and the description give the same removal date of get', () => {
  assert.match(
    source('pets.ts'),
    new RegExp(`@deprecated It will be removed on ${sunsetDate(GET_PET_DEPRECATION)}: `),
  );
});
