// Contract: section 6.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PLANS } from '../../src/domain/plan.ts';
import { callerName, limitsUnavailable, NO_STORE, planName } from '../../src/limits/limiter.ts';

test('all keys of an account share its windows; its holder and each address have their own', () => {
  const limits = PLANS.free;
  assert.deepEqual(
    [
      callerName({ kind: 'key', keyId: 3, accountId: 7, limits }),
      callerName({ kind: 'account', accountId: 7, limits }),
      planName(7),
      callerName({ kind: 'holder', accountId: 7, limits }),
      callerName({ kind: 'address', address: '192.0.2.1', limits }),
    ],
    ['account 7', 'account 7', 'account 7', 'holder 7', 'address 192.0.2.1'],
  );
});

test('a limiter without a store begins with nothing', async () => {
  assert.equal(await NO_STORE.readCounts('account 7'), undefined);
  assert.deepEqual(await NO_STORE.readBanRecords(), new Map());
  assert.deepEqual(await NO_STORE.readLifted(), []);
});

test('an operator hears that the limits cannot be read, and the log why', () => {
  const { code, message, cause } = limitsUnavailable('lost');
  assert.deepEqual(
    [code, message, cause],
    ['unavailable', 'The counters cannot be read now; try again later.', 'lost'],
  );
});
