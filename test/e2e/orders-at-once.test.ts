// Contract: sections 2 and 3.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client } from 'pg';
import { issueKey, startInstances } from '../support/instances.ts';
import { keepAliveClient, type Sent } from '../support/load.ts';
import { startServiceProcess, temporaryEnvironment } from '../support/process.ts';

const ORDERS = 1_000;

type Send = (number: number, path: string, body?: string) => Promise<Sent>;

/** Orders one animal a thousand times at once: one order is made, and the others are refused. */
async function orderAtOnce(send: Send): Promise<void> {
  const pet = JSON.parse(
    (await send(0, '/v1/pets', '{"name":"Rex","categoryId":1,"status":"available"}')).text,
  );
  const body = JSON.stringify({ petId: pet.id });
  const answers = await Promise.all(
    Array.from({ length: ORDERS }, (_, number) => send(number, '/v1/store/orders', body)),
  );

  const made = answers.filter(({ status }) => status === 201);
  const refused = answers.filter(({ status }) => status !== 201);
  assert.deepEqual([made.length, refused.length], [1, ORDERS - 1]);
  for (const { status, text } of refused)
    assert.deepEqual([status, JSON.parse(text).code], [409, 'conflict'], text);
  const order = JSON.parse(made[0]?.text ?? '');
  assert.deepEqual(JSON.parse((await send(0, `/v1/store/orders?petId=${pet.id}`)).text), [order]);
  assert.equal(JSON.parse((await send(1, `/v1/pets/${pet.id}`)).text).status, 'pending');
}

test('of 1,000 orders of one animal at once over three instances, one is made', async (t) => {
  const { send, services } = await startInstances(t, 3, { connections: ORDERS / 2 });
  await orderAtOnce(send).catch((error) => { for (const s of services) console.log(s.stdout().split('\n').filter((l) => l.includes('"error"') || l.includes('"warn"')).slice(0,2).join('\n').slice(0,1500), s.stderr().slice(0,1000)); throw error; });
});

test('of 1,000 orders of one animal at once over one SQLite file, one is made', async (t) => {
  const variables = temporaryEnvironment(t);
  const { key } = await issueKey(variables);
  const { url } = await startServiceProcess(t, variables);
  const client = keepAliveClient(url, key, ORDERS);
  t.after(() => client.close());
  await orderAtOnce((_number, ...request) => client.send(...request));
});

test('an order of an animal that is held is refused without waiting for the lock of the animal', async (t) => {
  const { send, variables } = await startInstances(t, 1);
  const pet = JSON.parse(
    (await send(0, '/v1/pets', '{"name":"Rex","categoryId":1,"status":"available"}')).text,
  );
  const body = JSON.stringify({ petId: pet.id });
  assert.equal((await send(0, '/v1/store/orders', body)).status, 201);
  const other = new Client({ connectionString: variables['DATABASE_URL'] });
  await other.connect();
  try {
    await other.query('BEGIN');
    await other.query('SELECT 1 FROM pets WHERE id = $1 FOR UPDATE', [pet.id]);
    assert.equal((await send(0, '/v1/store/orders', body)).status, 409);
  } finally {
    await other.end();
  }
});
