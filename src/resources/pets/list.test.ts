// Contract: sections 3 and 4.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { assertError, assertRateHeaders, call } from '../../../test/support/api.ts';
import { lifetimeOfFile } from '../../../test/support/lifetime.ts';
import { startTestService, type TestService } from '../../../test/support/service.ts';
import { CLIENT } from '../../../test/support/store.ts';

const shared = await startTestService(lifetimeOfFile());

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
  'categoryId=',
  'categoryId=x',
  'categoryId=1.0',
  'categoryId=9223372036854775808',
  'categoryId=7&categoryId=7',
  'id=',
  'id=1,2',
  'id=1&id=',
  'id=1&id=-9223372036854775809',
  'id=%5B1%5D',
  'cursor=',
  'cursor=abc',
  'cursor=AAAAAAAAAAAAAAAA',
  'cursor=%FF',
]) {
  test(`?${query} is a 400 that names the parameter`, async () => {
    await addPets(shared, 1);
    const key = await shared.issueKey();
    const answer = await call(shared.url, `/v1/pets?${query}`, { key });
    assertError(answer, 'invalid_parameter');
    assert.match(answer.json.message, new RegExp(query.split('=', 1)[0] ?? ''));
    assertRateHeaders(answer);
  });
}

test('101 ids are a 400 that says how many are taken', async () => {
  const key = await shared.issueKey();
  const ids = (count: number) => Array.from({ length: count }, () => 'id=1').join('&');
  const refused = await call(shared.url, `/v1/pets?${ids(101)}`, { key });
  assertError(refused, 'invalid_parameter');
  assert.match(refused.json.message, /^The parameter id .* at most 100 times\.$/);
  assert.equal((await call(shared.url, `/v1/pets?${ids(100)}`, { key })).status, 200);
});

test('unknown parameters are ignored', async () => {
  await addPets(shared, 3);
  const key = await shared.issueKey();
  assert.equal((await call(shared.url, '/v1/pets?colour=red&offset=9&limit=2', { key })).json.length, 2);
});

test('Link uses the base address of the environment', async (t) => {
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

const STATUSES = ['available', 'pending', 'sold', undefined] as const;

/** A service with `count` animals, oldest named "Pet 1", whose states go round. */
async function addPets(service: TestService, count: number): Promise<void> {
  for (let i = 1; i <= count; i++) {
    const status = STATUSES[i % 4];
    await service.store.pets.create(CLIENT, {
      name: `Pet ${i}`,
      categoryId: BigInt(i),
      ...(status && { status }),
    });
  }
}

const names = (pets: { name: string }[]) => pets.map(({ name }) => name);

function nextPath(link: string | null): string | undefined {
  const target = link?.match(/^<([^>]+)>; rel="next"$/)?.[1];
  return target === undefined ? undefined : new URL(target).pathname + new URL(target).search;
}

const withPets = async (t: TestContext, count: number) => {
  const service = await startTestService(t);
  await addPets(service, count);
  return { service, key: await service.issueKey() };
};

test('200 is an array of animals, newest first', async (t) => {
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

test('an empty catalogue is an empty array', async (t) => {
  const { service, key } = await withPets(t, 0);
  const answer = await call(service.url, '/v1/pets', { key });
  assert.equal(answer.text, '[]');
  assert.equal(answer.headers.get('link'), null);
});

test('with status only animals of that status are returned', async (t) => {
  const { service, key } = await withPets(t, 12);
  for (const status of ['available', 'pending', 'sold']) {
    const { json } = await call(service.url, `/v1/pets?status=${status}`, { key });
    assert.equal(json.length, 3);
    assert.ok(json.every((pet: { status: string }) => pet.status === status));
  }
});

test('limit is 1 to 100 animals, 20 by default', async (t) => {
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

test('a Link leads to each next page, the last has none', async (t) => {
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

test('Link keeps limit and status, and a full last page has none', async (t) => {
  const { service, key } = await withPets(t, 16);
  const first = await call(service.url, '/v1/pets?status=sold&limit=2', { key });
  const link = first.headers.get('link') ?? '';
  assert.ok(link.startsWith(`<${service.url}/v1/pets?limit=2&status=sold&cursor=`), link);
  const second = await call(service.url, nextPath(link) ?? '', { key });
  assert.equal(second.json.length, 2);
  assert.equal(second.headers.get('link'), null);
  assert.deepEqual(names([...first.json, ...second.json]), ['Pet 14', 'Pet 10', 'Pet 6', 'Pet 2']);
});

test('all filters combine, and an animal matches once if named several times', async (t) => {
  const { service, key } = await withPets(t, 12);
  const list = async (query: string) => names((await call(service.url, `/v1/pets?${query}`, { key })).json);
  assert.deepEqual(await list('categoryId=7'), ['Pet 7']);
  assert.deepEqual(await list('id=3&id=12&id=3&id=99&id=-1'), ['Pet 12', 'Pet 3']);
  assert.deepEqual(await list('id=2&id=3&id=6&status=sold'), ['Pet 6', 'Pet 2']);
  assert.deepEqual(await list('id=2&id=6&status=sold&categoryId=6'), ['Pet 6']);
  assert.deepEqual(await list('id=2&categoryId=6'), []);
  assert.deepEqual(await list('id=2&id=6&limit=1'), ['Pet 6']);
});

test('Link keeps every filter and all 100 ids through a walk', async (t) => {
  const { service, key } = await withPets(t, 0);
  for (let i = 1; i <= 60; i++)
    await service.store.pets.create(CLIENT, { name: `Pet ${i}`, categoryId: BigInt(i % 2), status: 'sold' });
  const ids = Array.from({ length: 100 }, (_, i) => `id=${i + 1}`).join('&');
  const query = `limit=7&status=sold&categoryId=1&${ids}`;
  const seen: string[] = [];
  let path: string | undefined = `/v1/pets?${ids}&categoryId=1&status=sold&limit=7`;
  while (path !== undefined) {
    const answer = await call(service.url, path, { key });
    seen.push(...names(answer.json));
    const link = answer.headers.get('link');
    if (link !== null) assert.ok(link.startsWith(`<${service.url}/v1/pets?${query}&cursor=`), link);
    path = nextPath(link);
  }
  assert.deepEqual(
    seen,
    Array.from({ length: 30 }, (_, i) => `Pet ${59 - 2 * i}`),
  );
});

test('filters take every int64 exactly', async (t) => {
  const { service, key } = await withPets(t, 3);
  for (const categoryId of [2n ** 63n - 1n, -(2n ** 63n), 2n ** 53n + 1n]) {
    await service.store.pets.create(CLIENT, { name: `Pet of ${categoryId}`, categoryId });
    const { json } = await call(service.url, `/v1/pets?categoryId=${categoryId}`, { key });
    assert.deepEqual(names(json), [`Pet of ${categoryId}`]);
    assert.equal((await call(service.url, `/v1/pets?id=${categoryId}`, { key })).text, '[]');
  }
});

test('a walk during creates neither skips nor repeats an animal', async (t) => {
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
