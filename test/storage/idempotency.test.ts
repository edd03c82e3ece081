// Contract: section 3.
import { STORES } from './stores.ts';
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { DAY, MINUTE } from '../../src/domain/clock.ts';
import type { Idempotency } from '../../src/domain/idempotency.ts';
import { PLANS } from '../../src/domain/plan.ts';
import type { Store } from '../../src/resources/repositories.ts';
import { patch, requireValue, REX, walk, readOutcome, replayed } from './fixture.ts';
import { test } from '../support/test.ts';
import { CLIENT, createAccount, ROOT } from '../support/store.ts';

for (const [name, fresh] of STORES) {
  /** A fixture with two accounts, and the first one's idempotency key. */
  const prepare = async (t: TestContext) => {
    const fixture = await fresh(t);
    const { accounts, pets } = fixture.store;
    const mine = await createAccount(accounts, 'mine', 'free', PLANS.free);
    const otherAccount = await createAccount(accounts, 'theirs', 'free', PLANS.free);
    const once: Idempotency = {
      accountId: mine.id,
      key: 'sha256 order-1',
      fingerprint: 'a'.repeat(64),
      status: 201,
      location: '/pets/{id}',
    };
    return {
      ...fixture,
      pets,
      once,
      otherAccount,
      count: async () => (await walk(pets, { limit: 100 })).length,
    };
  };

  test(`${name}: the same idempotency key and body replay the first animal`, async (t) => {
    const { pets, once, count } = await prepare(t);
    const first = await pets.create(CLIENT, { ...REX, status: 'sold' }, once);
    assert.equal(readOutcome(first), 'done');
    const second = await pets.create(CLIENT, { ...REX, status: 'sold' }, once);
    assert.deepEqual(second, replayed(once, first));
    assert.equal(await count(), 1);
  });

  test(`${name}: a replay is the first answer, whatever became of the animal`, async (t) => {
    const { store, pets, once, count } = await prepare(t);
    const first = await pets.create(CLIENT, { ...REX, status: 'sold' }, once);
    const { id } = requireValue(first);
    const json = `{"id":${id},"name":"Rex","categoryId":7,"status":"sold"}`;
    const replay = { replay: { status: 201, location: `/pets/${id}`, json } };
    await store.pets.update(CLIENT, id, patch({ name: 'Max' }), undefined);
    assert.deepEqual(await pets.create(CLIENT, { ...REX, status: 'sold' }, once), replay);
    await store.pets.delete(CLIENT, id, undefined);
    assert.deepEqual(await pets.create(CLIENT, { ...REX, status: 'sold' }, once), replay);
    assert.equal(await count(), 0);
  });

  test(`${name}: the same idempotency key with another body creates nothing`, async (t) => {
    const { pets, once, count } = await prepare(t);
    await pets.create(CLIENT, REX, once);
    assert.deepEqual(await pets.create(CLIENT, REX, { ...once, fingerprint: 'b'.repeat(64) }), {
      error: 'idempotency_key_reused',
    });
    assert.equal(await count(), 1);
  });

  test(`${name}: another idempotency key creates another animal`, async (t) => {
    const { pets, once, count } = await prepare(t);
    await pets.create(CLIENT, REX, once);
    assert.equal(readOutcome(await pets.create(CLIENT, REX, { ...once, key: 'sha256 ORDER-1' })), 'done');
    assert.equal(await count(), 2);
  });

  test(`${name}: an idempotency key belongs to its account`, async (t) => {
    const { pets, once, otherAccount, count } = await prepare(t);
    await pets.create(CLIENT, REX, once);
    const other = await pets.create(CLIENT, REX, { ...once, accountId: otherAccount.id });
    assert.equal(readOutcome(other), 'done');
    assert.equal(await count(), 2);
  });

  test(`${name}: accounts that use one idempotency key at once get an animal each`, async (t) => {
    const { pets, once, otherAccount, count } = await prepare(t);
    const both = [once, { ...once, accountId: otherAccount.id }];
    const creations = await Promise.all(both.map((idempotency) => pets.create(CLIENT, REX, idempotency)));
    assert.deepEqual(creations.map(readOutcome), ['done', 'done']);
    assert.equal(await count(), 2);
  });

  test(`${name}: an idempotency key is kept for 24 hours, also over a restart`, async (t) => {
    const { pets, once, passTime, reopen } = await prepare(t);
    const first = await pets.create(CLIENT, REX, once);
    await passTime(DAY - 1);
    const again = await reopen();
    await again.dropExpired();
    assert.deepEqual(await again.pets.create(CLIENT, REX, once), replayed(once, first));
    await passTime(1);
    const later = await again.pets.create(CLIENT, REX, { ...once, fingerprint: 'b'.repeat(64) });
    assert.equal(readOutcome(later), 'done');
    assert.notEqual(requireValue(later).id, requireValue(first).id);
    await passTime(DAY - 1);
    assert.deepEqual(readOutcome(await again.pets.create(CLIENT, REX, once)), 'idempotency_key_reused');
  });

  test(`${name}: simultaneous requests with one idempotency key make one animal`, async (t) => {
    const { store, another, once, count } = await prepare(t);
    const other = await another();
    const creations = await Promise.all(
      Array.from({ length: 20 }, (_, i) => (i % 2 === 0 ? store : other).pets.create(CLIENT, REX, once)),
    );
    assert.equal(creations.filter((outcome) => readOutcome(outcome) === 'done').length, 1);
    assert.equal(creations.filter((outcome) => readOutcome(outcome) === 'replayed').length, 19);
    assert.equal(new Set(creations.map((creation) => requireValue(creation).id)).size, 1);
    assert.equal(await count(), 1);
  });

  test(`${name}: of two bodies with one idempotency key at once, one is created`, async (t) => {
    const { pets, once, count } = await prepare(t);
    const outcomes = await Promise.all([
      pets.create(CLIENT, REX, once),
      pets.create(CLIENT, REX, { ...once, fingerprint: 'b'.repeat(64) }),
      pets.create(CLIENT, REX),
    ]);
    assert.deepEqual(outcomes.map(readOutcome), ['done', 'idempotency_key_reused', 'done']);
    assert.equal(await count(), 2);
  });

  test(`${name}: work that is more than a write is done once, over all instances`, async (t) => {
    const { store, another, once, count } = await prepare(t);
    const other = await another();
    const begun = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    let times = 0;
    const work = async (by: Store, claimed: Idempotency) => {
      times++;
      begun.resolve();
      await goOn.promise;
      return by.pets.create(CLIENT, REX, claimed);
    };
    const doOnce = (by: Store, idempotency = once) =>
      by.webhooks.doOnce(ROOT, idempotency, (claimed) => work(by, claimed));
    const first = doOnce(store);
    await begun.promise;
    assert.equal(readOutcome(await doOnce(other)), 'conflict');
    assert.equal(readOutcome(await doOnce(other, { ...once, fingerprint: 'b'.repeat(64) })), 'conflict');
    goOn.resolve();
    const done = await first;
    assert.equal(readOutcome(done), 'done');
    for (const by of [store, other]) assert.deepEqual(await doOnce(by), replayed(once, done));
    const reused = await doOnce(other, { ...once, fingerprint: 'b'.repeat(64) });
    assert.equal(readOutcome(reused), 'idempotency_key_reused');
    assert.deepEqual([times, await count()], [1, 1]);
  });

  test(`${name}: a key is free again when its work is refused or fails, and a minute after its process ended`, async (t) => {
    const { store, another, once, passTime } = await prepare(t);
    const { doOnce } = store.webhooks;
    const refused = await doOnce(ROOT, once, async () => ({ error: 'not_found' }) as const);
    assert.deepEqual(refused, { error: 'not_found' });
    await assert.rejects(
      doOnce(ROOT, once, () => Promise.reject(new Error('broken'))),
      /broken/,
    );
    const begun = Promise.withResolvers<void>();
    // It never ends.
    void doOnce(ROOT, once, () => {
      begun.resolve();
      return new Promise<never>(() => undefined);
    });
    await begun.promise;
    const { pets } = await another();
    assert.equal(readOutcome(await pets.create(CLIENT, REX, once)), 'conflict');
    await passTime(MINUTE - 1);
    assert.equal(readOutcome(await pets.create(CLIENT, REX, once)), 'conflict');
    await passTime(1);
    assert.equal(readOutcome(await pets.create(CLIENT, REX, once)), 'done');
  });
}
