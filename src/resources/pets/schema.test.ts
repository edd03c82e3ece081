// Contract: sections 2, 3 and 4.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { ServiceError } from '../../domain/errors.ts';
import { INT64_MAX, INT64_MIN } from '../../domain/int64.ts';
import { parseNewPet } from './schema.ts';
import { anyCharacter } from '../../../test/support/characters.ts';

const REX = { name: 'Rex', categoryId: 7n };

/** The fault of a body that must be refused. */
function refusal(body: unknown): string {
  try {
    parseNewPet(body);
  } catch (error) {
    assert.ok(error instanceof ServiceError);
    assert.equal(error.code, 'invalid_request');
    return error.message;
  }
  assert.fail('The body was accepted.');
}

for (const status of ['available', 'pending', 'sold'] as const) {
  test(`an animal may be created as ${status}`, () => {
    assert.deepEqual(parseNewPet({ ...REX, status }), { ...REX, status });
  });
}

test('an animal created without status has none', () => {
  assert.deepEqual(Object.keys(parseNewPet(REX)), ['name', 'categoryId']);
});

for (const field of ['name', 'categoryId'] as const) {
  test(`a missing ${field} is called missing`, () => {
    const { [field]: _, ...rest } = REX;
    assert.equal(refusal(rest), `${field} is required.`);
  });
}

test('a missing field and an invalid one are told apart in one message', () => {
  assert.equal(
    refusal({ status: 'lost' }),
    'name is required; categoryId is required; status must be one of available, pending, sold.',
  );
});

for (const status of [null, '', 'Available', 'lost', 1n, ['sold'], {}]) {
  test(`the status ${JSON.stringify(status, (_, value) => (typeof value === 'bigint' ? 1 : value))} is refused by name`, () => {
    assert.equal(refusal({ ...REX, status }), 'status must be one of available, pending, sold.');
  });
}

for (const categoryId of [1.5, 1e19, null, true, {}]) {
  test(`the categoryId ${JSON.stringify(categoryId)} is refused by name`, () => {
    assert.match(refusal({ ...REX, categoryId }), /^categoryId must be an integer from -\d+ to \d+\.$/);
  });
}

test('a number in quotes is refused as a string', () => {
  assert.match(
    refusal({ ...REX, categoryId: '7' }),
    /^categoryId must be an integer from -\d+ to \d+, not a string\.$/,
  );
});

test('categoryId may be any int64', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: INT64_MIN, max: INT64_MAX }), (categoryId) => {
      assert.equal(parseNewPet({ ...REX, categoryId }).categoryId, categoryId);
    }),
  );
});

const badNames: [title: string, name: unknown, fault: RegExp][] = [
  ['empty', '', /white space/],
  ['only white space', ' \t\n\u00a0\u3000', /white space/],
  ['longer than 200 characters', 'x'.repeat(201), /at most 200/],
  ['201 emoji', '🐕'.repeat(201), /at most 200/],
  ['with a NUL character', 'Re\0x', /NUL/],
  ['with a lone high surrogate', 'Rex \ud83d', /lone surrogate/],
  ['with a lone low surrogate', '\udc15 Rex', /lone surrogate/],
  ['a number', 7n, /must be a string/],
  ['null', null, /must be a string/],
  ['an array', ['Rex'], /must be a string/],
];

for (const [title, name, fault] of badNames) {
  test(`a name that is ${title} is refused by name`, () => {
    const message = refusal({ ...REX, name });
    assert.match(message, /^name must/);
    assert.match(message, fault);
  });
}

test('a name has 1 to 200 code points and is kept exactly as sent', () => {
  const examples = ['x', 'x'.repeat(200), '🐕'.repeat(200), ' Rex ', 'e\u0301', 'é', '\u0007', '"\\'];
  for (const name of examples) assert.equal(parseNewPet({ ...REX, name }).name, name);
  const name = fc.string({ unit: anyCharacter, minLength: 1, maxLength: 200 });
  fc.assert(
    fc.property(name, (text) => {
      fc.pre(text.trim() !== '' && !text.includes('\0'));
      assert.equal(parseNewPet({ ...REX, name: text }).name, text);
    }),
  );
});

test('unknown fields are ignored, an id too', () => {
  assert.deepEqual(parseNewPet({ ...REX, id: 999n, colour: 'brown', vaccinations: [] }), REX);
});

for (const body of [null, [], [REX], 'Rex', 7n, true]) {
  test(`the body ${Array.isArray(body) ? `[${body.length}]` : String(body)} is no JSON object and is refused`, () => {
    assert.equal(refusal(body), 'The body must be a JSON object with name and categoryId.');
  });
}

test('every field at fault is named in one message', () => {
  const message = refusal({ name: '', categoryId: 'x', status: 'lost' });
  for (const field of ['name', 'categoryId', 'status']) assert.match(message, new RegExp(`\\b${field} must`));
});
