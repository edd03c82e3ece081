// Contract: section 10.2.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { STORES } from '../../../test/storage/stores.ts';
import { findOrder, orderFixture } from '../../../test/storage/order-fixture.ts';
import { assertError } from '../../../test/support/api.ts';
import { adminOf, startTestConsole } from '../../../test/support/console.ts';
import { CLIENT, ROOT } from '../../../test/support/store.ts';

for (const [name, fresh] of STORES)
  test(`${name}: an order that an operator completes is in the audit log of its account`, async (t) => {
    const { store, orders, mine, addPet, order } = await orderFixture(t, fresh);
    const [first, second] = [await order(await addPet('available')), await order(await addPet('available'))];
    await orders.complete(ROOT, first.id);
    assert.equal((await findOrder(orders, first.id))?.status, 'complete');
    await orders.complete(CLIENT, second.id, { accountId: mine });
    // Only the first of these is about an order.
    const [entry, before] = (await store.audit.list({ limit: 2, accountId: mine })).items;
    assert.deepEqual(
      [entry?.actor, entry?.action, entry?.target, entry?.before, entry?.after],
      [
        ROOT,
        'orders complete',
        { kind: 'order', name: String(first.id) },
        { status: 'pending' },
        { status: 'complete' },
      ],
    );
    assert.equal(before?.action, 'accounts create');
  });

test('operators find, complete and cancel orders of any account by the rules of the API', async (t) => {
  const { its, ask, get } = await adminOf(await startTestConsole(t));
  const { pets, orders } = its.store;
  await its.issueKey({ account: 'shop' });
  await its.issueKey({ account: 'zoo' });
  for (let number = 1; number <= 3; number++)
    await pets.create(CLIENT, { name: 'Rex', categoryId: 7n, status: 'available' });
  for (const [accountId, petId] of [
    [1, 1n],
    [2, 2n],
    [1, 3n],
  ] as const)
    await orders.create(CLIENT, accountId, { petId });
  const statusOf = async (petId: number) => (await get(`/pets/${petId}`)).status;
  const act = (path: string, method = 'POST') => ask(path, { method });
  const completed = await act('/orders/2/complete');
  const { createdAt, expiresAt, ...order } = completed.json;
  assert.deepEqual(order, {
    id: 2,
    accountId: 2,
    account: 'zoo',
    petId: 2,
    quantity: 1,
    status: 'complete',
    complete: true,
  });
  assert.deepEqual(await get('/orders/2'), { ...order, createdAt, expiresAt });
  assert.equal(await statusOf(2), 'sold');
  assert.equal((await act('/orders/3', 'DELETE')).status, 204);
  assert.equal(await statusOf(3), 'available');
  assertError(await act('/orders/3/complete'), 'conflict');
  assertError(await act('/orders/2', 'DELETE'), 'conflict');
  for (const [path, method] of [
    ['/orders/9', 'GET'],
    ['/orders/9', 'DELETE'],
    ['/orders/9/complete', 'POST'],
  ] as const)
    assertError(await act(path, method), 'not_found');
  await orders.create(CLIENT, 2, { petId: 3n });
  const ids = async (query: string) =>
    ((await get(`/orders?${query}`)) as { id: number }[]).map(({ id }) => id);
  assert.deepEqual(await ids(''), [4, 3, 2, 1]);
  assert.deepEqual(await ids('status=pending'), [4, 1]);
  assert.deepEqual(await ids('accountId=1'), [3, 1]);
  assert.deepEqual(await ids('petId=3'), [4, 3], 'of all accounts');
  assert.deepEqual(await ids('petId=3&status=cancelled&accountId=1'), [3]);
  const entries: { action: string; target: { name: string } }[] = await get('/audit?limit=2');
  assert.deepEqual(
    entries.map(({ action, target }) => `${action} ${target.name}`),
    ['orders cancel 3', 'orders complete 2'],
  );
});
