// Contract: sections 2.6 and 3.12.
import assert from 'node:assert/strict';
import { DAY } from '../../domain/clock.ts';
import { readOutcome, requireValue } from '../../../test/storage/fixture.ts';
import { orderFixture } from '../../../test/storage/order-fixture.ts';
import { postgresFixture } from '../../../test/storage/postgres-fixture.ts';
import { STORES } from '../../../test/storage/stores.ts';
import { call } from '../../../test/support/api.ts';
import { startTestService } from '../../../test/support/service.ts';
import { CLIENT, createAccount } from '../../../test/support/store.ts';
import { test } from '../../../test/support/test.ts';
import { PLANS } from '../../domain/plan.ts';

const FULL = {
  error: 'conflict',
  message: 'This account may have at most 3 open orders: complete or cancel others first.',
};

for (const [name, fresh] of STORES) {
  const fullFixture = async (t: Parameters<typeof fresh>[0]) => {
    const fixture = await orderFixture(t, (lifetime) => fresh(lifetime, { maxOpenOrders: 3 }));
    const { addPet, order } = fixture;
    const made = [];
    while (made.length < 3) made.push(await order(await addPet('available')));
    const [first] = made;
    assert.ok(first !== undefined);
    const petId = await addPet('available');
    /** What becomes of one order more. */
    const orderMore = () => fixture.orders.create(CLIENT, fixture.mine, { petId });
    return { ...fixture, first, petId, orderMore };
  };

  test(`${name}: an account with all its open orders makes no other one, and other accounts do`, async (t) => {
    const { orders, petId, petState, orderMore, otherAccount, mine } = await fullFixture(t);
    assert.deepEqual(await orderMore(), FULL);
    assert.equal(await petState(petId), 'available');
    assert.equal((await orders.list({ accountId: mine, limit: 100 })).items.length, 3);
    requireValue(await orders.create(CLIENT, otherAccount, { petId }));
  });

  for (const end of ['complete', 'cancel'] as const)
    test(`${name}: to ${end} an order frees its place`, async (t) => {
      const { orders, mine, first, orderMore } = await fullFixture(t);
      requireValue(await orders[end](CLIENT, first.id, { accountId: mine }));
      requireValue(await orderMore());
      assert.deepEqual(
        await orders.create(CLIENT, mine, { petId: first.petId }),
        end === 'complete' ? { error: 'conflict' } : FULL,
      );
    });

  test(`${name}: an order whose time has passed does not count, also before it is expired`, async (t) => {
    const { passTime, orderMore, orderState, first } = await fullFixture(t);
    await passTime(3 * DAY - 1);
    assert.deepEqual(await orderMore(), FULL);
    await passTime(1);
    requireValue(await orderMore());
    assert.equal(await orderState(first.id), 'pending');
  });

  test(`${name}: a repeated request gets its order, also from a full account`, async (t) => {
    const { orders, mine, addPet, once } = await orderFixture(t, (lifetime) =>
      fresh(lifetime, { maxOpenOrders: 1 }),
    );
    const petId = await addPet('available');
    const made = requireValue(await orders.create(CLIENT, mine, { petId }, once));
    assert.deepEqual(requireValue(await orders.create(CLIENT, mine, { petId }, once)), made);
    const refusal = await orders.create(CLIENT, mine, { petId: await addPet('available') });
    assert.match('message' in refusal ? refusal.message : '', /^This account may have at most 1 open order:/);
  });
}

test('orders of one account by several instances at once are exactly as many as it may have', async (t) => {
  const most = 7;
  const { store, another } = await postgresFixture(t, { maxOpenOrders: most });
  const instances = [store, ...(await Promise.all(Array.from({ length: 5 }, () => another())))];
  const { id } = await createAccount(store.accounts, 'shelter', 'free', PLANS.free);
  const petIds: bigint[] = [];
  while (petIds.length < 60) {
    const pet = { name: 'Rex', categoryId: 7n, status: 'available' } as const;
    petIds.push(requireValue(await store.pets.create(CLIENT, pet)).id);
  }
  for (let round = 0; round < 5; round++) {
    const results = await Promise.all(
      petIds.map((petId, index) =>
        (instances[index % instances.length] ?? store).orders.create(CLIENT, id, { petId }),
      ),
    );
    const outcomes = results.map(readOutcome);
    assert.deepEqual(new Set(outcomes), new Set(['done', 'conflict']));
    const { items } = await store.orders.list({ accountId: id, limit: 100, status: 'pending' });
    assert.deepEqual([items.length, outcomes.filter((outcome) => outcome === 'done').length], [most, most]);
    for (const order of items) requireValue(await store.orders.cancel(CLIENT, order.id));
  }
});

test('a client is told that its account has too many open orders', async (t) => {
  const service = await startTestService(t, { env: { MAX_OPEN_ORDERS: '1' } });
  const key = await service.issueKey();
  const send = (path: string, body: string) => call(service.url, `/v1${path}`, { key, body });
  for (const id of [1, 2])
    assert.equal(
      (await send('/pets', `{"name":"Rex ${id}","categoryId":7,"status":"available"}`)).status,
      201,
    );
  assert.equal((await send('/store/orders', '{"petId":1}')).status, 201);
  const refused = await send('/store/orders', '{"petId":2}');
  assert.deepEqual(refused.json, {
    code: 'conflict',
    message: 'This account may have at most 1 open order: complete or cancel others first.',
    status: 409,
  });
});
