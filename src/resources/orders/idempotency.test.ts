// Contract: section 3.4.
import { STORES } from '../../../test/storage/stores.ts';
import { CLIENT } from '../../../test/support/store.ts';
import assert from 'node:assert/strict';
import { DAY } from '../../domain/clock.ts';
import { readOutcome, replayed, requireValue } from '../../../test/storage/fixture.ts';
import { orderFixture, refused } from '../../../test/storage/order-fixture.ts';
import { test } from '../../../test/support/test.ts';

const OTHER = 'b'.repeat(64);

for (const [name, fresh] of STORES) {
  test(`${name}: a repeated order gets its first answer, whatever has happened since`, async (t) => {
    const { orders, mine, once, addPet, passTime, states } = await orderFixture(t, fresh);
    const petId = await addPet('available');
    const first = await orders.create(CLIENT, mine, { petId }, once);
    const made = requireValue(first);
    const repeat = replayed(once, first);
    assert.deepEqual(await orders.create(CLIENT, mine, { petId }, once), repeat);
    await orders.cancel(CLIENT, made.id, { accountId: mine, ifMatch: undefined });
    assert.deepEqual(await orders.create(CLIENT, mine, { petId }, once), repeat);
    assert.deepEqual(await states(made), ['available', 'cancelled']);
    await passTime(DAY - 1);
    assert.deepEqual(await orders.create(CLIENT, mine, { petId }, once), repeat);
    await passTime(1);
    assert.equal(readOutcome(await orders.create(CLIENT, mine, { petId }, once)), 'done');
  });

  test(`${name}: a repeated completion gets its first answer`, async (t) => {
    const { store, orders, mine, once, addPet, order } = await orderFixture(t, fresh);
    const { id, petId } = await order(await addPet('available'));
    const first = await orders.complete(CLIENT, id, { accountId: mine }, once);
    assert.equal(readOutcome(first), 'done');
    await store.pets.delete(CLIENT, petId, undefined);
    assert.deepEqual(await orders.complete(CLIENT, id, { accountId: mine }, once), replayed(once, first));
    assert.deepEqual(await orders.complete(CLIENT, id, { accountId: mine }), refused('conflict'));
  });

  test(`${name}: the key of an order with another body does nothing`, async (t) => {
    const { orders, mine, once, addPet, petState } = await orderFixture(t, fresh);
    const [first, second] = [await addPet('available'), await addPet('available')];
    await orders.create(CLIENT, mine, { petId: first }, once);
    const other = await orders.create(CLIENT, mine, { petId: second }, { ...once, fingerprint: OTHER });
    assert.deepEqual(other, { error: 'idempotency_key_reused' });
    assert.equal(await petState(second), 'available');
  });

  test(`${name}: a refusal is not recorded, so the same key may try again`, async (t) => {
    const { orders, mine, once, addPet, order } = await orderFixture(t, fresh);
    const { id, petId } = await order(await addPet('available'));
    const again = () => orders.create(CLIENT, mine, { petId }, once);
    assert.deepEqual(await again(), refused('conflict'));
    assert.deepEqual(await again(), refused('conflict'));
    assert.deepEqual(await orders.create(CLIENT, mine, { petId: 99n }, once), refused('invalid_request'));
    await orders.cancel(CLIENT, id, { accountId: mine, ifMatch: undefined });
    // Also with another body: the key was never used.
    const first = await orders.create(CLIENT, mine, { petId }, { ...once, fingerprint: OTHER });
    assert.equal(readOutcome(first), 'done');
    assert.deepEqual(await again(), { error: 'idempotency_key_reused' });
    const { id: second } = requireValue(first);
    const complete = { ...once, key: 'sha256 order-2' } as const;
    assert.deepEqual(await orders.complete(CLIENT, 99n, { accountId: mine }, complete), refused('not_found'));
    assert.equal(readOutcome(await orders.complete(CLIENT, second, { accountId: mine }, complete)), 'done');
  });

  test(`${name}: a refusal under a key whose record has expired removes the record`, async (t) => {
    const { orders, mine, once, addPet, passTime } = await orderFixture(t, fresh);
    const petId = await addPet('available');
    const { id } = requireValue(await orders.create(CLIENT, mine, { petId }, once));
    await passTime(DAY);
    assert.deepEqual(await orders.create(CLIENT, mine, { petId }, once), refused('conflict'));
    await orders.cancel(CLIENT, id, { accountId: mine, ifMatch: undefined });
    assert.equal(readOutcome(await orders.create(CLIENT, mine, { petId }, once)), 'done');
  });

  test(`${name}: a refusal that expires an order keeps that change`, async (t) => {
    const { orders, mine, once, addPet, order, passTime, states } = await orderFixture(t, fresh);
    const made = await order(await addPet('available'));
    await passTime(3 * DAY);
    assert.deepEqual(await orders.complete(CLIENT, made.id, { accountId: mine }, once), refused('conflict'));
    assert.deepEqual(await states(made), ['available', 'expired']);
    assert.deepEqual(await orders.complete(CLIENT, made.id, { accountId: mine }, once), refused('conflict'));
  });

  test(`${name}: many requests with one key at once make one order`, async (t) => {
    const { store, another, mine, once, addPet } = await orderFixture(t, fresh);
    const other = await another();
    const petId = await addPet('available');
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        (i % 2 === 0 ? store : other).orders.create(CLIENT, mine, { petId }, once),
      ),
    );
    assert.equal(outcomes.filter((outcome) => readOutcome(outcome) === 'done').length, 1);
    assert.equal(new Set(outcomes.map((outcome) => requireValue(outcome).id)).size, 1);
  });

  test(`${name}: requests with one key at once are all refused, and the key stays free`, async (t) => {
    const { store, another, mine, once, addPet, order } = await orderFixture(t, fresh);
    const other = await another();
    const { id, petId } = await order(await addPet('available'));
    const send = (index: number, fingerprint: string) =>
      (index % 2 === 0 ? store : other).orders.create(CLIENT, mine, { petId }, { ...once, fingerprint });
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, (_, i) => send(i, i % 3 === 0 ? OTHER : once.fingerprint)),
    );
    assert.deepEqual(
      outcomes,
      outcomes.map(() => refused('conflict')),
    );
    await store.orders.cancel(CLIENT, id, { accountId: mine, ifMatch: undefined });
    assert.equal(readOutcome(await send(1, OTHER)), 'done');
  });
}
