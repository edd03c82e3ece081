// Contract: sections 2.6, 3.12 and 4.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SCOPES } from '../../domain/scope.ts';
import { type Asked, assertError, assertRateHeaders, call } from '../../../test/support/api.ts';
import { lifetimeOfFile } from '../../../test/support/lifetime.ts';
import { startTestService } from '../../../test/support/service.ts';

const shared = await startTestService(lifetimeOfFile());
const key = await shared.issueKey({ scopes: SCOPES });
const send = (path: string, asked: Asked = {}) => call(shared.url, `/v1${path}`, { key, ...asked });

async function addPet(): Promise<number> {
  const body = '{"name":"Rex","categoryId":7,"status":"available"}';
  return (await send('/pets', { body })).json.id as number;
}

/** The members of a body besides `petId`, which is that of an animal that is available. */
const INVALID: Record<string, [members: string, names: RegExp]> = {
  'quantity is 2': ['"quantity":2', /^quantity must be 1\.$/],
  'quantity is 0': ['"quantity":0', /quantity/],
  'quantity is a string': ['"quantity":"1"', /quantity/],
  'quantity is a fraction': ['"quantity":1.5', /quantity/],
  'quantity is null': ['"quantity":null', /quantity/],
  'shipDate is null': ['"shipDate":null', /^shipDate must be a date-time of RFC 3339, such as [^;]+\.$/],
  'shipDate is a number': ['"shipDate":1800000000', /shipDate/],
  'shipDate is a date': ['"shipDate":"2027-01-15"', /shipDate/],
  'shipDate has no offset': ['"shipDate":"2027-01-15T10:00:00"', /shipDate/],
  'shipDate is no date': ['"shipDate":"2027-02-30T10:00:00Z"', /shipDate/],
  'shipDate is too long': [`"shipDate":"2027-01-15T10:00:00.${'0'.repeat(64)}Z"`, /^shipDate[^;]+\.$/],
  'petId is given twice, and a string last': ['"petId":"1"', /petId/],
};

for (const [title, [members, names]] of Object.entries(INVALID)) {
  test(`an order is 400 when ${title}, and holds nothing`, async () => {
    const petId = await addPet();
    const answer = await send('/store/orders', { body: `{"petId":${petId},${members}}` });
    assertError(answer, 'invalid_request');
    assert.match(answer.json.message, names);
    assert.equal((await send(`/pets/${petId}`)).json.status, 'available');
  });
}

for (const petId of ['9223372036854775807', '-9223372036854775808', '0', '1e6']) {
  test(`an order of the animal ${petId}, which does not exist, is 400`, async () => {
    const answer = await send('/store/orders', { body: `{"petId":${petId}}` });
    assertError(answer, 'invalid_request');
    assert.match(answer.json.message, /no animal with this petId/);
  });
}

for (const petId of ['9223372036854775808', '1.5', '"1"', 'null', '[1]']) {
  test(`an order is 400 when petId is ${petId}`, async () => {
    const answer = await send('/store/orders', { body: `{"petId":${petId}}` });
    assertError(answer, 'invalid_request');
    assert.match(answer.json.message, /^petId must be an integer/);
  });
}

test('an order without petId or without a body is 400', async () => {
  const empty = await send('/store/orders', { body: '{}' });
  assertError(empty, 'invalid_request');
  assert.equal(empty.json.message, 'petId is required.');
  const none = await send('/store/orders', { method: 'POST' });
  assertError(none, 'invalid_request');
  assert.match(none.json.message, /petId/);
});

for (const id of ['9223372036854775807', '-1', '0', '1.0', 'abc', '9223372036854775808', '%00']) {
  test(`no order has the id ${id}: 404 for every operation`, async () => {
    for (const [method, path] of [
      ['GET', `/store/orders/${id}`],
      ['DELETE', `/store/orders/${id}`],
      ['POST', `/store/orders/${id}/complete`],
    ] as const) {
      const answer = await send(path, { method });
      assertError(answer, 'not_found');
      assert.match(answer.json.message, /no order with this orderId/);
    }
  });
}

for (const query of [
  'status=open',
  'status=',
  'petId=x',
  'petId=1&petId=2',
  'limit=0',
  'limit=101',
  'cursor=x',
]) {
  test(`a list of orders with ${query} is 400 invalid_parameter`, async () => {
    const answer = await send(`/store/orders?${query}`);
    assertError(answer, 'invalid_parameter');
    assert.match(answer.json.message, new RegExp(`parameter ${query.split('=')[0]} must`));
  });
}

test('a list of orders takes the extremes of int64, and ignores unknown parameters', async () => {
  for (const petId of ['9223372036854775807', '-9223372036854775808']) {
    const answer = await send(`/store/orders?petId=${petId}&colour=red`);
    assert.deepEqual([answer.status, answer.text], [200, '[]']);
  }
});

test('an order has an ETag for 304 and If-Match, and answers HEAD', async () => {
  const { id } = (await send('/store/orders', { body: `{"petId":${await addPet()}}` })).json;
  const path = `/store/orders/${id}`;
  const first = await send(path);
  const etag = first.headers.get('etag') ?? '';
  assert.equal(first.headers.get('cache-control'), 'private, no-cache');
  const same = await send(path, { headers: { 'if-none-match': etag } });
  assert.deepEqual([same.status, same.text], [304, '']);
  assertRateHeaders(same);
  const head = await send(path, { method: 'HEAD' });
  assert.deepEqual([head.status, head.text, head.headers.get('etag')], [200, '', etag]);
  const list = await send('/store/orders?limit=1');
  const listed = await send('/store/orders?limit=1', {
    headers: { 'if-none-match': list.headers.get('etag') ?? '' },
  });
  assert.equal(listed.status, 304);
  const stale = await send(path, { method: 'DELETE', headers: { 'if-match': '"other"' } });
  assertError(stale, 'precondition_failed');
  assert.match(stale.json.message, /^If-Match does not name the ETag of the order as it is now/);
  assert.equal((await send(path, { method: 'DELETE', headers: { 'if-match': etag } })).status, 204);
  assert.equal((await send(path, { headers: { 'if-none-match': etag } })).json.status, 'cancelled');
});

test('another method on an order path is 405 with Allow; OPTIONS names the methods', async () => {
  const methods = {
    '/store/orders': 'GET, HEAD, POST, OPTIONS',
    '/store/orders/1': 'GET, HEAD, DELETE, OPTIONS',
    '/store/orders/1/complete': 'POST, OPTIONS',
  };
  for (const [path, allowed] of Object.entries(methods)) {
    const answer = await send(path, { method: 'PUT', body: '{}' });
    assertError(answer, 'method_not_allowed');
    assert.equal(answer.headers.get('allow'), allowed);
    const preflight = await call(shared.url, `/v1${path}`, {
      method: 'OPTIONS',
      headers: { origin: 'https://app.example', 'access-control-request-method': 'DELETE' },
    });
    assert.equal(preflight.status, 204);
    assert.equal(preflight.headers.get('access-control-allow-methods'), allowed);
  }
});

test('a key without the scope of the store can neither read nor make orders', async () => {
  const pets = await shared.issueKey({ scopes: ['pets:read', 'pets:write'] });
  const reader = await shared.issueKey({ scopes: ['store:read'] });
  assertError(await send('/store/orders', { key: pets }), 'insufficient_scope');
  assertError(await send('/store/orders/1', { key: pets }), 'insufficient_scope');
  for (const path of ['/store/orders', '/store/orders/1/complete'])
    assertError(await send(path, { key: reader, body: '{"petId":1}' }), 'insufficient_scope');
  assertError(await send('/store/orders/1', { key: reader, method: 'DELETE' }), 'insufficient_scope');
});
