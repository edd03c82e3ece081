// Contract: sections 2, 3 and 6.
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { assertRateHeaders, call } from '../support/api.ts';
import type { StartService, TestService } from '../support/service.ts';
import { test } from '../support/test.ts';

const STATUSES = ['available', 'pending', 'sold', undefined] as const;

/** A service with `count` animals, oldest named "Pet 1", whose states go round. */
export async function addPets(service: TestService, count: number): Promise<void> {
  for (let i = 1; i <= count; i++) {
    const status = STATUSES[i % 4];
    await service.store.pets.create({ name: `Pet ${i}`, categoryId: BigInt(i), ...(status && { status }) });
  }
}

const names = (pets: { name: string }[]) => pets.map(({ name }) => name);

function nextPath(link: string | null): string | undefined {
  const target = link?.match(/^<([^>]+)>; rel="next"$/)?.[1];
  return target === undefined ? undefined : new URL(target).pathname + new URL(target).search;
}

/** Listing, as it must be over any store; `start` gives a service on the stores of `backend`. */
export function listPetsContract(backend: string, start: StartService): void {
  const withPets = async (t: TestContext, count: number) => {
    const service = await start(t);
    await addPets(service, count);
    return { service, key: await service.issueKey() };
  };

  test(`${backend}: 200 is an array of animals, newest first`, async (t) => {
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

  test(`${backend}: an empty catalogue is an empty array`, async (t) => {
    const { service, key } = await withPets(t, 0);
    const answer = await call(service.url, '/v1/pets', { key });
    assert.equal(answer.text, '[]');
    assert.equal(answer.headers.get('link'), null);
  });

  test(`${backend}: with status only animals of that status are returned`, async (t) => {
    const { service, key } = await withPets(t, 12);
    for (const status of ['available', 'pending', 'sold']) {
      const { json } = await call(service.url, `/v1/pets?status=${status}`, { key });
      assert.equal(json.length, 3);
      assert.ok(json.every((pet: { status: string }) => pet.status === status));
    }
  });

  test(`${backend}: limit is 1 to 100 animals, 20 by default`, async (t) => {
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

  test(`${backend}: a Link leads to each next page, the last has none`, async (t) => {
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

  test(`${backend}: Link keeps limit and status, and a full last page has none`, async (t) => {
    const { service, key } = await withPets(t, 16);
    const first = await call(service.url, '/v1/pets?status=sold&limit=2', { key });
    const link = first.headers.get('link') ?? '';
    assert.ok(link.startsWith(`<${service.url}/v1/pets?limit=2&status=sold&cursor=`), link);
    const second = await call(service.url, nextPath(link) ?? '', { key });
    assert.equal(second.json.length, 2);
    assert.equal(second.headers.get('link'), null);
    assert.deepEqual(names([...first.json, ...second.json]), ['Pet 14', 'Pet 10', 'Pet 6', 'Pet 2']);
  });

  test(`${backend}: all filters combine, and an animal matches once if named several times`, async (t) => {
    const { service, key } = await withPets(t, 12);
    const list = async (query: string) => names((await call(service.url, `/v1/pets?${query}`, { key })).json);
    assert.deepEqual(await list('categoryId=7'), ['Pet 7']);
    assert.deepEqual(await list('id=3&id=12&id=3&id=99&id=-1'), ['Pet 12', 'Pet 3']);
    assert.deepEqual(await list('id=2&id=3&id=6&status=sold'), ['Pet 6', 'Pet 2']);
    assert.deepEqual(await list('id=2&id=6&status=sold&categoryId=6'), ['Pet 6']);
    assert.deepEqual(await list('id=2&categoryId=6'), []);
    assert.deepEqual(await list('id=2&id=6&limit=1'), ['Pet 6']);
  });

  test(`${backend}: Link keeps every filter and all 100 ids through a walk`, async (t) => {
    const { service, key } = await withPets(t, 0);
    for (let i = 1; i <= 60; i++)
      await service.store.pets.create({ name: `Pet ${i}`, categoryId: BigInt(i % 2), status: 'sold' });
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

  test(`${backend}: filters take every int64 exactly`, async (t) => {
    const { service, key } = await withPets(t, 3);
    for (const categoryId of [2n ** 63n - 1n, -(2n ** 63n), 2n ** 53n + 1n]) {
      await service.store.pets.create({ name: `Pet of ${categoryId}`, categoryId });
      const { json } = await call(service.url, `/v1/pets?categoryId=${categoryId}`, { key });
      assert.deepEqual(names(json), [`Pet of ${categoryId}`]);
      assert.equal((await call(service.url, `/v1/pets?id=${categoryId}`, { key })).text, '[]');
    }
  });

  test(`${backend}: a walk during creates neither skips nor repeats an animal`, async (t) => {
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
}
