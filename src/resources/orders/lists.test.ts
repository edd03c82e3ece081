// Contract: sections 3.2 and 3.12.
import { STORES } from '../../../test/storage/stores.ts';
import { CLIENT } from '../../../test/support/store.ts';
import assert from 'node:assert/strict';
import { type Order, OrderStatus } from './schema.ts';
import { type OrderQuery, type OrderRepository } from './repository.ts';
import { findOrder, orderFixture } from '../../../test/storage/order-fixture.ts';
import { test } from '../../../test/support/test.ts';

/** The ids on all pages of a list. */
async function walk(orders: OrderRepository, query: OrderQuery): Promise<bigint[]> {
  const ids: bigint[] = [];
  for (let asked: OrderQuery | undefined = query; asked !== undefined; ) {
    const page: Awaited<ReturnType<OrderRepository['list']>> = await orders.list(asked);
    const { items } = page;
    assert.ok(items.length <= query.limit && (page.next === undefined || items.length === query.limit));
    ids.push(...items.map(({ id }) => id));
    if (page.next !== undefined) assert.equal(page.next, ids.at(-1));
    asked = page.next === undefined ? undefined : { ...query, cursor: page.next };
  }
  return ids;
}

for (const [name, fresh] of STORES) {
  test(`${name}: a walk with any filters gives all that match, the newest first`, async (t) => {
    const { orders, mine, otherAccount, addPet, order, passTime } = await orderFixture(t, fresh);
    const made: (Order & { accountId: number })[] = [];
    const pets = [await addPet('available'), await addPet('available'), await addPet('available')];
    const [often = 0n, , last = 0n] = pets;
    const add = async (petId: bigint, accountId: number) => {
      const its = await order(petId, accountId);
      made.push({ ...its, accountId });
      return its;
    };
    for (let round = 0; round < 6; round++) {
      const accountId = round % 3 === 2 ? otherAccount : mine;
      for (const petId of pets) await orders.cancel(CLIENT, (await add(petId, accountId)).id, { accountId });
    }
    await add(often, mine);
    await passTime(3 * 86_400_000);
    await orders.expireDue();
    await orders.complete(CLIENT, (await add(often, mine)).id, { accountId: mine });
    await add(last, mine);
    const current = await Promise.all(
      made.map(async (each) => Object.assign(each, await findOrder(orders, each.id))),
    );
    assert.deepEqual(
      OrderStatus.options.map((status) => current.filter((each) => each.status === status).length),
      [1, 1, 18, 1],
    );
    for (const status of [undefined, ...OrderStatus.options]) {
      const ofStatus = current.filter((each) => status === undefined || each.status === status);
      for (const limit of [1, 2, 100]) {
        const all = ofStatus.map(({ id }) => id).toReversed();
        assert.deepEqual(await walk(orders, { accountId: undefined, limit, status }), all);
        for (const accountId of [mine, otherAccount]) {
          for (const petId of [undefined, ...pets, 99n]) {
            const expected = ofStatus.filter(
              (each) => each.accountId === accountId && (petId === undefined || each.petId === petId),
            );
            assert.deepEqual(
              await walk(orders, { accountId, limit, status, petId }),
              expected.map(({ id }) => id).toReversed(),
              JSON.stringify({ status, limit, accountId, petId: `${petId}` }),
            );
          }
        }
      }
    }
  });

  test(`${name}: a page that is exactly full has no next one`, async (t) => {
    const { orders, mine, addPet, order } = await orderFixture(t, fresh);
    const made = [await order(await addPet('available')), await order(await addPet('available'))];
    for (const status of [undefined, 'pending'] as const) {
      const { next } = await orders.list({ accountId: mine, limit: 2, status });
      assert.equal(next, undefined);
      const page = await orders.list({ accountId: mine, limit: 1, status });
      assert.equal(page.next, made[1]?.id);
    }
  });

  test(`${name}: a walk neither skips nor repeats while others order`, async (t) => {
    const { orders, mine, addPet, order } = await orderFixture(t, fresh);
    const before: bigint[] = [];
    while (before.length < 5) before.push((await order(await addPet('available'))).id);
    const first = await orders.list({ accountId: mine, limit: 2 });
    await order(await addPet('available'));
    const rest = await walk(orders, { accountId: mine, limit: 2, cursor: first.next });
    const seen = first.items.map(({ id }) => id);
    assert.deepEqual([...seen, ...rest], before.toReversed());
  });
}
