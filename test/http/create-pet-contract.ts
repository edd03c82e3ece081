// Contract: sections 2 and 3.
import assert from 'node:assert/strict';
import { assertRateHeaders, call } from '../support/api.ts';
import type { StartService } from '../support/service.ts';
import { test } from '../support/test.ts';

const REX = '{"name":"Rex","categoryId":7}';

/** Adding, as it must be over any store; `start` gives a service on the stores of `backend`. */
export function createPetContract(backend: string, start: StartService): void {
  test(`${backend}: a create is 201 with the animal, its id and its Location`, async (t) => {
    const service = await start(t);
    const key = await service.issueKey();
    const body = '{"name":"Rex","categoryId":7,"status":"pending"}';
    const answer = await call(service.url, '/v1/pets', { key, body });
    assert.equal(answer.status, 201);
    assert.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8');
    assert.deepEqual(answer.json, { id: answer.json.id, name: 'Rex', categoryId: 7, status: 'pending' });
    assert.equal(answer.headers.get('location'), `${service.url}/v1/pets/${answer.json.id}`);
    assertRateHeaders(answer);
  });

  test(`${backend}: a create takes any of three states or none`, async (t) => {
    const service = await start(t);
    const key = await service.issueKey();
    for (const status of ['available', 'pending', 'sold']) {
      const body = JSON.stringify({ name: 'Rex', categoryId: 7, status });
      assert.equal((await call(service.url, '/v1/pets', { key, body })).json.status, status);
    }
    const without = await call(service.url, '/v1/pets', { key, body: REX });
    assert.equal(without.status, 201);
    assert.ok(!('status' in without.json), 'absent stays absent');
  });

  test(`${backend}: int64 is exact, and other fields are ignored`, async (t) => {
    const service = await start(t);
    const key = await service.issueKey();
    const spellings = {
      '9223372036854775807': '9223372036854775807',
      '-9223372036854775808': '-9223372036854775808',
      '9007199254740993': '9007199254740993',
      '1.0': '1',
      '1e3': '1000',
      '-0': '0',
      '9223372036854775.807e3': '9223372036854775807',
    };
    for (const [written, exact] of Object.entries(spellings)) {
      const body = `{"id":99,"colour":"red","name":"Rex","categoryId":${written}}`;
      const answer = await call(service.url, '/v1/pets', { key, body });
      assert.equal(answer.status, 201, answer.text);
      assert.match(answer.text, new RegExp(`^\\{"id":\\d+,"name":"Rex","categoryId":${exact}\\}$`));
      assert.notEqual(answer.json.id, 99);
    }
  });

  test(`${backend}: a name of up to 200 code points stays exact`, async (t) => {
    const service = await start(t);
    const key = await service.issueKey();
    for (const name of [' Rex ', '"\\/\b\t\n', 'Zoë', '🐶'.repeat(200), '\u202Eabc', '​x']) {
      const answer = await call(service.url, '/v1/pets', {
        key,
        body: JSON.stringify({ name, categoryId: 1 }),
      });
      assert.equal(answer.json.name, name);
      const read = await call(service.url, `/v1/pets/${answer.json.id}`, { key });
      assert.equal(read.json.name, name);
      assert.equal(read.text, answer.text);
    }
  });

  test(`${backend}: an answered create is in the next list and get`, async (t) => {
    const service = await start(t);
    const key = await service.issueKey();
    for (let i = 0; i < 20; i++) {
      const { json } = await call(service.url, '/v1/pets', { key, body: REX });
      assert.equal((await call(service.url, '/v1/pets?limit=1', { key })).json[0].id, json.id);
      assert.equal((await call(service.url, `/v1/pets/${json.id}`, { key })).status, 200);
    }
  });
}
