// Contract: sections 2.7, 3.6, 3.9 and 3.10.
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { type Asked, assertError, assertRateHeaders, call } from '../../../test/support/api.ts';
import { startTestService } from '../../../test/support/service.ts';
import { test } from '../../../test/support/test.ts';

const REX = '{"name":"Rex","categoryId":7,"status":"available"}';

/** A service with the animal Rex, and functions that send requests. */
const withRex = async (t: TestContext) => {
  const service = await startTestService(t);
  const key = await service.issueKey();
  const send = (method: string, path: string, asked: Asked = {}) =>
    call(service.url, `/v1${path}`, { key, method, ...asked });
  const rex = await send('POST', '/pets', { body: REX });
  const path = `/pets/${rex.json.id}`;
  return {
    send,
    path,
    id: rex.json.id as number,
    get: () => send('GET', path),
    patch: (patch: string | object, headers: Record<string, string> = {}) =>
      send('PATCH', path, { body: typeof patch === 'string' ? patch : JSON.stringify(patch), headers }),
    remove: (headers: Record<string, string> = {}) => send('DELETE', path, { headers }),
    order: () => send('POST', '/store/orders', { body: `{"petId":${rex.json.id}}` }),
  };
};

test('a patch changes what it names and nothing else', async (t) => {
  const { id, patch, get, send } = await withRex(t);
  const changed = await patch({ name: 'Rexi', id: 99, colour: 'red' });
  assert.equal(changed.status, 200);
  assert.equal(changed.headers.get('content-type'), 'application/json; charset=utf-8');
  assert.equal(changed.headers.get('location'), null);
  assertRateHeaders(changed);
  assert.deepEqual(changed.json, { id, name: 'Rexi', categoryId: 7, status: 'available' });
  const read = await get();
  assert.equal(read.text, changed.text);
  assert.equal(read.headers.get('etag'), changed.headers.get('etag'));
  for (const query of ['', '?status=available', '?categoryId=7', `?id=${id}`])
    assert.equal((await send('GET', `/pets${query}`)).json[0].name, 'Rexi', query);
});

test('null removes the status, and an empty patch changes nothing', async (t) => {
  const { patch } = await withRex(t);
  const without = await patch({ status: null });
  assert.ok(!('status' in without.json), without.text);
  const same = await patch({});
  assert.equal(same.status, 200);
  assert.equal(same.text, without.text);
  assert.equal(same.headers.get('etag'), without.headers.get('etag'));
  for (const status of ['sold', 'pending', 'available', 'sold'])
    assert.equal((await patch({ status })).json.status, status);
});

test('If-Match takes the ETag of an empty patch, and none of a list', async (t) => {
  const { id, patch, send } = await withRex(t);
  const listed = (await send('GET', `/pets?id=${id}`)).headers.get('etag') ?? '';
  assertError(await patch({ name: 'A' }, { 'if-match': listed }), 'precondition_failed');
  const own = (await patch({})).headers.get('etag') ?? '';
  assert.equal((await patch({ name: 'A' }, { 'if-match': own })).status, 200);
});

test('a patch takes int64 exactly, in both media types', async (t) => {
  const { patch } = await withRex(t);
  for (const type of ['application/merge-patch+json', 'application/json; charset=utf-8'])
    for (const categoryId of ['9223372036854775807', '-9223372036854775808', '9007199254740993']) {
      const { text } = await patch(`{"categoryId":${categoryId}}`, { 'content-type': type });
      assert.ok(text.includes(`"categoryId":${categoryId},`), text);
    }
});

test('If-Match lets only the current content be changed or deleted', async (t) => {
  const { patch, remove, get } = await withRex(t);
  const tag = async () => (await get()).headers.get('etag') ?? '';
  const first = await tag();
  const changed = await patch({ name: 'A' }, { 'if-match': first });
  assert.equal(changed.status, 200);
  for (const [name, match] of [
    ['B', changed.headers.get('etag') ?? ''],
    ['C', '*'],
  ] as const)
    assert.equal((await patch({ name }, { 'if-match': match })).json.name, name);
  const listed = await patch({ name: 'D' }, { 'if-match': `"other", ${await tag()} , W/"x"` });
  assert.equal(listed.json.name, 'D');
  const current = await tag();
  const unquoted = current.replaceAll('"', '');
  for (const match of [first, `W/${current}`, '"other"', unquoted, '', ',', `"${current}"`]) {
    const refused = await patch({ name: 'E' }, { 'if-match': match });
    assertError(refused, 'precondition_failed');
    assert.match(refused.json.message, /If-Match .*ETag/);
    assertError(await remove({ 'if-match': match }), 'precondition_failed');
  }
  assert.equal((await get()).json.name, 'D');
  assert.equal((await remove({ 'if-match': current })).status, 204);
});

test('the checks of a patch come in the order 404, 412, 409, 400', async (t) => {
  const { send, patch, order, path } = await withRex(t);
  const stale = { 'if-match': '"other"' };
  const faulty = '{"name":7,"status":"lost"}';
  const absent = await send('PATCH', '/pets/999999', { body: faulty, headers: stale });
  assertError(absent, 'not_found');
  assert.equal((await order()).status, 201);
  for (const body of [faulty, 'no JSON']) assertError(await patch(body, stale), 'precondition_failed');
  assertError(await patch(faulty), 'conflict');
  const refused = await patch('{"name":7}');
  assertError(refused, 'invalid_request');
  assert.match(refused.json.message, /^name /);
  assert.equal((await send('DELETE', path, { headers: stale })).status, 412);
});

test('while an order is open, the status stays and the animal too', async (t) => {
  const { patch, remove, get, order, send } = await withRex(t);
  const { json } = await order();
  for (const status of ['available', 'pending', 'sold', null])
    assertError(await patch({ name: 'Rexi', status }), 'conflict');
  assertError(await remove(), 'conflict');
  assert.equal((await get()).json.name, 'Rex');
  assert.equal((await patch({ name: 'Rexi', categoryId: 8 })).json.status, 'pending');
  assert.equal((await send('DELETE', `/store/orders/${json.id}`)).status, 204);
  assert.equal((await patch({ status: 'sold' })).json.status, 'sold');
  assert.equal((await remove()).status, 204);
});

test('a deleted animal is gone for good, and its id is not used again', async (t) => {
  const { id, remove, get, patch, send } = await withRex(t);
  const answer = await remove();
  assert.equal(answer.status, 204);
  assert.equal(answer.text, '');
  for (const header of ['content-type', 'content-length', 'etag', 'location'])
    assert.equal(answer.headers.get(header), null, header);
  assertRateHeaders(answer);
  for (const again of [await get(), await remove(), await patch({ name: 'Rexi' })])
    assertError(again, 'not_found');
  assert.equal((await send('GET', '/pets')).text, '[]');
  assert.equal((await send('GET', `/pets?id=${id}`)).text, '[]');
  assert.ok((await send('POST', '/pets', { body: REX })).json.id > id);
});
