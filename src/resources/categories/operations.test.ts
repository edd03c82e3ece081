// Contract: sections 2.5, 3.11 and 4.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { type Asked, assertError, assertRateHeaders, call } from '../../../test/support/api.ts';
import { startTestService, type TestService } from '../../../test/support/service.ts';
import { lifetimeOfFile } from '../../../test/support/lifetime.ts';

const shared = await startTestService(lifetimeOfFile());
const sharedKey = await shared.issueKey();

const sender =
  ({ url }: TestService, key: string) =>
  (path: string, asked: Asked = {}) =>
    call(url, `/v1${path}`, { key, ...asked });

const send = sender(shared, sharedKey);

/** A service of its own, for tests of lists. */
async function alone(t: TestContext) {
  const service = await startTestService(t);
  return { service, send: sender(service, await service.issueKey()) };
}

const add = (body: object, headers: Record<string, string> = {}) =>
  send('/categories', { body: JSON.stringify(body), headers });

const patch = (id: number, body: string, headers: Record<string, string> = {}) =>
  send(`/categories/${id}`, { method: 'PATCH', body, headers });

let names = 0;
/** A name that no other test has. */
const newName = () => `Category ${names++}`;

test('a category is added with its Location, and read again', async () => {
  const name = ` ${newName()} 🐶"\\`;
  const answer = await add({ id: 99, colour: 'red', name, description: 'all' });
  assert.equal(answer.status, 201);
  assertRateHeaders(answer);
  const { id } = answer.json;
  assert.deepEqual(answer.json, { id, name, description: 'all' });
  assert.equal(answer.headers.get('location'), `${shared.url}/v1/categories/${id}`);
  assert.equal((await send(`/categories/${id}`)).text, answer.text);
  assert.deepEqual((await send('/categories?limit=1')).json, [answer.json]);
});

const LONG = '🐶'.repeat(100);

test('a name has up to 100 code points, and a description up to 1,000', async () => {
  const longest = await add({ name: LONG, description: '🐶'.repeat(1_000) });
  assert.equal(longest.status, 201, longest.text);
  const empty = await add({ name: newName(), description: '' });
  assert.equal(empty.json.description, '');
});

/** The body of a create and, without `name is required`, of a patch. */
const INVALID: Record<string, [body: string, message: RegExp]> = {
  'name is missing': ['{}', /^name is required\.$/],
  'name is a number': ['{"name":7}', /^name must be a string of 1 to 100 characters\.$/],
  'name is null': ['{"name":null}', /^name must be a string/],
  'name is empty': ['{"name":""}', /^name must not be empty/],
  'name is only white space': ['{"name":" \\u00a0"}', /^name must not be empty/],
  'name has 101 code points': [JSON.stringify({ name: `${LONG}x` }), /^name must have at most 100/],
  'name has a NUL character': ['{"name":"a\\u0000b"}', /^name must not contain a NUL/],
  'name has a lone surrogate': ['{"name":"a\\ud800b"}', /^name must not contain a lone surrogate/],
  'description is a number': ['{"name":"Dogs","description":7}', /^description must be a string/],
  'description has 1,001 code points': [
    JSON.stringify({ name: 'Dogs', description: 'x'.repeat(1_001) }),
    /^description must have at most 1000/,
  ],
  'description has a NUL character': ['{"name":"Dogs","description":"\\u0000"}', /^description must not/],
  'two fields are at fault': ['{"name":7,"description":7}', /^name must .*; description must/],
  'the body is an array': ['[]', /^The body must be a JSON object/],
  'the body is not JSON': ['{"name":', /JSON/],
};

for (const [title, [body, message]] of Object.entries(INVALID)) {
  test(`a category is 400 when ${title}, in a create and in a patch`, async () => {
    const created = await send('/categories', { body });
    assertError(created, 'invalid_request');
    assert.match(created.json.message, message);
    const category = (await add({ name: newName(), description: 'all' })).json;
    const patched = await patch(category.id, body);
    if (body === '{}') assert.equal(patched.status, 200);
    else {
      assertError(patched, 'invalid_request');
      assert.match(patched.json.message, message);
    }
    assert.deepEqual((await send(`/categories/${category.id}`)).json, category);
  });
}

test('only a patch may have null for the description, which removes it', async () => {
  assertError(await add({ name: newName(), description: null }), 'invalid_request');
  const { id, name } = (await add({ name: newName(), description: 'all' })).json;
  const removed = await patch(id, '{"description":null,"colour":null}', {
    'content-type': 'application/merge-patch+json',
  });
  assert.deepEqual([removed.status, removed.json], [200, { id, name }]);
  assert.deepEqual((await patch(id, '{}')).json, { id, name });
});

test('a name that is taken is 409 for a create and for a patch', async () => {
  const taken = newName();
  const { id } = (await add({ name: taken })).json;
  for (const name of [taken, taken.toUpperCase(), taken.toLowerCase()]) {
    const answer = await add({ name });
    assertError(answer, 'conflict');
    assert.match(answer.json.message, /this name.*choose another/);
    const other = (await add({ name: newName() })).json.id;
    assertError(await patch(other, JSON.stringify({ name })), 'conflict');
  }
  const renamed = await patch(id, JSON.stringify({ name: taken.toUpperCase() }));
  assert.deepEqual(renamed.json, { id, name: taken.toUpperCase() });
});

test('a patch is checked in the order 404, 412, 409, 400', async () => {
  const taken = (await add({ name: newName() })).json.name;
  const { id } = (await add({ name: newName() })).json;
  const both = JSON.stringify({ name: taken, description: 7 });
  const stale = { 'if-match': '"other"' };
  assertError(await patch(999_999, both, stale), 'not_found');
  assertError(await patch(id, both, stale), 'precondition_failed');
  assertError(await patch(id, both), 'conflict');
  assertError(await patch(id, JSON.stringify({ name: newName(), description: 7 })), 'invalid_request');
  // Before the operation itself: what the HTTP layer refuses.
  assertError(await patch(999_999, both, { 'content-type': 'text/plain' }), 'unsupported_media_type');
});

test('a patch with If-Match is done once for each state of a category', async () => {
  const { id } = (await add({ name: newName() })).json;
  const etag = (await send(`/categories/${id}`)).headers.get('etag') ?? '';
  const name = newName();
  const first = await patch(id, JSON.stringify({ name }), { 'if-match': `"other", ${etag}` });
  assert.equal(first.status, 200);
  const second = await patch(id, '{"description":"all"}', { 'if-match': etag });
  assertError(second, 'precondition_failed');
  assert.match(second.json.message, /^If-Match does not name the ETag of the category as it is now/);
  const current = first.headers.get('etag') ?? '';
  assert.equal((await send(`/categories/${id}`)).headers.get('etag'), current);
  assert.equal((await patch(id, '{"description":"all"}', { 'if-match': current })).status, 200);
});

test('a category has an ETag for 304, and answers HEAD', async () => {
  const { id } = (await add({ name: newName() })).json;
  for (const path of [`/categories/${id}`, '/categories?limit=1']) {
    const first = await send(path);
    const etag = first.headers.get('etag') ?? '';
    const same = await send(path, { headers: { 'if-none-match': etag } });
    assert.deepEqual([same.status, same.text], [304, '']);
    const head = await send(path, { method: 'HEAD' });
    assert.deepEqual([head.status, head.text, head.headers.get('etag')], [200, '', etag]);
    await add({ name: newName() });
    await patch(id, JSON.stringify({ name: newName() }));
    assert.equal((await send(path, { headers: { 'if-none-match': etag } })).status, 200);
  }
});

for (const id of ['0', '-1', '999999', '9223372036854775807', '9223372036854775808', '1.0', 'x']) {
  test(`no category has the id ${id}: 404 for GET, PATCH and DELETE`, async () => {
    const read = await send(`/categories/${id}`);
    assertError(read, 'not_found');
    assert.match(read.json.message, /no category with this categoryId/);
    assertError(await send(`/categories/${id}`, { method: 'PATCH', body: '{}' }), 'not_found');
    assertError(await send(`/categories/${id}`, { method: 'DELETE' }), 'not_found');
  });
}

test('a category is deleted unless an animal is of it, and If-Match is honoured', async () => {
  const { id } = (await add({ name: newName() })).json;
  const remove = (headers: Record<string, string> = {}) =>
    send(`/categories/${id}`, { method: 'DELETE', headers });
  const { headers } = await send(`/categories/${id}`);
  const pet = (await send('/pets', { body: `{"name":"Rex","categoryId":${id}}` })).json;
  assertError(await remove({ 'if-match': '"other"' }), 'precondition_failed');
  const refused = await remove();
  assertError(refused, 'conflict');
  assert.match(refused.json.message, /^An animal is of this category: /);
  assert.equal((await send(`/pets/${pet.id}`, { method: 'DELETE' })).status, 204);
  const deleted = await remove({ 'if-match': headers.get('etag') ?? '' });
  assert.deepEqual([deleted.status, deleted.text], [204, '']);
  assertRateHeaders(deleted);
  assertError(await remove(), 'not_found');
  assertError(await send(`/categories/${id}`), 'not_found');
});

test('a list of categories is newest first, in pages', async (t) => {
  const { service, send: ask } = await alone(t);
  for (const name of ['a', 'b', 'c']) await ask('/categories', { body: JSON.stringify({ name }) });
  const first = await ask('/categories?limit=2');
  const link = first.headers.get('link') ?? '';
  assert.ok(link.startsWith(`<${service.url}/v1/categories?limit=2&cursor=`), link);
  const last = await ask(new URL(link.slice(1, link.indexOf('>'))).href.slice(`${service.url}/v1`.length));
  assert.equal(last.headers.get('link'), null);
  const listed = [...first.json, ...last.json].map((each: { name: string }) => each.name);
  assert.deepEqual(listed, ['c', 'b', 'a']);
  assertError(await ask('/categories?limit=101'), 'invalid_parameter');
  assertError(await ask('/categories?cursor=x'), 'invalid_parameter');
});

test('a repeated create gets the stored answer, and a refusal is not recorded', async () => {
  const headers = { 'idempotency-key': 'category-1' };
  const name = newName();
  const { id } = (await add({ name })).json;
  assertError(await add({ name }, headers), 'conflict');
  await patch(id, JSON.stringify({ name: newName() }));
  const first = await add({ name }, headers);
  assert.deepEqual([first.status, first.headers.get('idempotent-replay')], [201, null]);
  await patch(first.json.id, JSON.stringify({ name: newName() }));
  const replay = await add({ name }, headers);
  assert.deepEqual([replay.status, replay.text], [201, first.text]);
  assert.equal(replay.headers.get('location'), first.headers.get('location'));
  assert.equal(replay.headers.get('idempotent-replay'), 'true');
  assertError(await add({ name: newName() }, headers), 'idempotency_key_reused');
});

test('another method is 405 with Allow, and OPTIONS names the methods', async () => {
  const methods = {
    '/categories': 'GET, HEAD, POST, OPTIONS',
    '/categories/1': 'GET, HEAD, PATCH, DELETE, OPTIONS',
  };
  for (const [path, allowed] of Object.entries(methods)) {
    const answer = await send(path, { method: 'PUT' });
    assertError(answer, 'method_not_allowed');
    assert.equal(answer.headers.get('allow'), allowed);
    const preflight = await call(shared.url, `/v1${path}`, {
      method: 'OPTIONS',
      headers: { origin: 'https://app.example', 'access-control-request-method': 'PATCH' },
    });
    assert.equal(preflight.headers.get('access-control-allow-methods'), allowed);
  }
  const reader = await shared.issueKey({ scopes: ['pets:read'] });
  assertError(await send('/categories', { key: reader, body: '{"name":"x"}' }), 'insufficient_scope');
  const writer = await shared.issueKey({ scopes: ['pets:read', 'pets:write'] });
  for (const [key, asked] of [
    [reader, { method: 'PATCH', body: '{}' }],
    [writer, { method: 'PATCH', body: '{}' }],
    [writer, { method: 'DELETE' }],
  ] as const) {
    const refused = await send('/categories/1', { key, ...asked });
    assertError(refused, 'insufficient_scope');
    assert.match(refused.json.message, /pets:manage/);
  }
});
