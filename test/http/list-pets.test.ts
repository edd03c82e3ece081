import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { assertError, assertRateHeaders, call } from '../support/api.ts';
import { startTestService, type TestService } from '../support/service.ts';

const STATUSES = ['available', 'pending', 'sold', undefined] as const;

/** A service with `count` animals, oldest named "Pet 1", whose states go round. */
async function withPets(t: TestContext, count: number): Promise<{ service: TestService; key: string }> {
  const service = await startTestService(t);
  for (let i = 1; i <= count; i++) {
    const status = STATUSES[i % 4];
    await service.store.pets.create({ name: `Pet ${i}`, categoryId: BigInt(i), ...(status && { status }) });
  }
  return { service, key: await service.issueKey() };
}

const names = (pets: { name: string }[]) => pets.map(({ name }) => name);

function nextPath(link: string | null): string | undefined {
  const target = link?.match(/^<([^>]+)>; rel="next"$/)?.[1];
  return target === undefined ? undefined : new URL(target).pathname + new URL(target).search;
}

test('spec §4.1, §2: 200 is an array of animals; decisions §4: newest first', async (t) => {
  const { service, key } = await withPets(t, 5);
  const answer = await call(service.url, '/v1/pets', { key });
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8');
  assertRateHeaders(answer);
  assert.deepEqual(names(answer.json), ['Pet 5', 'Pet 4', 'Pet 3', 'Pet 2', 'Pet 1']);
  assert.deepEqual(answer.json[0], {
    id: answer.json[0].id,
    name: 'Pet 5',
    categoryId: 5,
    status: 'pending',
  });
  assert.deepEqual(
    Object.keys(answer.json[2]),
    ['id', 'name', 'categoryId'],
    'an absent status stays absent',
  );
});

test('spec §4.1: an empty catalogue is an empty array', async (t) => {
  const { service, key } = await withPets(t, 0);
  const answer = await call(service.url, '/v1/pets', { key });
  assert.equal(answer.text, '[]');
  assert.equal(answer.headers.get('link'), null);
});

test('spec §4.1 rule 1, §3 rule 2: with status only animals in that state are returned', async (t) => {
  const { service, key } = await withPets(t, 12);
  for (const status of ['available', 'pending', 'sold']) {
    const { json } = await call(service.url, `/v1/pets?status=${status}`, { key });
    assert.equal(json.length, 3);
    assert.ok(json.every((pet: { status: string }) => pet.status === status));
  }
});

test('spec §4.1 rules 2 and 3, §8: at most limit animals, 20 without one, 1 to 100', async (t) => {
  const { service, key } = await withPets(t, 101);
  for (const [query, count] of [
    ['', 20],
    ['?limit=1', 1],
    ['?limit=100', 100],
    ['?limit=21', 21],
  ] as const) {
    const { json } = await call(service.url, `/v1/pets${query}`, { key });
    assert.equal(json.length, count);
    assert.equal(json[0].name, 'Pet 101');
  }
});

for (const query of [
  'limit=0',
  'limit=101',
  'limit=-1',
  'limit=1.5',
  'limit=abc',
  'limit=',
  'limit=1e1',
  'limit=0x10',
  'limit=%2010',
  'limit=99999999999999999999',
  'limit=5&limit=5',
  'status=lost',
  'status=',
  'status=Sold',
  'status=sold&status=sold',
  'cursor=',
  'cursor=abc',
  'cursor=AAAAAAAAAAAAAAAA',
  'cursor=%FF',
]) {
  test(`decisions §2: ?${query} is 400 invalid_parameter that names it, never clamped`, async (t) => {
    const { service, key } = await withPets(t, 1);
    const answer = await call(service.url, `/v1/pets?${query}`, { key });
    assertError(answer, 'invalid_parameter');
    assert.match(answer.json.message, new RegExp(query.split('=', 1)[0] ?? ''));
    assertRateHeaders(answer);
  });
}

test('decisions §2: unknown parameters are ignored', async (t) => {
  const { service, key } = await withPets(t, 3);
  assert.equal((await call(service.url, '/v1/pets?colour=red&offset=9&limit=2', { key })).json.length, 2);
});

test('decisions §4: Link leads from page to page, absolute, and there is none on the last', async (t) => {
  const { service, key } = await withPets(t, 10);
  const seen: string[] = [];
  let path: string | undefined = '/v1/pets?limit=4';
  while (path !== undefined) {
    const answer = await call(service.url, path, { key });
    seen.push(...names(answer.json));
    const link = answer.headers.get('link');
    if (link !== null) assert.ok(link.startsWith(`<${service.url}/v1/pets?limit=4&cursor=`), link);
    path = nextPath(link);
  }
  assert.deepEqual(
    seen,
    Array.from({ length: 10 }, (_, i) => `Pet ${10 - i}`),
  );
});

test('decisions §4: the link keeps limit and status; a page that is exactly full is the last one', async (t) => {
  const { service, key } = await withPets(t, 16);
  const first = await call(service.url, '/v1/pets?status=sold&limit=2', { key });
  const link = first.headers.get('link') ?? '';
  assert.ok(link.startsWith(`<${service.url}/v1/pets?limit=2&status=sold&cursor=`), link);
  const second = await call(service.url, nextPath(link) ?? '', { key });
  assert.equal(second.json.length, 2);
  assert.equal(second.headers.get('link'), null);
  assert.deepEqual(names([...first.json, ...second.json]), ['Pet 14', 'Pet 10', 'Pet 6', 'Pet 2']);
});

test('decisions §4: walking the pages while others add neither skips nor repeats an animal', async (t) => {
  const { service, key } = await withPets(t, 30);
  const seen: string[] = [];
  let path: string | undefined = '/v1/pets?limit=7';
  while (path !== undefined) {
    const answer = await call(service.url, path, { key });
    seen.push(...names(answer.json));
    await call(service.url, '/v1/pets', { key, body: '{"name":"Late","categoryId":1}' });
    path = nextPath(answer.headers.get('link'));
  }
  assert.deepEqual(
    seen,
    Array.from({ length: 30 }, (_, i) => `Pet ${30 - i}`),
  );
});

test('decisions §4: the target of Link is built on the base address of the environment', async (t) => {
  const service = await startTestService(t, { env: { PRODUCTION_URL: 'https://pets.example/api/v1' } });
  const key = await service.issueKey();
  const created = [1, 2].map((categoryId) => {
    return call(service.url, '/v1/pets', { key, body: JSON.stringify({ name: 'Rex', categoryId }) });
  });
  const [first] = await Promise.all(created);
  assert.match(first?.headers.get('location') ?? '', /^https:\/\/pets\.example\/api\/v1\/pets\/\d+$/);
  const answer = await call(service.url, '/v1/pets?limit=1', { key });
  assert.match(answer.headers.get('link') ?? '', /^<https:\/\/pets\.example\/api\/v1\/pets\?limit=1&cursor=/);
});
