// Contract: sections 2 and 3.
import assert from 'node:assert/strict';
import { startInstances, startTestInstances } from '../support/instances.ts';
import { lifetimeOfFile } from '../support/lifetime.ts';
import { startForFile, test } from '../support/test.ts';

const REX = '{"name":"Rex","categoryId":7}';

const lifetime = lifetimeOfFile();
const { send } = await startForFile(() => startInstances(lifetime, 3, { connections: 334 }));

test('1,000 creates with one Idempotency-Key on three instances make one animal', async () => {
  const body = '{"name":"Rex","categoryId":8}';
  const headers = { 'idempotency-key': 'order-1' };
  const answers = await Promise.all(
    Array.from({ length: 1_000 }, (_, number) => send(number, '/v1/pets', body, headers)),
  );
  const [first] = answers;
  for (const { status, text } of answers)
    assert.deepEqual({ status, text }, { status: 201, text: first?.text });
  assert.equal(answers.filter((answer) => answer.headers['idempotent-replay'] === undefined).length, 1);
  assert.equal((await send(0, '/v1/pets?categoryId=8')).text, `[${first?.text}]`);
});

test('an answered create is in the next list and get of any other instance', async () => {
  for (let round = 0; round < 200; round++) {
    const status = ['available', 'pending', 'sold'][round % 3];
    const body = JSON.stringify({ name: `Pet ${round}`, categoryId: 9, status });
    const created = await send(round, '/v1/pets', body);
    assert.equal(created.status, 201);
    const { id } = JSON.parse(created.text) as { id: number };
    for (const other of [round + 1, round + 2]) {
      const answers = await Promise.all([
        send(other, '/v1/pets?limit=1'),
        send(other, `/v1/pets?limit=1&status=${status}`),
        send(other, `/v1/pets/${id}`),
      ]);
      assert.deepEqual(
        answers.map(({ text }) => text),
        [`[${created.text}]`, `[${created.text}]`, created.text],
      );
    }
  }
});

test('ids ascend across all instances, and none is given twice', async () => {
  const ids: number[] = [];
  for (let round = 0; round < 30; round++) {
    const answers = await Promise.all([0, 1, 2, 0, 1, 2].map((number) => send(number, '/v1/pets', REX)));
    const given = answers.map(({ text }) => (JSON.parse(text) as { id: number }).id);
    assert.ok(Math.min(...given) > Math.max(0, ...ids));
    ids.push(...given);
  }
  assert.equal(new Set(ids).size, ids.length);
});

test('ten instances start at once on an empty database', async (t) => {
  const { services } = await startTestInstances(t, 10);
  const ready = await Promise.all(services.map(({ url }) => fetch(`${url}/readyz`)));
  assert.deepEqual(
    ready.map(({ status }) => status),
    Array.from({ length: 10 }, () => 200),
  );
});
