// Contract: section 6.9.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { DAY, HOUR } from '../../domain/clock.ts';
import { PLANS } from '../../domain/plan.ts';

import { countDeprecatedAccounts, listDeprecatedUses } from './uses.ts';
import { DEPRECATED_OPERATIONS } from '../operations.ts';
import { usageRange } from '../usage/rules.ts';
import { newKey, requireValue } from '../../../test/storage/fixture.ts';
import { openStore, addKey, createAccount } from '../../../test/support/store.ts';
import { temporaryFolder } from '../../../test/support/temporary.ts';

const NOW = Date.parse('2026-11-23T16:20:00Z');
const FIRST_DAY = Date.parse('2026-10-25T00:00:00Z');

test('callers of deprecated operations are those of the 30 UTC days that usage shows', async (t) => {
  const store = openStore(`sqlite:${join(temporaryFolder(t), 'petstore.db')}`, () => ({
    unix: NOW,
    monotonic: 0,
  }));
  t.after(() => store.close());
  const { accounts, keys, usageHistory } = store;
  const [shop, former] = await Promise.all(
    ['shop', 'former'].map(async (name) => {
      const { id } = await createAccount(accounts, name, 'free', PLANS.free);
      return addKey(keys, newKey(id));
    }),
  );
  assert.ok(shop && former);
  const count = (keyId: number, at: number) => ({
    hour: Math.floor(at / HOUR),
    keyId,
    operation: 'getPet',
    counts: [1, 0, 0, 0] as const,
  });
  const counts = [
    count(shop.id, FIRST_DAY - HOUR),
    count(shop.id, FIRST_DAY),
    count(shop.id, NOW),
    count(former.id, FIRST_DAY - DAY),
    count(former.id, FIRST_DAY - 1),
  ];
  await usageHistory.add({ writer: 'test', sequence: 1, counts });
  const uses = await listDeprecatedUses(usageHistory, DEPRECATED_OPERATIONS, NOW);
  assert.deepEqual(
    uses.map(({ account, requests }) => ({ account, requests })),
    [{ account: 'shop', requests: 2 }],
  );
  assert.deepEqual(
    await countDeprecatedAccounts(usageHistory, DEPRECATED_OPERATIONS, NOW),
    new Map([['getPet', 1]]),
  );
  const [sums] = await usageHistory.sums({ ...requireValue(usageRange({}, NOW)), by: 'key' });
  assert.equal(sums?.ok, 2);
});
