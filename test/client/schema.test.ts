// Contract: section 3.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { clientSchema } from '../../scripts/client-schema.ts';
import { EXAMPLE_URLS } from '../../src/config.ts';
import { GET_PET_SUNSET } from '../../src/http/deprecation.ts';
import { openApi } from '../../src/http/openapi.ts';

function source(name: string): string {
  return readFileSync(new URL(`../../client/src/${name}`, import.meta.url), 'utf8');
}

test("the client's types and base addresses are those of the description", () => {
  const { document } = openApi(EXAMPLE_URLS, 'production');
  assert.ok(
    source('schema.ts') === clientSchema(document),
    'client/src/schema.ts is out of date: run npm run openapi',
  );
});

test('what the client says of the removal of get is what the description says', () => {
  assert.match(source('pets.ts'), new RegExp(`@deprecated It will be removed on ${GET_PET_SUNSET}: `));
});
