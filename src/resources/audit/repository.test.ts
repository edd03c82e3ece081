// Contract: section 10.
import { STORES } from '../../../test/storage/stores.ts';
import assert from 'node:assert/strict';
import type { OperatorActor } from '../../domain/audit.ts';
import { newKey, newApiKey, requireValue } from '../../../test/storage/fixture.ts';
import { test } from '../../../test/support/test.ts';

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
}
