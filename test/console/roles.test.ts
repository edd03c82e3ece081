// Contract: section 10.2.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OPERATOR_OPERATIONS } from '../../src/resources/operations.ts';
import { type Asked, assertError } from '../support/api.ts';
import { asBrowser, startTestConsole } from '../support/console.ts';
import { lifetimeOfFile } from '../support/lifetime.ts';

const its = await startTestConsole(lifetimeOfFile());
const viewer = await its.session('vera', 'viewer');
const viewerToken = await its.makeToken('vera');
const admin = await its.session('ada', 'admin');

/** A request for each operation. Its values may be invalid, because the role is checked first. */
const REQUESTS = OPERATOR_OPERATIONS.map((operation) => {
  const { method, path, body } = operation;
  const asked: Asked = { method, ...(body !== undefined && { body: '{}' }) };
  return { operation, path: `/admin/v1${path.replaceAll(/\{\w+\}/g, '77')}`, asked };
});

test('every operation needs a session or a token', async () => {
  for (const { path, asked, operation } of REQUESTS) {
    const answer = await its.ask(path, asked);
    assertError(answer, 'unauthorized');
    assert.equal(answer.headers.get('www-authenticate'), 'Bearer', operation.id);
  }
});

test('a viewer can change nothing, with session or token', async () => {
  const needAdmin = REQUESTS.filter(({ operation }) => operation.role === 'admin');
  assert.ok(needAdmin.length > 8);
  for (const { path, asked } of needAdmin) {
    for (const each of [asBrowser(viewer, asked), { ...asked, key: viewerToken }]) {
      const answer = await its.ask(path, each);
      assertError(answer, 'insufficient_scope');
      assert.match(answer.json.message, /viewer/);
    }
  }
});

test('an operation that changes something needs the role admin, except for passkeys of their own', () => {
  // findKey has a body, so that no log has the key. It changes nothing.
  const open = OPERATOR_OPERATIONS.filter(({ role, method }) => role === 'viewer' && method !== 'GET');
  assert.deepEqual(
    open.map(({ id }) => id),
    ['findKey', 'beginPasskey', 'createPasskey', 'renamePasskey', 'removePasskey'],
  );
});

test('a viewer reads what is for viewers, and an admin everything', async () => {
  for (const { path, asked, operation } of REQUESTS) {
    const names = [403, 401];
    const asAdmin = await its.ask(path, asBrowser(admin, asked));
    assert.ok(!names.includes(asAdmin.status), `${operation.id} ${asAdmin.text}`);
    if (operation.role === 'admin') continue;
    const asViewer = await its.ask(path, asBrowser(viewer, asked));
    assert.equal(asViewer.status, asAdmin.status, operation.id);
  }
});

test('only operators are told that a path or method is unknown', async () => {
  assertError(await its.ask('/admin/v1/nothing'), 'unauthorized');
  assertError(await its.ask('/admin/v1/nothing', asBrowser(viewer)), 'not_found');
  const answer = await its.ask('/admin/v1/operators', asBrowser(viewer, { method: 'PUT', body: '{}' }));
  assertError(answer, 'method_not_allowed');
  assert.equal(answer.headers.get('allow'), 'GET, HEAD, POST, OPTIONS');
  const options = await its.ask('/admin/v1/operators/1', asBrowser(viewer, { method: 'OPTIONS' }));
  assert.deepEqual([options.status, options.headers.get('allow')], [204, 'DELETE, OPTIONS']);
});
