// Contract: section 3.12.
import { STORES } from '../../../test/storage/stores.ts';
import { CLIENT } from '../../../test/support/store.ts';
import assert from 'node:assert/strict';
import { DAY } from '../../domain/clock.ts';
import type { Order } from './schema.ts';
import { entityTag, toJson } from '../../domain/json.ts';
import { PATIENT_LOCKS, readOutcome, requireValue } from '../../../test/storage/fixture.ts';
import { NO_CONTENT, of, orderFixture, refused } from '../../../test/storage/order-fixture.ts';
import { test } from '../../../test/support/test.ts';

const HOLD = 3 * DAY;

for (const [name, fresh] of STORES) {
  test(`${name}: an order can be completed until the instant of expiresAt, not at it`, async (t) => {
    const { orders, mine, addPet, order, passTime, states } = await orderFixture(t, fresh);
    const [early, late] = [await order(await addPet('available')), await order(await addPet('available'))];
    await passTime(HOLD - 1);
    assert.equal(readOutcome(await orders.complete(CLIENT, early.id, { accountId: mine })), 'done');
    await passTime(1);
    assert.deepEqual(await orders.complete(CLIENT, late.id, { accountId: mine }), refused('conflict'));
    assert.deepEqual(await states(late), ['available', 'expired']);
    assert.deepEqual(await states(early), ['sold', 'complete']);
  });

  test(`${name}: an animal can be ordered again from expiresAt on`, async (t) => {
    const { orders, mine, otherAccount, addPet, order, passTime, states } = await orderFixture(t, fresh);
    const first = await order(await addPet('available'));
    const { petId } = first;
    await passTime(HOLD - 1);
    assert.deepEqual(await orders.create(CLIENT, otherAccount, { petId }), refused('conflict'));
    await passTime(1);
    const second = requireValue(await orders.create(CLIENT, otherAccount, { petId }));
    assert.deepEqual(await states(first), ['pending', 'expired']);
    assert.deepEqual(await states(second), ['pending', 'pending']);
    assert.deepEqual(await orders.complete(CLIENT, first.id, { accountId: mine }), refused('conflict'));
    assert.deepEqual(await states(second), ['pending', 'pending']);
  });

  test(`${name}: a cancel after expiresAt leaves the order expired`, async (t) => {
    const { orders, mine, addPet, order, passTime, states } = await orderFixture(t, fresh);
    const [one, two] = [await order(await addPet('available')), await order(await addPet('available'))];
    const tag = entityTag(toJson(requireValue(await orders.get(mine, two.id))));
    await passTime(HOLD);
    assert.deepEqual(
      await orders.cancel(CLIENT, one.id, { accountId: mine, ifMatch: undefined }),
      NO_CONTENT,
    );
    assert.deepEqual(await states(one), ['available', 'expired']);
    assert.deepEqual(await orders.cancel(CLIENT, two.id, { accountId: mine, ifMatch: [tag] }), {
      error: 'precondition_failed',
    });
    assert.deepEqual(await states(two), ['available', 'expired']);
  });

  test(`${name}: an animal can be changed and deleted from expiresAt on`, async (t) => {
    const { store, addPet, order, passTime, petState, orderState } = await orderFixture(t, fresh);
    const [one, two] = [await order(await addPet('available')), await order(await addPet('available'))];
    const { pets } = store;
    const patch = { fields: { status: 'sold' }, names: ['status'], issue: undefined } as const;
    await passTime(HOLD - 1);
    assert.deepEqual(await pets.update(CLIENT, one.petId, patch, undefined), { error: 'conflict' });
    assert.deepEqual(await pets.delete(CLIENT, two.petId, undefined), { error: 'conflict' });
    await passTime(1);
    assert.ok('value' in (await pets.update(CLIENT, one.petId, patch, undefined)));
    assert.deepEqual(await pets.delete(CLIENT, two.petId, undefined), NO_CONTENT);
    assert.deepEqual([await petState(one.petId), await orderState(one.id)], ['sold', 'expired']);
    assert.deepEqual([await petState(two.petId), await orderState(two.id)], [undefined, 'expired']);
  });

  test(`${name}: the sweep expires what is due, and frees its animal`, async (t) => {
    const { orders, mine, addPet, order, passTime, states, orderState } = await orderFixture(t, fresh);
    const closed = await order(await addPet('available'));
    await orders.cancel(CLIENT, closed.id, { accountId: mine, ifMatch: undefined });
    const due = await order(closed.petId);
    await passTime(1);
    const later = await order(await addPet('available'));
    await passTime(HOLD - 2);
    assert.equal(await orders.expireDue(), false);
    assert.deepEqual(await states(due), ['pending', 'pending']);
    await passTime(1);
    assert.equal(await orders.expireDue(), false);
    assert.deepEqual(await states(due), ['available', 'expired']);
    assert.deepEqual(await states(later), ['pending', 'pending']);
    assert.equal(await orderState(closed.id), 'cancelled');
  });

  test(`${name}: the sweep also runs first after a restart`, async (t) => {
    const { addPet, order, passTime, reopen } = await orderFixture(t, fresh);
    const made = await order(await addPet('available'));
    await passTime(HOLD - 1);
    const again = await reopen();
    await again.orders.expireDue();
    assert.deepEqual(await of(again).states(made), ['pending', 'pending']);
    await passTime(1);
    const later = await reopen();
    await later.orders.expireDue();
    assert.deepEqual(await of(later).states(made), ['available', 'expired']);
  });

  test(`${name}: many sweeps at once expire each order once, beside other changes`, async (t) => {
    const { store, another, mine, otherAccount, addPet, order, passTime, states } = await orderFixture(
      t,
      fresh,
      PATIENT_LOCKS,
    );
    const { orders } = store;
    const made: Order[] = [];
    while (made.length < 130) made.push(await order(await addPet('available')));
    const others = [await another(), await another()];
    await passTime(HOLD);
    const sweep = async (its: typeof orders) => {
      while (await its.expireDue());
    };
    const some = made.filter((_, index) => index % 13 === 0);
    const ordered = await Promise.all([
      Promise.all([orders, orders, ...others.map((each) => each.orders)].map(sweep)),
      ...some.map(async ({ id, petId }) => {
        assert.deepEqual(await orders.complete(CLIENT, id, { accountId: mine }), refused('conflict'));
        return others[0]?.orders.create(CLIENT, otherAccount, { petId });
      }),
    ]);
    assert.equal(ordered.length, 1 + some.length);
    // A sweep leaves out the animals that others change at this moment.
    await sweep(orders);
    for (const each of made)
      assert.deepEqual(await states(each), [some.includes(each) ? 'pending' : 'available', 'expired']);
    const { items } = await orders.list({ accountId: otherAccount, limit: 100 });
    assert.equal(items.filter(({ status }) => status === 'pending').length, some.length);
  });

  test(`${name}: a sweep takes a portion, and says that there may be more`, async (t) => {
    const { orders, mine, addPet, order, passTime } = await orderFixture(t, fresh);
    for (let made = 0; made < 101; made++) await order(await addPet('available'));
    await passTime(HOLD);
    const sweeps = [await orders.expireDue(), await orders.expireDue(), await orders.expireDue()];
    assert.deepEqual(sweeps, [true, false, false]);
    assert.deepEqual((await orders.list({ accountId: mine, limit: 1, status: 'pending' })).items, []);
  });
}
