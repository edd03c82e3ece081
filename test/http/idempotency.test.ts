// Contract: sections 3 and 4.
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { assertError, call, assertRateHeaders } from '../support/api.ts';
import { lifetimeOfFile } from '../support/lifetime.ts';
import { startTestService, temporaryDatabase } from '../support/service.ts';
import { fingerprintOf, parseIdempotencyKey } from '../../src/http/request-headers.ts';

const REX = '{"name":"Rex","categoryId":7}';
const withKey = (value: string) => ({ 'idempotency-key': value });

const shared = await startTestService(lifetimeOfFile());

for (const value of ['', ' ', 'a b', 'x'.repeat(256), 'naïve', 'a\tb']) {
  test(`the Idempotency-Key ${JSON.stringify(value.slice(0, 9))} is 400 invalid_parameter`, async () => {
    const key = await shared.issueKey();
    const headers = withKey(Buffer.from(value).toString('latin1'));
    const answer = await call(shared.url, '/v1/pets', { key, body: REX, headers });
    assertError(answer, 'invalid_parameter');
    assert.match(answer.json.message, /Idempotency-Key/);
  });
}

test('the longest Idempotency-Key has 255 visible ASCII characters', async () => {
  const headers = withKey('~'.repeat(255));
  assert.equal(
    (await call(shared.url, '/v1/pets', { key: await shared.issueKey(), body: REX, headers })).status,
    201,
  );
});

test('a replay has the bytes of the first answer, even after the animal changed', async (t) => {
  const databaseUrl = temporaryDatabase(t);
  const service = await startTestService(t, { databaseUrl });
  const key = await service.issueKey();
  const send = () => call(service.url, '/v1/pets', { key, body: REX, headers: withKey('order-1') });
  const first = await send();
  const other = new DatabaseSync(databaseUrl.slice('sqlite:'.length));
  other.exec("UPDATE pets SET name = 'Max', category_id = 1, status = 'sold'");
  other.close();
  assert.equal((await call(service.url, '/v1/pets/1', { key })).json.name, 'Max');
  const replay = await send();
  assert.equal(replay.headers.get('idempotent-replay'), 'true');
  assert.equal(replay.headers.get('location'), first.headers.get('location'));
  assert.deepEqual([replay.status, replay.text], [201, '{"id":1,"name":"Rex","categoryId":7}']);
  assert.equal(replay.text, first.text);
});

test('an Idempotency-Key belongs to one operation; createPet keeps those of 1.0.0', () => {
  assert.equal(parseIdempotencyKey('k', 'createPet'), `sha256 ${hash('sha256', 'k', 'hex')}`);
  const operations = ['createPet', 'createOrder', 'createCategory'];
  assert.equal(new Set(operations.map((id) => parseIdempotencyKey('k', id))).size, 3);
  assert.notEqual(parseIdempotencyKey('createOrderk'), parseIdempotencyKey('k', 'createOrder'));
});

test('the same body to another path is another request', () => {
  const body = Buffer.from(REX);
  assert.equal(fingerprintOf([], body), hash('sha256', body, 'base64url'));
  const paths = [[], ['1'], ['2'], ['1', '2'], ['1,2']];
  assert.equal(new Set(paths.map((values) => fingerprintOf(values, body))).size, paths.length);
});

test('a second request is 409 while the first with its Idempotency-Key is undecided', async (t) => {
  const databaseUrl = temporaryDatabase(t);
  const service = await startTestService(t, { databaseUrl });
  const key = await service.issueKey();
  const send = () => call(service.url, '/v1/pets', { key, body: REX, headers: withKey('order-1') });
  const other = new DatabaseSync(databaseUrl.slice('sqlite:'.length));
  t.after(() => other.close());
  other.exec('BEGIN IMMEDIATE');
  const answers = [send(), send()];
  const early = await Promise.race(answers);
  assertError(early, 'conflict');
  assert.equal(early.headers.get('retry-after'), '1');
  other.exec('ROLLBACK');
  assert.deepEqual((await Promise.all(answers)).map(({ status }) => status).toSorted(), [201, 409]);
});

test('the same Idempotency-Key and body replay the stored 201', async (t) => {
  const service = await startTestService(t);
  const key = await service.issueKey();
  const send = () => call(service.url, '/v1/pets', { key, body: REX, headers: withKey('order-1') });
  const first = await send();
  const second = await send();
  assert.equal(first.status, 201);
  assert.equal(first.headers.get('idempotent-replay'), null);
  assert.equal(second.status, 201);
  assert.equal(second.headers.get('idempotent-replay'), 'true');
  assert.equal(second.text, first.text);
  assert.equal(second.headers.get('location'), first.headers.get('location'));
  assertRateHeaders(second);
  const remaining = (answer: typeof first) => Number(answer.headers.get('x-ratelimit-remaining'));
  assert.equal(remaining(second), remaining(first) - 1);
  assert.equal((await call(service.url, '/v1/pets', { key })).json.length, 1);
});

test('an Idempotency-Key with another body is 422', async (t) => {
  const service = await startTestService(t);
  const key = await service.issueKey();
  await call(service.url, '/v1/pets', { key, body: REX, headers: withKey('order-1') });
  const body = '{"name":"Max","categoryId":7}';
  const other = await call(service.url, '/v1/pets', { key, body, headers: withKey('order-1') });
  assertError(other, 'idempotency_key_reused');
  assert.match(other.json.message, /another request: send a new one/);
  assert.equal((await call(service.url, '/v1/pets', { key })).json.length, 1);
});

test('a 4xx is not stored under its Idempotency-Key', async (t) => {
  const service = await startTestService(t);
  const key = await service.issueKey();
  const send = (body: string) => call(service.url, '/v1/pets', { key, body, headers: withKey('order-1') });
  assertError(await send('{"name":"Rex"}'), 'invalid_request');
  assert.equal((await send(REX)).status, 201);
});

test('an Idempotency-Key belongs to its account for 24 hours', async (t) => {
  const service = await startTestService(t);
  const send = async (key: string) => {
    return (await call(service.url, '/v1/pets', { key, body: REX, headers: withKey('order-1') })).json
      .id as number;
  };
  const ours = await service.issueKey({ account: 'ours' });
  const oursToo = await service.issueKey({ account: 'ours' });
  const otherAccount = await service.issueKey({ account: 'theirs' });
  const id = await send(ours);
  assert.equal(await send(oursToo), id);
  assert.notEqual(await send(otherAccount), id);
  await service.passTime(24 * 3_600_000 - 1);
  assert.equal(await send(ours), id);
  await service.passTime(1);
  assert.notEqual(await send(ours), id);
});

test('100 requests with one Idempotency-Key make one animal', async (t) => {
  const service = await startTestService(t);
  const key = await service.issueKey();
  const send = () => call(service.url, '/v1/pets', { key, body: REX, headers: withKey('order-1') });
  const answers = await Promise.all(Array.from({ length: 100 }, send));
  assert.deepEqual(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size, 1);
  assert.equal(answers.filter(({ headers }) => headers.get('idempotent-replay') === null).length, 1);
  assert.equal((await call(service.url, '/v1/pets', { key })).json.length, 1);
});
