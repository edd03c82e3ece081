// Contract: section 10.2.
import assert from 'node:assert/strict';
import { orderFixture } from '../../../test/storage/order-fixture.ts';
import { STORES } from '../../../test/storage/stores.ts';
import { CLIENT, ROOT } from '../../../test/support/store.ts';
import { test } from '../../../test/support/test.ts';
import { DAY, HOUR } from '../../domain/clock.ts';
import { animalsReader } from './animals.ts';

for (const [name, fresh] of STORES) {
  test(`${name}: orders that expire within a time are counted while they are open`, async (t) => {
    const { orders, addPet, order } = await orderFixture(t, fresh);
    await order(await addPet('available'));
    await orders.cancel(CLIENT, (await order(await addPet('available'))).id);
    // An order holds for 72 hours.
    assert.deepEqual([await orders.countEnding(71 * HOUR), await orders.countEnding(73 * HOUR)], [0, 1]);
  });

  test(`${name}: an animal counts as adopted for seven days after its order was completed, by whomever`, async (t) => {
    const { store, clock, orders, mine, addPet, order, passTime, orderState } = await orderFixture(t, fresh);
    const make = async () => (await order(await addPet('available'))).id;
    // Another reader, because one keeps its counts for some time.
    const count = () => animalsReader({ ...store, clock })();
    const [first, expired] = [await make(), await make()];
    await passTime(DAY);
    await orders.complete(CLIENT, first, { accountId: mine });
    await passTime(7 * DAY - 1);
    assert.equal((await count()).adopted, 1);
    await passTime(1);
    assert.equal((await count()).adopted, 0);
    await orders.expireDue();
    await orders.complete(CLIENT, await make(), { accountId: mine });
    await orders.complete(ROOT, await make());
    await orders.cancel(CLIENT, await make(), { accountId: mine });
    await make();
    await passTime(2 * DAY);
    assert.equal(await orderState(expired), 'expired');
    assert.deepEqual(await count(), { available: 2, held: 1, ending: 1, adopted: 2 });
  });
}
