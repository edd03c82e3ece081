// Contract: section 10.2.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type FailedRequest, FailedRequests } from '../../src/observability/failed-requests.ts';

const NOON = Date.parse('2026-11-21T12:00:00Z');
const MINUTE = 60_000;

const failed = (requestId: string, more: Partial<FailedRequest> = {}): Omit<FailedRequest, 'id'> => ({
  at: NOON,
  requestId,
  method: 'GET',
  path: '/v1/pets/{petId}',
  operation: 'getPet',
  status: 404,
  code: 'not_found',
  message: 'There is no such animal.',
  parameter: undefined,
  keyId: 7,
  accountId: 1,
  account: 'Straße',
  address: '203.0.113.9',
  userAgent: undefined,
  ...more,
});

/** Failed requests from these values, with ids of `0`, `1` and so on. */
function filled(...values: Partial<FailedRequest>[]): FailedRequests {
  const requests = new FailedRequests();
  for (const [index, more] of values.entries()) requests.record(failed(`${index}`, more));
  return requests;
}

const listAll = (requests: FailedRequests) => requests.list({ limit: 10_001 }).items;
const idsOf = (items: readonly FailedRequest[]) => items.map(({ requestId }) => requestId);

test('the last 10,000 failed requests are kept, the newest first', () => {
  const requests = new FailedRequests();
  assert.deepEqual(listAll(requests), []);
  for (let index = 0; index < 10_005; index++) requests.record(failed(`${index}`));
  const kept = idsOf(listAll(requests)).map(Number);
  assert.deepEqual(
    kept,
    Array.from({ length: 10_000 }, (_, age) => 10_004 - age),
  );
});

test('their numbers rise, also over processes, because they begin with the time', () => {
  const one = filled({}, {}, {}, { at: NOON - MINUTE });
  const other = filled({ at: NOON + 1.5 });
  const ids = [...listAll(other), ...listAll(one)].map(({ id }) => id);
  assert.deepEqual(
    ids,
    ids.toSorted((a, b) => b - a),
  );
  assert.equal(new Set(ids).size, 5);
  for (const { id, requestId } of listAll(one)) assert.equal(one.get(id)?.requestId, requestId);
  assert.equal(one.get(1), undefined);
});

test('a text filters by a part of a name, and case does not count', () => {
  const requests = filled({}, { account: 'shop', operation: 'listPets' }, { account: undefined });
  const found = (filter: object) => idsOf(requests.list({ limit: 9, ...filter }).items);
  assert.deepEqual(found({ account: 'STRASS' }), ['0']);
  assert.deepEqual(found({ operation: 'pets' }), ['1']);
  assert.deepEqual(found({ operation: 'Pet', account: 'o' }), ['1']);
  assert.deepEqual(found({ account: '' }), ['1', '0']);
});

test('those with the same cause are one group, with their number and the first time', () => {
  const requests = filled(
    {},
    { at: NOON + 1, keyId: 8 },
    { at: NOON + 2, message: 'Another reason.' },
    { at: NOON + 3, status: 429, code: 'key_banned', message: 'Wait 9 s.' },
    { at: NOON + 4, status: 429, code: 'key_banned', message: 'Wait 8 s.' },
    { at: NOON + 5 },
  );
  const groups = requests.listGroups({ limit: 9 }).items;
  assert.deepEqual(
    groups.map(({ count, firstAt, last }) => [count, firstAt - NOON, last.requestId]),
    [
      [2, 0, '5'],
      [2, 3, '4'],
      [1, 2, '2'],
      [1, 1, '1'],
    ],
  );
  const [first] = groups;
  assert.deepEqual(idsOf(requests.list({ limit: 9, like: first?.id }).items), ['5', '0']);
  assert.deepEqual(requests.list({ limit: 9, like: 1 }).items, []);
  const { items, next } = requests.listGroups({ limit: 3 });
  assert.deepEqual(items, groups.slice(0, 3));
  assert.deepEqual(requests.listGroups({ limit: 3, cursor: next }).items, groups.slice(3));
});

test('a user agent is kept up to 200 characters', () => {
  const [kept] = listAll(filled({ userAgent: 'x'.repeat(16_000) }));
  assert.equal(kept?.userAgent?.length, 200);
});

test('a message is kept up to 500 characters, none of which is half of one', () => {
  const [kept] = listAll(filled({ message: 'x' + '🐕'.repeat(1_000) }));
  assert.equal(Array.from(kept?.message ?? '').length, 500);
  assert.ok(kept?.message.isWellFormed() === true && kept.message.endsWith('🐕…'));
});
