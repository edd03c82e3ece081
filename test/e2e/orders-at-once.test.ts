// Contract: sections 2 and 3.
import assert from 'node:assert/strict';
import { Client } from 'pg';
import { issueKey, sharedServers, startInstances } from '../support/instances.ts';
import { keepAliveClient, type Sent } from '../support/load.ts';
import { startServiceProcess, temporaryEnvironment } from '../support/process.ts';
import { test } from '../support/test.ts';

const ORDERS = 1_000;

type Send = (number: number, path: string, body?: string) => Promise<Sent>;

/** The id of a new animal that is available. */
async function addPet(send: Send): Promise<number> {
  const { status, text } = await send(0, '/v1/pets', '{"name":"Rex","categoryId":1,"status":"available"}');
  assert.equal(status, 201, text);
  return JSON.parse(text).id;
}

/** Orders one animal a thousand times at once: one order is made, and the others are refused. */
async function orderAtOnce(send: Send): Promise<void> {
  const petId = await addPet(send);
  const body = JSON.stringify({ petId });
  const answers = await Promise.all(
    Array.from({ length: ORDERS }, (_, number) => send(number, '/v1/store/orders', body)),
  );

  const [order, ...others] = answers.toSorted((a, b) => a.status - b.status);
  assert.equal(order?.status, 201);
  for (const { status, text } of others) assert.deepEqual([status, JSON.parse(text).code], [409, 'conflict']);
  const orders = JSON.parse((await send(0, `/v1/store/orders?petId=${petId}`)).text);
  assert.deepEqual(orders, [JSON.parse(order.text)]);
  assert.equal(JSON.parse((await send(1, `/v1/pets/${petId}`)).text).status, 'pending');
}

test('of 1,000 orders of one animal at once over three instances, one is made', async (t) => {
  const { send } = await startInstances(t, 3, { connections: ORDERS / 2 });
  await orderAtOnce(send);
});

test('of 1,000 orders of one animal at once over one SQLite file, one is made', async (t) => {
  const variables = temporaryEnvironment(t);
  const { key } = await issueKey(variables);
  const { url } = await startServiceProcess(t, variables);
  const client = keepAliveClient(url, key, ORDERS);
  t.after(() => client.close());
  await orderAtOnce((_number, ...request) => client.send(...request));
});

test('a crowd that waits for one animal leaves connections for other requests', async (t) => {
  const variables = await sharedServers(t);
  const { key } = await issueKey(variables);
  const { url } = await startServiceProcess(t, { ...variables, DATABASE_CONNECTIONS: '2' });
  const client = keepAliveClient(url, key, 50);
  t.after(() => client.close());
  const send: Send = (_number, ...request) => client.send(...request);
  const body = JSON.stringify({ petId: await addPet(send) });
  const other = new Client({ connectionString: variables['DATABASE_URL'] });
  await other.connect();
  await other.query('BEGIN');
  await other.query('SELECT 1 FROM pets FOR UPDATE');
  const crowd = Array.from({ length: 20 }, () => send(0, '/v1/store/orders', body));
  await addPet(send);
  await other.end();
  await Promise.all(crowd);
});

test('a crowd of one account that waits for its turn leaves connections for other requests', async (t) => {
  const variables = await sharedServers(t);
  const { key } = await issueKey(variables);
  const { url } = await startServiceProcess(t, { ...variables, DATABASE_CONNECTIONS: '2' });
  const client = keepAliveClient(url, key, 50);
  t.after(() => client.close());
  const send: Send = (_number, ...request) => client.send(...request);
  const petIds: number[] = [];
  while (petIds.length < 20) petIds.push(await addPet(send));
  const other = new Client({ connectionString: variables['DATABASE_URL'] });
  await other.connect();
  // The account is the first one.
  await other.query('SELECT pg_advisory_lock((1::bigint << 62) + 1)');
  const crowd = petIds.map((petId) => send(0, '/v1/store/orders', JSON.stringify({ petId })));
  await addPet(send);
  await other.end();
  await Promise.all(crowd);
});
