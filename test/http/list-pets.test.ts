// Contract: sections 3 and 4.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertError, assertRateHeaders, call } from '../support/api.ts';
import { lifetimeOfFile } from '../support/lifetime.ts';
import { startTestService } from '../support/service.ts';
import { addPets, listPetsContract } from './list-pets-contract.ts';

const shared = await startTestService(lifetimeOfFile());

listPetsContract('SQLite', startTestService);

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
