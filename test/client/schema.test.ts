// Contract: section 3.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { generateFiles } from '../../scripts/generated-files.ts';
import { OPERATIONS } from '../../src/resources/operations.ts';
import { sunsetDate } from '../../src/http/operation.ts';
import { GET_PET_DEPRECATION } from '../../src/resources/pets/operations.ts';

function source(name: string): string {
  return readFileSync(new URL(`../../client/src/${name}`, import.meta.url), 'utf8');
}

test('the types of client and console, and the calls of the client, are those of the descriptions', () => {
  for (const [path, text] of Object.entries(generateFiles())) {
    const file = new URL(`../../${path}`, import.meta.url);
    assert.ok(readFileSync(file, 'utf8') === text, `${path} is out of date: run npm run openapi`);
  }
});

test('the client calls every operation', () => {
  const folder = new URL('../../client/src/', import.meta.url);
  const all = readdirSync(folder).map(source).join('\n');
  for (const { id } of OPERATIONS) assert.ok(all.includes(`'${id}'`), id);
});

test('the client and the description give the same removal date of get', () => {
  assert.match(
    source('pets.ts'),
    new RegExp(`@deprecated It will be removed on ${sunsetDate(GET_PET_DEPRECATION)}: `),
  );
});
