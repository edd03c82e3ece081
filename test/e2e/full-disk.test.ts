// Contract: section 4.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { assertError, assertRateHeaders, call } from '../support/api.ts';
import { run, runProcess } from '../support/process.ts';
import { startTestService } from '../support/service.ts';
import { smallDisk } from '../support/small-disk.ts';

test('on a full disk creates get 503 and reads work, and the service recovers', async (t) => {
  const disk = smallDisk(t);
  const service = await startTestService(t, { databaseUrl: `sqlite:${join(disk.folder, 'petstore.db')}` });
  const key = await service.issueKey();
  const body = JSON.stringify({ name: '🐶'.repeat(200), categoryId: 1 });
  const create = () => call(service.url, '/v1/pets', { key, body });
  const newest = async () => (await call(service.url, '/v1/pets?limit=1', { key })).json[0];

  let last: { id: number } | undefined;
  let answer = await create();
  for (; answer.status === 201; answer = await create()) last = answer.json;
  for (let i = 0; i < 5; i++) {
    assertError(answer, 'unavailable');
    assertRateHeaders(answer);
    assert.match(answer.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
    answer = await create();
  }
  assert.ok(last);
  assert.deepEqual(await newest(), last, 'exactly what was answered is there');
  assert.equal((await call(service.url, `/v1/pets/${last.id}`, { key })).status, 200);

  disk.grow();
  const next = await create();
  assert.equal(next.status, 201);
  assert.deepEqual(await newest(), next.json);
  assert.equal(next.json.id, last.id + 1, 'no id was lost or used twice');
});

test('a full disk at start gives one clear line and exit 1, and damages nothing', async (t) => {
  const disk = smallDisk(t);
  const env = { DATABASE_URL: `sqlite:${join(disk.folder, 'petstore.db')}`, PORT: '0' };
  assert.equal((await run(['seed', '10'], env)).code, 0);
  disk.fill();
  const { code, stderr } = await runProcess(['serve'], env);
  assert.equal(code, 1);
  assert.match(stderr, /^petstore: [^\n]*cannot[^\n]*\n$/);
  disk.grow();
  assert.equal((await run(['export'], env)).stdout.trim().split('\n').length, 10);
});
