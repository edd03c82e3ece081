// Contract: sections 3 and 4.
import assert from 'node:assert/strict';
import { assertError, assertRateHeaders, call } from '../support/api.ts';
import type { StartService } from '../support/service.ts';
import { test } from '../support/test.ts';

const REX = '{"name":"Rex","categoryId":7}';
const withKey = (value: string) => ({ 'idempotency-key': value });

/** Idempotency keys, as they must work over any store; `start` gives a service on the stores of `backend`. */
export function idempotencyContract(backend: string, start: StartService): void {
  test(`${backend}: the same Idempotency-Key and body replay the stored 201`, async (t) => {
    const service = await start(t);
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

  test(`${backend}: an Idempotency-Key with another body is 422`, async (t) => {
    const service = await start(t);
    const key = await service.issueKey();
    await call(service.url, '/v1/pets', { key, body: REX, headers: withKey('order-1') });
    const body = '{"name":"Max","categoryId":7}';
    const other = await call(service.url, '/v1/pets', { key, body, headers: withKey('order-1') });
    assertError(other, 'idempotency_key_reused');
    assert.match(other.json.message, /another request: send a new one/);
    assert.equal((await call(service.url, '/v1/pets', { key })).json.length, 1);
  });

  test(`${backend}: a 4xx is not stored under its Idempotency-Key`, async (t) => {
    const service = await start(t);
    const key = await service.issueKey();
    const send = (body: string) => call(service.url, '/v1/pets', { key, body, headers: withKey('order-1') });
    assertError(await send('{"name":"Rex"}'), 'invalid_request');
    assert.equal((await send(REX)).status, 201);
  });

  test(`${backend}: an Idempotency-Key belongs to its account for 24 hours`, async (t) => {
    const service = await start(t);
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

  test(`${backend}: 100 requests with one Idempotency-Key make one animal`, async (t) => {
    const service = await start(t);
    const key = await service.issueKey();
    const send = () => call(service.url, '/v1/pets', { key, body: REX, headers: withKey('order-1') });
    const answers = await Promise.all(Array.from({ length: 100 }, send));
    assert.deepEqual(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size, 1);
    assert.equal(answers.filter(({ headers }) => headers.get('idempotent-replay') === null).length, 1);
    assert.equal((await call(service.url, '/v1/pets', { key })).json.length, 1);
  });
}
