// Contract: section 3.9.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CategoryPatch } from '../../src/resources/categories/schema.ts';
import { parseExactJson } from '../../src/domain/parse.ts';
import { readPatch } from '../../src/domain/patch.ts';
import { PetPatch } from '../../src/resources/pets/schema.ts';

const petPatch = (json: string) => readPatch(PetPatch, parseExactJson(json));

test('a patch has the fields that the body names, and ignores all others', () => {
  assert.deepEqual(petPatch('{"name":"Rex","id":9,"toString":1,"__proto__":{"status":"sold"}}'), {
    fields: { name: 'Rex' },
    names: ['name'],
    issue: undefined,
  });
  assert.deepEqual(petPatch('{}'), { fields: {}, names: [], issue: undefined });
});

test('null removes a field that may be absent', () => {
  assert.deepEqual(petPatch('{"status":null}').fields, { status: null });
  assert.deepEqual(readPatch(CategoryPatch, { description: null }).fields, { description: null });
});

test('a wrong field leaves the others, and its name is known', () => {
  assert.deepEqual(petPatch('{"name":null,"categoryId":9223372036854775807,"status":"lost","toString":1}'), {
    fields: { categoryId: 2n ** 63n - 1n },
    names: ['name', 'categoryId', 'status'],
    issue: 'name must be a string of 1 to 200 characters; status must be one of available, pending, sold.',
  });
});

for (const body of ['null', '[]', '7', '"name"', 'true']) {
  test(`the body ${body} is no patch`, () => {
    const { fields, names, issue } = petPatch(body);
    assert.deepEqual({ fields, names }, { fields: {}, names: [] });
    assert.equal(issue, 'The body must be a JSON object.');
  });
}
