// Contract: sections 3, 4 and 9.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Answer, assertError, assertRateHeaders, call } from '../../../test/support/api.ts';
import { fakeClock } from '../../../test/support/clock.ts';
import { lifetimeOfFile } from '../../../test/support/lifetime.ts';
import { startTestService } from '../../../test/support/service.ts';

const REX = '{"name":"Rex","categoryId":7,"status":"sold"}';

const shared = await startTestService(lifetimeOfFile());

function assertDeprecation({ headers }: Answer, base: string): void {
  assert.equal(headers.get('deprecation'), '@1764892800');
  assert.equal(headers.get('sunset'), 'Thu, 05 Dec 2030 00:00:00 GMT');
  const links = `<${base}/reference>; rel="deprecation", <${base}/v1/pets>; rel="successor-version"`;
  assert.equal(headers.get('link'), links);
}

test('200 is the animal with the deprecation headers', async () => {
  const key = await shared.issueKey();
  const created = await call(shared.url, '/v1/pets', { key, body: REX });
  const answer = await call(shared.url, `/v1/pets/${created.json.id}`, { key });
  assert.equal(answer.status, 200);
  assert.equal(answer.text, created.text);
  assertDeprecation(answer, shared.url);
  assertRateHeaders(answer);
});

for (const petId of [
  '999999',
  '0',
  '-1',
  '9223372036854775807',
  '-9223372036854775808',
  '9223372036854775808',
  '99999999999999999999999',
  'abc',
  '1.0',
  '1e3',
  '01',
  '+1',
  '%31x',
  '%00',
  '%F0%9F%90%B6',
  'x'.repeat(2_000),
]) {
  test(`the unknown animal ${petId.slice(0, 24)} is 404 with the deprecation headers`, async () => {
    const answer = await call(shared.url, `/v1/pets/${petId}`, { key: await shared.issueKey() });
    assertError(answer, 'not_found');
    assertDeprecation(answer, shared.url);
    assertRateHeaders(answer);
  });
}

test('401, 403, 304 and HEAD carry the deprecation headers too', async () => {
  const key = await shared.issueKey();
  const { json } = await call(shared.url, '/v1/pets', { key, body: REX });
  const path = `/v1/pets/${json.id}`;
  const found = await call(shared.url, path, { key });
  const writer = await shared.issueKey({ scopes: ['pets:write'] });
  const answers = {
    401: await call(shared.url, path),
    403: await call(shared.url, path, { key: writer }),
    304: await call(shared.url, path, {
      key,
      headers: { 'if-none-match': found.headers.get('etag') ?? '' },
    }),
    200: await call(shared.url, path, { key, method: 'HEAD' }),
  };
  for (const [status, answer] of Object.entries(answers)) {
    assert.equal(answer.status, Number(status));
    assertDeprecation(answer, shared.url);
  }
});

test('from 2030-12-05T00:00:00Z exactly the operation is 410 with the same links', async (t) => {
  const clock = fakeClock('2030-12-04T23:59:59.999Z');
  const service = await startTestService(t, { clock });
  const key = await service.issueKey();
  const { json } = await call(service.url, '/v1/pets', { key, body: REX });
  const get = () => call(service.url, `/v1/pets/${json.id}`, { key });
  assert.equal((await get()).status, 200);
  clock.advance(1);
  const answer = await get();
  assertError(answer, 'gone');
  assertDeprecation(answer, service.url);
  assertRateHeaders(answer);
  assertError(await call(service.url, '/v1/pets/999', { key }), 'gone');
  assert.equal((await call(service.url, '/v1/pets', { key })).status, 200, 'the replacement goes on');
});

test('the other operations are not deprecated', async () => {
  const key = await shared.issueKey();
  for (const answer of [
    await call(shared.url, '/v1/pets', { key }),
    await call(shared.url, '/v1/pets', { key, body: REX }),
  ]) {
    assert.equal(answer.headers.get('deprecation'), null);
    assert.equal(answer.headers.get('sunset'), null);
  }
});

test('another method on the path does not announce its own removal', async () => {
  const key = await shared.issueKey();
  for (const method of ['PATCH', 'DELETE', 'OPTIONS']) {
    const { headers } = await call(shared.url, '/v1/pets/1', { method, key });
    for (const name of ['deprecation', 'sunset', 'link'])
      assert.equal(headers.get(name), null, `${method} ${name}`);
  }
});
