// Contract: section 10.2.
import assert from 'node:assert/strict';
import { REX } from '../../../test/storage/fixture.ts';
import { STORES } from '../../../test/storage/stores.ts';
import { CLIENT, createAccount } from '../../../test/support/store.ts';
import { test } from '../../../test/support/test.ts';
import { HOUR } from '../../domain/clock.ts';
import { PLANS } from '../../domain/plan.ts';

for (const [name, fresh] of STORES)
  test(`${name}: orders that expire within a time are counted while they are open`, async (t) => {
    const { store } = await fresh(t);
    const { pets, orders, accounts } = store;
    await createAccount(accounts, 'shop', 'free', PLANS.free);
    for (const petId of [1n, 2n]) {
      await pets.create(CLIENT, { ...REX, status: 'available' });
      await orders.create(CLIENT, 1, { petId });
    }
    await orders.cancel(CLIENT, 2n);
    // An order holds for 72 hours.
    assert.deepEqual([await orders.countEnding(71 * HOUR), await orders.countEnding(73 * HOUR)], [0, 1]);
  });
