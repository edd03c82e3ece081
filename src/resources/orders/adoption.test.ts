// Contract: sections 2.6, 3.4 and 3.12.
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { SCOPES } from '../../domain/scope.ts';
import { DAY } from '../../domain/clock.ts';
import { type Asked, assertError, assertRateHeaders, call } from '../../../test/support/api.ts';
import { startTestService } from '../../../test/support/service.ts';
import { test } from '../../../test/support/test.ts';

const once = (key: string) => ({ 'idempotency-key': key });

const prepare = async (t: TestContext) => {
  const service = await startTestService(t);
  const key = await service.issueKey({ scopes: SCOPES });
  const send = (path: string, asked: Asked = {}) => call(service.url, `/v1${path}`, { key, ...asked });
  const addPet = async (status = 'available') => {
    const body = JSON.stringify({ name: 'Rex', categoryId: 7, status });
    return (await send('/pets', { body })).json.id as number;
  };
  const order = (petId: number, headers: Record<string, string> = {}) =>
    send('/store/orders', { body: JSON.stringify({ petId }), headers });
  const complete = (id: number, headers: Record<string, string> = {}) =>
    send(`/store/orders/${id}/complete`, { method: 'POST', headers });
  const cancel = (id: number) => send(`/store/orders/${id}`, { method: 'DELETE' });
  const states = async (petId: number, id: number) => [
    (await send(`/pets/${petId}`)).json.status,
    (await send(`/store/orders/${id}`)).json.status,
  ];
  return { service, send, addPet, order, complete, cancel, states };
};

test('an animal is ordered, held and adopted', async (t) => {
  const { service, send, addPet, complete, states } = await prepare(t);
  const petId = await addPet();
  const body = `{"id":9,"status":"complete","petId":${petId}.0,"quantity":1e0,"shipDate":"2027-01-15t10:00:00+01:00"}`;
  const made = await send('/store/orders', { body });
  assert.equal(made.status, 201, made.text);
  assertRateHeaders(made);
  const { id, createdAt, expiresAt } = made.json;
  assert.deepEqual(made.json, {
    id,
    petId,
    quantity: 1,
    shipDate: '2027-01-15T09:00:00.000Z',
    status: 'pending',
    complete: false,
    createdAt,
    expiresAt,
  });
  assert.equal(Date.parse(expiresAt) - Date.parse(createdAt), 3 * DAY);
  assert.equal(made.headers.get('location'), `${service.url}/v1/store/orders/${id}`);
  assert.deepEqual(await states(petId, id), ['pending', 'pending']);
  const completed = await complete(id);
  assert.equal(completed.status, 200);
  assert.equal(completed.headers.get('location'), null);
  assert.deepEqual(completed.json, { ...made.json, status: 'complete', complete: true });
  assert.equal((await send(`/store/orders/${id}`)).text, completed.text);
  assert.deepEqual(await states(petId, id), ['sold', 'complete']);
});

test('each change that the state of an order forbids is 409', async (t) => {
  const { addPet, order, complete, cancel, states } = await prepare(t);
  const petId = await addPet();
  const { id } = (await order(petId)).json;
  const again = await order(petId);
  assertError(again, 'conflict');
  assert.match(again.json.message, /not available/);
  assertError(await order(await addPet('sold')), 'conflict');
  assert.equal((await cancel(id)).status, 204);
  assert.equal((await cancel(id)).status, 204);
  const late = await complete(id);
  assertError(late, 'conflict');
  assert.match(late.json.message, /not pending/);
  const second = (await order(petId)).json.id;
  assert.equal((await complete(second)).status, 200);
  assertError(await complete(second), 'conflict');
  const sold = await cancel(second);
  assertError(sold, 'conflict');
  assert.match(sold.json.message, /complete/);
  assert.deepEqual(await states(petId, second), ['sold', 'complete']);
});

test('a repeated order or completion gets the stored answer', async (t) => {
  const { service, send, addPet, order, complete, cancel } = await prepare(t);
  const petId = await addPet();
  const first = await order(petId, once('order-1'));
  const { id } = first.json;
  assert.equal((await complete(id, once('order-1'))).status, 200);
  const replay = await order(petId, once('order-1'));
  assert.deepEqual([replay.status, replay.text], [201, first.text]);
  assert.equal(replay.headers.get('location'), `${service.url}/v1/store/orders/${id}`);
  assert.equal(replay.headers.get('idempotent-replay'), 'true');
  await send(`/pets/${petId}`, { method: 'DELETE' });
  const completed = await complete(id, once('order-1'));
  assert.deepEqual([completed.status, completed.json.status], [200, 'complete']);
  assert.equal(completed.headers.get('idempotent-replay'), 'true');
  assertError(await order(petId + 1, once('order-1')), 'idempotency_key_reused');
  assertError(await complete(id + 1, once('order-1')), 'idempotency_key_reused');
  // A refusal is not recorded.
  const other = await addPet();
  const held = (await order(other)).json.id;
  assertError(await order(other, once('order-2')), 'conflict');
  await cancel(held);
  const made = await order(other, once('order-2'));
  assert.deepEqual([made.status, made.headers.get('idempotent-replay')], [201, null]);
});

test('Link keeps every filter of a list of orders', async (t) => {
  const { service, send, addPet, order, cancel } = await prepare(t);
  const petId = await addPet();
  for (let made = 0; made < 3; made++) await cancel((await order(petId)).json.id);
  await order(await addPet());
  const path = `/store/orders?limit=2&status=cancelled&petId=${petId}`;
  const first = await send(path);
  const link = first.headers.get('link') ?? '';
  assert.ok(link.startsWith(`<${service.url}/v1${path}&cursor=`), link);
  const { pathname, search } = new URL(link.slice(1, link.indexOf('>')));
  const last = await call(service.url, pathname + search, {
    headers: { authorization: `Bearer ${await service.issueKey({ scopes: ['store:read'] })}` },
  });
  assert.equal(last.headers.get('link'), null);
  const ids = [...first.json, ...last.json].map(({ id }) => id);
  assert.deepEqual(
    ids,
    ids.toSorted((a, b) => b - a),
  );
  assert.equal(new Set(ids).size, 3);
});

test('an order is expired from expiresAt on, and its animal free', async (t) => {
  const { service, send, addPet, order, complete, states } = await prepare(t);
  const [petId, other] = [await addPet(), await addPet()];
  const [made, left] = [(await order(petId)).json, (await order(other)).json];
  await service.passTime(3 * DAY);
  assertError(await complete(made.id), 'conflict');
  assert.equal((await order(petId)).status, 201);
  // The service looks for such orders by itself.
  while ((await send(`/pets/${other}`)).json.status === 'pending');
  assert.deepEqual(await states(other, left.id), ['available', 'expired']);
  const expired = (await send(`/store/orders/${left.id}`)).json;
  assert.deepEqual(expired, { ...left, status: 'expired' });
});
