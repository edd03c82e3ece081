// Contract: sections 2 and 4.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import {
  expectation,
  listed,
  parseBody,
  parseExactJson,
  parseObject,
  requiredFields,
} from '../../src/domain/parse.ts';

const refuse = (message: string) => ({ code: 'invalid_request', message });

test('a body is JSON in UTF-8 with exact int64', () => {
  assert.deepEqual(parseBody(Buffer.from('{"id":[9223372036854775807,"ä",null,true]}')), {
    id: [2n ** 63n - 1n, 'ä', null, true],
  });
  assert.throws(
    () => parseBody(Buffer.from([0x22, 0xff, 0x22])),
    refuse('The body must be encoded in UTF-8.'),
  );
  for (const text of ['', '{', '{"a":01}'])
    assert.throws(() => parseBody(Buffer.from(text)), refuse('The body is not valid JSON.'));
});

test('a body that is nested too deeply is refused as such', () => {
  // The recursion over its values needs more of the stack than the parser of the engine.
  const deep = '['.repeat(100_000) + ']'.repeat(100_000);
  assert.throws(() => parseBody(Buffer.from(deep)), refuse('The body is nested too deeply.'));
});

test('a number that is an int64 is a bigint, however it is written, and another stays a number', () => {
  assert.deepEqual(parseExactJson('[0,-1,999999999999999,1234567890123456,1.0,1e3,1E3]'), [
    0n,
    -1n,
    999_999_999_999_999n,
    1_234_567_890_123_456n,
    1n,
    1_000n,
    1_000n,
  ]);
  assert.deepEqual(parseExactJson('[1.5,1e30,9223372036854775808]'), [1.5, 1e30, 2 ** 63]);
  assert.deepEqual(parseExactJson('{"a":{"b":1},"c":"2.5","d":null}'), { a: { b: 1n }, c: '2.5', d: null });
  assert.deepEqual(parseExactJson('["1",2.5]'), ['1', 2.5]);
  assert.deepEqual(parseExactJson('[1,{"a":2}]'), [1n, { a: 2n }]);
  assert.deepEqual(['1.5', '9223372036854775807'].map(parseExactJson), [1.5, 2n ** 63n - 1n]);
});

const SCHEMA = z.object({
  name: z.string({ error: 'must be a string' }),
  size: z.object({ width: z.bigint({ error: 'must be an integer' }) }),
  note: z.string().optional(),
});

test('a schema says which fields a body must have', () => {
  assert.deepEqual(requiredFields(SCHEMA), ['name', 'size']);
  assert.equal(expectation(SCHEMA), 'a JSON object with name and size');
  assert.deepEqual(requiredFields(z.object({})), []);
  assert.equal(expectation(z.object({ note: z.string().optional() })), 'a JSON object');
});

test('a refusal names each faulty field, and what is missing as such', () => {
  const right = { name: 'a', size: { width: 1n } };
  assert.deepEqual(parseObject(SCHEMA, right), right);
  assert.throws(
    () => parseObject(SCHEMA, { size: { width: 'x' } }),
    refuse('name is required; size.width must be an integer.'),
  );
  assert.throws(
    () => parseObject(SCHEMA, { name: 1, size: {} }),
    refuse('name must be a string; size.width is required.'),
  );
  assert.throws(() => parseObject(SCHEMA, []), refuse('The body must be a JSON object with name and size.'));
});

test('a list reads as in a sentence', () => {
  assert.deepEqual(
    [[], ['a'], ['a', 'b'], ['a', 'b', 'c']].map((items) => listed(items)),
    ['', 'a', 'a and b', 'a, b and c'],
  );
});

test('a refusal of a body keeps its cause for the log', () => {
  const hasCause = (error: unknown) => error instanceof Error && error.cause instanceof Error;
  for (const body of [Buffer.from('{'), Buffer.from([0xff])]) assert.throws(() => parseBody(body), hasCause);
});
