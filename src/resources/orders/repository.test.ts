// Contract: sections 2.6, 2.7 and 3.12.
import { STORES } from '../../../test/storage/stores.ts';
import assert from 'node:assert/strict';
import { DAY } from '../../domain/clock.ts';
import { INT64_MAX, INT64_MIN } from '../../domain/int64.ts';
import { entityTag, toJson } from '../../domain/json.ts';
import { CLIENT, ROOT } from '../../../test/support/store.ts';
import { test } from '../../../test/support/test.ts';
import { readOutcome, requireValue } from '../../../test/storage/fixture.ts';
import { NO_CONTENT, findOrder, orderFixture, refused } from '../../../test/storage/order-fixture.ts';

for (const [name, fresh] of STORES) {
  test(`${name}: an order holds an animal that is available`, async (t) => {
    const { orders, mine, addPet, clock, petState } = await orderFixture(t, fresh);
    const petId = await addPet('available');
    const created = await orders.create(CLIENT, mine, { petId, shipDate: '2027-01-15T10:00:00.5+01:00' });
    const made = requireValue(created);
    const at = Math.floor(clock().unix);
    assert.deepEqual(made, {
      id: made.id,
      petId,
      quantity: 1n,
      shipDate: '2027-01-15T09:00:00.500Z',
      status: 'pending',
      complete: false,
      createdAt: new Date(at).toISOString(),
      expiresAt: new Date(at + 3 * DAY).toISOString(),
    });
    assert.equal(readOutcome(created), 'done');
    assert.equal(await petState(petId), 'pending');
    assert.deepEqual(await orders.get(mine, made.id), { value: made });
    assert.deepEqual((await orders.list({ accountId: mine, limit: 1 })).items, [made]);
  });

  test(`${name}: only an animal that is available can be ordered`, async (t) => {
    const { orders, mine, otherAccount, addPet, order, petState } = await orderFixture(t, fresh);
    for (const status of ['pending', 'sold', undefined] as const) {
      const petId = await addPet(status);
      assert.deepEqual(await orders.create(CLIENT, mine, { petId }), refused('conflict'));
      assert.equal(await petState(petId), status);
    }
    const { petId } = await order(await addPet('available'));
    for (const accountId of [mine, otherAccount])
      assert.deepEqual(await orders.create(CLIENT, accountId, { petId }), refused('conflict'));
    assert.equal((await orders.list({ accountId: undefined, limit: 100 })).items.length, 1);
  });

  test(`${name}: an order of no animal is refused`, async (t) => {
    const { orders, mine, addPet, store } = await orderFixture(t, fresh);
    const gone = await addPet('available');
    await store.pets.delete(CLIENT, gone, undefined);
    for (const petId of [gone, 0n, 99n, INT64_MIN, INT64_MAX])
      assert.deepEqual(await orders.create(CLIENT, mine, { petId }), refused('invalid_request'));
    assert.deepEqual((await orders.list({ accountId: undefined, limit: 1 })).items, []);
  });

  test(`${name}: a complete order sells its animal, and stays complete`, async (t) => {
    const { orders, mine, addPet, order, states } = await orderFixture(t, fresh);
    const made = await order(await addPet('available'));
    const completed = await orders.complete(CLIENT, made.id, { accountId: mine });
    assert.deepEqual(requireValue(completed), { ...made, status: 'complete', complete: true });
    assert.deepEqual(await orders.get(mine, made.id), completed);
    assert.deepEqual(await orders.complete(CLIENT, made.id, { accountId: mine }), refused('conflict'));
    assert.deepEqual(await orders.cancel(CLIENT, made.id, { accountId: mine, ifMatch: undefined }), {
      error: 'conflict',
    });
    assert.deepEqual(await states(made), ['sold', 'complete']);
  });

  test(`${name}: a cancelled order frees its animal, and stays cancelled`, async (t) => {
    const { orders, mine, addPet, order, states } = await orderFixture(t, fresh);
    const made = await order(await addPet('available'));
    assert.deepEqual(
      await orders.cancel(CLIENT, made.id, { accountId: mine, ifMatch: undefined }),
      NO_CONTENT,
    );
    assert.deepEqual(await states(made), ['available', 'cancelled']);
    assert.deepEqual(
      await orders.cancel(CLIENT, made.id, { accountId: mine, ifMatch: undefined }),
      NO_CONTENT,
    );
    assert.deepEqual(await orders.complete(CLIENT, made.id, { accountId: mine }), refused('conflict'));
    assert.deepEqual(await states(made), ['available', 'cancelled']);
  });

  test(`${name}: a closed order never touches a later order of its animal`, async (t) => {
    const { orders, mine, otherAccount, addPet, order, states } = await orderFixture(t, fresh);
    const petId = await addPet('available');
    const first = await order(petId);
    await orders.cancel(CLIENT, first.id, { accountId: mine, ifMatch: undefined });
    const second = await order(petId, otherAccount);
    assert.deepEqual(
      await orders.cancel(CLIENT, first.id, { accountId: mine, ifMatch: undefined }),
      NO_CONTENT,
    );
    assert.deepEqual(await orders.complete(CLIENT, first.id, { accountId: mine }), refused('conflict'));
    assert.deepEqual(await states(second), ['pending', 'pending']);
    assert.equal(readOutcome(await orders.complete(CLIENT, second.id, { accountId: otherAccount })), 'done');
    assert.deepEqual(await states(first), ['sold', 'cancelled']);
  });

  test(`${name}: orders of a deleted animal stay as they are`, async (t) => {
    const { store, orders, mine, addPet, order, orderState } = await orderFixture(t, fresh);
    const [sold, free] = [await order(await addPet('available')), await order(await addPet('available'))];
    await orders.complete(CLIENT, sold.id, { accountId: mine });
    await orders.cancel(CLIENT, free.id, { accountId: mine, ifMatch: undefined });
    for (const { petId } of [sold, free]) await store.pets.delete(CLIENT, petId, undefined);
    for (const { id } of [sold, free])
      assert.deepEqual(await orders.complete(CLIENT, id, { accountId: mine }), refused('conflict'));
    assert.deepEqual(await orders.cancel(CLIENT, sold.id, { accountId: mine, ifMatch: undefined }), {
      error: 'conflict',
    });
    assert.deepEqual(
      await orders.cancel(CLIENT, free.id, { accountId: mine, ifMatch: undefined }),
      NO_CONTENT,
    );
    assert.deepEqual([await orderState(sold.id), await orderState(free.id)], ['complete', 'cancelled']);
  });

  test(`${name}: a cancel with If-Match is refused once the order has changed`, async (t) => {
    const { orders, mine, addPet, order, states } = await orderFixture(t, fresh);
    const made = await order(await addPet('available'));
    const tag = entityTag(toJson(requireValue(await orders.get(mine, made.id))));
    assert.deepEqual(await orders.cancel(CLIENT, made.id, { accountId: mine, ifMatch: ['"other"'] }), {
      error: 'precondition_failed',
    });
    assert.deepEqual(await states(made), ['pending', 'pending']);
    await orders.complete(CLIENT, made.id, { accountId: mine });
    // The precondition is checked before the state.
    assert.deepEqual(await orders.cancel(CLIENT, made.id, { accountId: mine, ifMatch: [tag] }), {
      error: 'precondition_failed',
    });
    assert.deepEqual(await orders.cancel(CLIENT, made.id, { accountId: mine, ifMatch: ['*'] }), {
      error: 'conflict',
    });
    assert.deepEqual(await orders.cancel(CLIENT, 99n, { accountId: mine, ifMatch: ['"other"'] }), {
      error: 'not_found',
    });
    const other = await order(await addPet('available'));
    const current = entityTag(toJson(requireValue(await orders.get(mine, other.id))));
    assert.deepEqual(
      await orders.cancel(CLIENT, other.id, { accountId: mine, ifMatch: ['"other"', current] }),
      NO_CONTENT,
    );
  });

  test(`${name}: an account never sees or changes an order of another`, async (t) => {
    const { orders, mine, otherAccount, addPet, order, states } = await orderFixture(t, fresh);
    const made = await order(await addPet('available'));
    assert.deepEqual(await orders.get(otherAccount, made.id), { error: 'not_found' });
    assert.deepEqual(
      await orders.complete(CLIENT, made.id, { accountId: otherAccount }),
      refused('not_found'),
    );
    assert.deepEqual(await orders.cancel(CLIENT, made.id, { accountId: otherAccount, ifMatch: undefined }), {
      error: 'not_found',
    });
    assert.deepEqual(
      await orders.cancel(CLIENT, made.id, { accountId: otherAccount, ifMatch: ['"other"'] }),
      {
        error: 'not_found',
      },
    );
    const { petId } = made;
    for (const filter of [{}, { petId }, { status: 'pending' }, { petId, status: 'pending' }] as const)
      assert.deepEqual((await orders.list({ accountId: otherAccount, limit: 100, ...filter })).items, []);
    assert.deepEqual(await states(made), ['pending', 'pending']);
    assert.deepEqual(await orders.get(mine, made.id), { value: made });
  });

  test(`${name}: an operator sees and cancels the orders of every account`, async (t) => {
    const { orders, otherAccount, addPet, order, states } = await orderFixture(t, fresh);
    const made = await order(await addPet('available'), otherAccount);
    assert.deepEqual(await findOrder(orders, made.id), made);
    assert.deepEqual(await orders.cancel(ROOT, made.id), NO_CONTENT);
    assert.deepEqual(await orders.cancel(ROOT, 99n), { error: 'not_found' });
    assert.deepEqual(await states(made), ['available', 'cancelled']);
  });

  test(`${name}: of many orders for one animal at once, one is made`, async (t) => {
    const { store, another, mine, addPet, petState } = await orderFixture(t, fresh);
    const petId = await addPet('available');
    const other = await another();
    const outcomes = await Promise.all(
      Array.from({ length: 40 }, (_, i) =>
        (i % 2 === 0 ? store : other).orders.create(CLIENT, mine, { petId }),
      ),
    );
    assert.equal(outcomes.filter((outcome) => readOutcome(outcome) === 'done').length, 1);
    assert.equal(outcomes.filter((outcome) => readOutcome(outcome) === 'conflict').length, 39);
    assert.equal(await petState(petId), 'pending');
  });

  test(`${name}: ids of orders ascend, and are not used again after a restart`, async (t) => {
    const { orders, mine, addPet, order, reopen } = await orderFixture(t, fresh);
    const petId = await addPet('available');
    const first = await order(petId);
    await orders.cancel(CLIENT, first.id, { accountId: mine, ifMatch: undefined });
    const second = requireValue(await (await reopen()).orders.create(CLIENT, mine, { petId }));
    assert.ok(first.id > 0n && second.id > first.id);
  });
}
