// Contract: section 4.
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { ERRORS } from '../../src/domain/errors.ts';
import { assertError, assertRateHeaders, call } from '../support/api.ts';
import { startTestConsole } from '../support/console.ts';
import { startTestService, temporaryDatabase } from '../support/service.ts';

test('400, 401, 404 and 429 have an Error body with the status, 429 has Retry-After', async (t) => {
  const service = await startTestService(t);
  const key = await service.issueKey({ limits: { perMinute: 2, perDay: 9 } });
  assertError(await call(service.url, '/v1/pets'), 'unauthorized', 401);
  assertError(await call(service.url, '/v1/pets', { key, body: '{}' }), 'invalid_request', 400);
  assertError(await call(service.url, '/v1/pets/1', { key }), 'not_found', 404);
  const refused = await call(service.url, '/v1/pets', { key });
  assertError(refused, 'rate_limit_exceeded', 429);
  assert.match(refused.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
  assert.deepEqual(
    service.log.filter(({ level }) => Number(level) >= 40),
    [],
    'what a client does wrong is no warning',
  );
});

test('every error code has its status', () => {
  const statuses = Object.fromEntries(Object.entries(ERRORS).map(([code, { status }]) => [code, status]));
  assert.deepEqual(statuses, {
    invalid_request: 400,
    invalid_parameter: 400,
    unauthorized: 401,
    insufficient_scope: 403,
    not_found: 404,
    method_not_allowed: 405,
    conflict: 409,
    gone: 410,
    cursor_expired: 410,
    precondition_failed: 412,
    payload_too_large: 413,
    unsupported_media_type: 415,
    idempotency_key_reused: 422,
    rate_limit_exceeded: 429,
    daily_limit_exceeded: 429,
    key_banned: 429,
    internal_error: 500,
    unavailable: 503,
  });
});

test('the error code tells which limit was reached', async (t) => {
  const service = await startTestService(t, { env: { BAN_AFTER: '3' } });
  const minute = await service.issueKey({ account: 'minute', limits: { perMinute: 1, perDay: 9 } });
  const day = await service.issueKey({ account: 'day', limits: { perMinute: 9, perDay: 1 } });
  for (const key of [minute, day]) assert.equal((await call(service.url, '/v1/pets', { key })).status, 200);
  assertError(await call(service.url, '/v1/pets', { key: minute }), 'rate_limit_exceeded');
  assertError(await call(service.url, '/v1/pets', { key: day }), 'daily_limit_exceeded');
  await call(service.url, '/v1/pets', { key: day });
  assertError(await call(service.url, '/v1/pets', { key: day }), 'key_banned');
});

test('a fault of ours is a 500 that names the id of the request alone, and the log says the rest', async (t) => {
  const databaseUrl = temporaryDatabase(t);
  const service = await startTestConsole(t, { databaseUrl });
  const [key, token] = [await service.issueKey(), await service.makeToken('ada')];
  const database = new DatabaseSync(databaseUrl.slice('sqlite:'.length));
  database.exec('ALTER TABLE categories RENAME TO lost; ALTER TABLE audit RENAME TO lost_audit');
  database.close();
  const list = await call(service.url, '/v1/categories', { key, headers: { 'x-request-id': 'a-1' } });
  assertRateHeaders(list);
  assert.equal(list.headers.get('x-request-id'), 'a-1');
  const create = await call(service.url, '/v1/categories', { key, body: '{"name":"Dogs"}' });
  const audit = await service.ask('/admin/v1/audit', { key: token });
  for (const answer of [list, create, audit]) {
    assertError(answer, 'internal_error');
    const id = answer.headers.get('x-request-id');
    assert.equal(answer.json.message, `A fault of the service; report it with the request id ${id}.`);
    assert.ok(service.log.some((line) => line['id'] === id && line['err'] !== undefined));
  }
  assert.equal((await call(service.url, '/v1/pets', { key })).status, 200);
});
