// Contract: sections 2 and 3.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { entityTag, isCurrent, toJson } from '../../src/domain/json.ts';

test('JSON has exact int64 and no member that is undefined', () => {
  assert.equal(
    toJson({ a: undefined, id: 2n ** 63n - 1n, 'b"': [1, -2n, null, { c: undefined }], d: '"', e: false }),
    '{"id":9223372036854775807,"b\\"":[1,-2,null,{}],"d":"\\"","e":false}',
  );
  assert.equal(toJson([]), '[]');
  assert.equal(toJson(null), 'null');
});

test('an entity tag is of exactly these bytes', () => {
  const tag = entityTag('{}');
  assert.equal(tag, `"${createHash('sha1').update('{}').digest('base64url')}"`);
  assert.equal(entityTag(Buffer.from('{}')), tag);
});

test('If-Match holds without the header, for any content, and for the tag of the content', () => {
  assert.equal(isCurrent(undefined, '{}'), true);
  assert.equal(isCurrent(['*'], '{}'), true);
  assert.equal(isCurrent(['"other"', entityTag('{}')], '{}'), true);
  assert.equal(isCurrent(['"other"'], '{}'), false);
  assert.equal(isCurrent([], '{}'), false);
});
