// Contract: section 10.
import { STORES } from '../../../test/storage/stores.ts';
import assert from 'node:assert/strict';
import type { Actor, OperatorActor } from '../../domain/audit.ts';
import { newKey, newApiKey, requireValue } from '../../../test/storage/fixture.ts';
import { DAY } from '../../domain/clock.ts';
import { ROOT } from '../../../test/support/store.ts';
import { test } from '../../../test/support/test.ts';

const KEY: Actor = { kind: 'key', id: 1 };
const CHANGE = { action: 'webhooks update', target: { kind: 'webhook', name: '1' }, accountId: 1 };

const BOB: OperatorActor = { kind: 'operator', name: 'Bob', address: '::1' };

for (const [name, fresh] of STORES) {
  test(`${name}: each change of an account or a key has one entry with its actor`, async (t) => {
    const { store, clock } = await fresh(t);
    const { accounts, keys } = store;
    const { id } = requireValue(await accounts.create(BOB, 'shop', 'free'));
    await accounts.change(BOB, id, { plan: 'pro' });
    await accounts.change(BOB, id, { name: 'store', suspended: true });
    await accounts.change(BOB, id, { suspended: false });
    const issued = newKey(id);
    const key = requireValue(await keys.create(BOB, issued));
    const rotated = await keys.rotate(BOB, { id: key.id, key: newApiKey(), grace: 5 });
    const next = requireValue(rotated);
    await keys.revoke(BOB, next.id);
    // None of these changes anything.
    await accounts.change(BOB, id, { plan: 'pro' });
    await accounts.change(BOB, id, { name: 'store' });
    await accounts.change(BOB, id, { suspended: false });
    await keys.revoke(BOB, next.id);
    const entries = (await store.audit.list({ limit: 100, accountId: id })).items.toReversed();
    assert.deepEqual(
      entries.map(({ action, target }) => `${action}: ${target.name}`),
      [
        'accounts create: shop',
        'accounts set: shop',
        'accounts rename: shop',
        'accounts suspend: store',
        'accounts resume: store',
        `keys create: ${key.id}`,
        `keys rotate: ${key.id}`,
        `keys revoke: ${next.id}`,
      ],
    );
    for (const { actor } of entries) assert.deepEqual(actor, BOB);
    assert.deepEqual(entries[1]?.before, { plan: 'free' });
    assert.deepEqual(entries[1]?.after, { plan: 'pro' });
    const expiresAt = new Date(Math.floor(clock().unix) + 5).toISOString();
    assert.deepEqual(entries[6]?.after, { expiresAt, rotatedTo: next.id });
    assert.equal(JSON.stringify(entries).includes(issued.key.hash().hex), false);
  });

  test(`${name}: what keys wrote goes when it is old, and everything else stays`, async (t) => {
    const { store, passTime } = await fresh(t);
    const { audit } = store;
    // More than one round deletes.
    for (let entries = 0; entries < 501; entries++) await audit.add(KEY, CHANGE);
    await audit.add(BOB, CHANGE);
    await audit.add(ROOT, CHANGE);
    await passTime(DAY);
    await audit.add(KEY, { ...CHANGE, action: 'young' });
    const kinds = async () => (await audit.list({ limit: 1_000 })).items.map(({ actor }) => actor.kind);
    await audit.prune(2 * DAY);
    assert.equal((await kinds()).length, 504);
    await passTime(DAY + 1);
    await audit.prune(2 * DAY);
    assert.deepEqual(await kinds(), ['key', 'system', 'operator']);
    await passTime(DAY);
    await audit.prune(2 * DAY);
    assert.deepEqual(await kinds(), ['system', 'operator']);
  });

  test(`${name}: a reader of the log goes on where its last entry was deleted`, async (t) => {
    const { store, passTime } = await fresh(t);
    const { audit } = store;
    for (const actor of [BOB, KEY, KEY, BOB, KEY, KEY, BOB]) await audit.add(actor, CHANGE);
    const first = await audit.list({ limit: 2 });
    assert.deepEqual(
      first.items.map(({ id }) => id),
      [7, 6],
    );
    await passTime(DAY + 1);
    await audit.prune(DAY);
    for (const query of [{}, { accountId: 1 }, { actor: 'bob' }]) {
      const rest = await audit.list({ limit: 2, cursor: first.next, ...query });
      assert.deepEqual(
        rest.items.map(({ id }) => id),
        [4, 1],
      );
    }
    assert.deepEqual((await audit.list({ limit: 2, cursor: 1n })).items, []);
  });
}
