// Contract: sections 10 and 13.
import assert from 'node:assert/strict';
import { type Actor, actorFromText, SERVICE, textFromActor } from '../../domain/audit.ts';
import { DAY } from '../../domain/clock.ts';
import { readPatch } from '../../domain/patch.ts';
import { sql } from '../../storage/sql.ts';
import { newKey, patch, REX, requireValue } from '../../../test/storage/fixture.ts';
import { orderFixture } from '../../../test/storage/order-fixture.ts';
import { STORES } from '../../../test/storage/stores.ts';
import { CLIENT, ROOT } from '../../../test/support/store.ts';
import { test } from '../../../test/support/test.ts';
import { SCOPES } from '../../domain/scope.ts';
import { CategoryPatch } from '../categories/schema.ts';
import type { Store } from '../repositories.ts';
import type { NewWebhookRow } from '../webhooks/repository.ts';
import { EVENT_TYPE_NAMES } from './rules.ts';

const ADA: Actor = { kind: 'operator', name: 'ada: of 198.51.100.7', address: '198.51.100.7' };
const OTHER: Actor = { kind: 'key', id: 2, address: '198.51.100.8' };

/** The types of all events, each with who did it, in the order of the feed. */
async function readActors({ events }: Pick<Store, 'events'>): Promise<string[]> {
  await events.place();
  const found = await events.listAll({ types: EVENT_TYPE_NAMES, after: 0n, limit: 100 });
  return found.map(({ type, actor }) => `${type} ${actor}`);
}

async function* toStream<T>(items: readonly T[]) {
  yield* items;
}

for (const [name, fresh] of STORES) {
  test(`${name}: an event of each type says who did it`, async (t) => {
    const { store, mine, passTime, clock } = await orderFixture(t, fresh);
    const { pets, categories, orders, accounts, keys, bans, webhooks } = store;

    const [first, second] = [
      requireValue(await pets.create(CLIENT, REX)),
      requireValue(await pets.create(ADA, REX)),
    ];
    for (const { id } of [first, second]) await pets.update(OTHER, id, patch({ status: 'available' }));
    await pets.addAll(toStream([REX]), { actor: ROOT, atomic: false });
    await pets.addAll(toStream([REX]), { actor: ADA, atomic: true });
    const dogs = requireValue(await categories.create(ADA, { name: 'Dogs' }));
    await categories.update(OTHER, dogs.id, readPatch(CategoryPatch, { name: 'Hounds' }));
    await categories.delete(ROOT, dogs.id);
    assert.deepEqual(await readActors(store), [
      'pet.created key:1',
      'pet.created operator:ada: of 198.51.100.7',
      'pet.updated key:2',
      'pet.updated key:2',
      'pet.created system:root',
      'pet.created operator:ada: of 198.51.100.7',
      'category.created operator:ada: of 198.51.100.7',
      'category.updated key:2',
      'category.deleted system:root',
    ]);

    const order = async () => requireValue(await orders.create(OTHER, mine, { petId: first.id }));
    await orders.cancel(ADA, (await order()).id);
    await order();
    await passTime(3 * DAY);
    // The hold is settled by whoever looks at the animal next.
    await pets.update(CLIENT, first.id, patch({ name: 'Rexi' }));
    await order();
    await passTime(3 * DAY);
    while (await orders.expireDue());
    await orders.complete(CLIENT, (await order()).id, { accountId: mine });
    await pets.delete(ROOT, second.id);
    assert.deepEqual((await readActors(store)).slice(9), [
      'order.created key:2',
      'pet.updated key:2',
      'order.cancelled operator:ada: of 198.51.100.7',
      'pet.updated operator:ada: of 198.51.100.7',
      'order.created key:2',
      'pet.updated key:2',
      'order.expired system:service',
      'pet.updated system:service',
      'pet.updated key:1',
      'order.created key:2',
      'pet.updated key:2',
      'order.expired system:service',
      'pet.updated system:service',
      'order.created key:2',
      'pet.updated key:2',
      'order.completed key:1',
      'pet.updated key:1',
      'pet.deleted system:root',
    ]);
    const catalogue = (await readActors(store)).length;

    const use = { accountId: mine, day: 20_000, limit: 1_000, used: 1_000 };
    await accounts.recordLimits([{ ...use, type: 'limit.warning' }]);
    await accounts.recordLimits([{ ...use, type: 'limit.reached' }]);
    const now = Math.floor(clock().unix);
    const { id } = requireValue(await keys.create(ADA, newKey(mine, { expiresAt: now + DAY })));
    await keys.recordExpiring();
    await bans.record([{ keyId: id, until: now + DAY, count: 1 }]);
    const { key } = newKey(mine);
    requireValue(await keys.rotate(ROOT, { id, key, grace: 0 }));
    requireValue(
      await keys.revoke(
        ADA,
        requireValue(await keys.rotate(ADA, { id: id + 1, key: newKey(mine).key, grace: 0 })).id,
      ),
    );
    const webhook: NewWebhookRow = {
      accountId: mine,
      environment: 'production',
      url: 'https://shop.example/',
      types: ['*'],
      scopes: SCOPES,
      secret: 'whsec_',
      createdBy: id,
    };
    await webhooks.switch(ADA, requireValue(await webhooks.create(ROOT, webhook)).id, false);
    await webhooks.create(ROOT, webhook);
    await store.events.beginFeed('0123456789ab');
    assert.deepEqual((await readActors(store)).slice(catalogue), [
      'limit.warning system:service',
      'limit.reached system:service',
      'key.created operator:ada: of 198.51.100.7',
      'key.expiring system:service',
      'key.banned system:service',
      'key.created system:root',
      'key.rotated system:root',
      'key.created operator:ada: of 198.51.100.7',
      'key.rotated operator:ada: of 198.51.100.7',
      'key.revoked operator:ada: of 198.51.100.7',
      'webhook.disabled operator:ada: of 198.51.100.7',
      'webhook.disabled system:service',
    ]);
    const told = new Set((await readActors(store)).map((event) => event.split(' ')[0]));
    assert.deepEqual(
      EVENT_TYPE_NAMES.filter((type) => !told.has(type)),
      [],
    );
  });

  test(`${name}: an event that an instance of the version before wrote is there without an actor`, async (t) => {
    const { store } = await fresh(t);
    await store.pets.create(CLIENT, REX);
    await store.events.place();
    await store.database.fill((filling) => filling.run(sql`UPDATE events SET actor = NULL`));
    assert.deepEqual(await readActors(store), ['pet.created undefined']);
  });
}

test('an actor is read from its text, and one of a later version is unknown', () => {
  const { address: _, ...ada } = ADA;
  assert.deepEqual(actorFromText(textFromActor(ADA)), ada);
  assert.deepEqual(actorFromText(textFromActor(CLIENT)), CLIENT);
  assert.deepEqual(actorFromText(textFromActor(SERVICE)), SERVICE);
  const twoLines: Actor = { kind: 'system', name: 'a\nb' };
  assert.deepEqual(actorFromText(textFromActor(twoLines)), twoLines);
  for (const text of ['robot:7', 'keys:7', 'Key:7', 'key', '', undefined])
    assert.equal(actorFromText(text), undefined);
});
