// Contract: sections 5 and 6.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import {
  checkKey,
  chooseLimits,
  isInForce,
  type KeyRecord,
  keyState,
  LABEL,
} from '../../src/domain/account.ts';
import { DEFAULT_SCOPES, lacksScope, refuseScopeAlone, SCOPES } from '../../src/domain/scope.ts';
import { HOLDER_LIMITS, PAGE_LIMITS, PLAN_NAMES, PLANS } from '../../src/domain/plan.ts';
import { rotatedExpiry } from '../../src/resources/keys/rules.ts';

const refusalOf = (...[plan, custom]: Parameters<typeof chooseLimits>) => {
  const limits = chooseLimits(plan, custom);
  assert.ok('error' in limits && limits.error === 'invalid_request');
  return limits.message ?? '';
};

test('the plans have the limits of the table', () => {
  assert.deepEqual(PLANS, {
    free: { perMinute: 60, perDay: 1_000 },
    pro: { perMinute: 300, perDay: 10_000 },
    business: { perMinute: 1_000, perDay: 100_000 },
    enterprise: 'custom',
  });
  assert.deepEqual(HOLDER_LIMITS, { perMinute: 60, perDay: 5_000 });
  assert.deepEqual(PAGE_LIMITS, { perMinute: 120, perDay: 10_000 });
});

for (const plan of PLAN_NAMES) {
  if (plan === 'enterprise') continue;
  test(`the limits of plan ${plan} are fixed, and other numbers are refused`, () => {
    assert.deepEqual(chooseLimits(plan, {}), { value: PLANS[plan] });
    for (const custom of [{ perMinute: 1 }, { perDay: 1 }, { perMinute: 1, perDay: 1 }])
      assert.match(refusalOf(plan, custom), /fixed limits/);
  });
}

test('an enterprise account needs both of its own limits', () => {
  const own = { perMinute: 5_000, perDay: 1_000_000 };
  assert.deepEqual(chooseLimits('enterprise', own), { value: own });
  // The console shows this message too, so it names no option of a command.
  for (const custom of [{}, { perMinute: 1 }, { perDay: 1 }])
    assert.match(
      refusalOf('enterprise', custom),
      /needs numbers of its own: requests per minute and requests per day/,
    );
});

test('a key has the scopes of animals and orders by default, and can manage keys', () => {
  assert.deepEqual(DEFAULT_SCOPES, ['pets:read', 'pets:write', 'store:read', 'store:write', 'events:read']);
  const others = SCOPES.filter((scope) => !DEFAULT_SCOPES.includes(scope));
  assert.deepEqual(others, ['pets:manage', 'keys:manage', 'webhooks:manage']);
});

test('a key works until the instant it expires or is revoked', () => {
  const none = { expiresAt: undefined, revokedAt: undefined, rotatedTo: undefined };
  assert.equal(keyState(none, 1_000), 'active');
  assert.equal(keyState({ ...none, expiresAt: 1_001 }, 1_000), 'active');
  assert.equal(keyState({ ...none, expiresAt: 1_000 }, 1_000), 'expired');
  assert.equal(keyState({ ...none, revokedAt: 1_001 }, 1_000), 'revoked', 'by a clock that is ahead');
  assert.equal(keyState({ ...none, revokedAt: 1_000 }, 1_000), 'revoked');
  assert.equal(keyState({ ...none, expiresAt: 1, revokedAt: 2 }, 1_000), 'revoked');
});

test('a key that was rotated is called so until it ends', () => {
  const rotated = { expiresAt: 1_001, revokedAt: undefined, rotatedTo: 13 };
  assert.equal(keyState(rotated, 1_000), 'rotated');
  assert.equal(keyState(rotated, 1_001), 'expired');
  assert.equal(keyState({ ...rotated, revokedAt: 1 }, 1_000), 'revoked');
});

test('a rotated key works for the grace time, never past its own expiry', () => {
  assert.equal(rotatedExpiry({ expiresAt: undefined }, 1_000, 500), 1_500);
  assert.equal(rotatedExpiry({ expiresAt: 1_200 }, 1_000, 500), 1_200);
  const instant = fc.nat();
  fc.assert(
    fc.property(fc.option(instant, { nil: undefined }), instant, instant, (expiresAt, now, grace) => {
      const expiry = rotatedExpiry({ expiresAt }, now, grace);
      assert.ok(expiry <= now + grace && expiry <= (expiresAt ?? Number.POSITIVE_INFINITY));
      assert.ok(expiry === now + grace || expiry === expiresAt);
    }),
  );
});

const KEY: KeyRecord = {
  id: 3,
  account: { id: 1, name: 'shop', plan: 'free', limits: PLANS.free, suspendedAt: undefined },
  environment: 'staging',
  label: undefined,
  scopes: [],
  createdAt: 0,
  expiresAt: undefined,
  revokedAt: undefined,
  lastUsedAt: undefined,
  ending: undefined,
  rotatedTo: undefined,
};

test('a request with a key is accepted while the key works and its account is not suspended', () => {
  for (const key of [KEY, { ...KEY, rotatedTo: 4, expiresAt: 1_001 }])
    assert.deepEqual([checkKey(key, 1_000), isInForce(key, 1_000)], [{ value: key }, true]);
  const refuse = (key: KeyRecord | undefined) => {
    const checked = checkKey(key, 1_000);
    return 'error' in checked && checked.error === 'unauthorized' ? checked.message : undefined;
  };
  assert.equal(refuse(undefined), 'The API key is unknown: use one that was created for your account.');
  const [expired, revoked] = [
    { ...KEY, expiresAt: 1_000 },
    { ...KEY, revokedAt: 1 },
  ];
  assert.equal(refuse(expired), 'The API key has expired: use a newer one.');
  assert.equal(refuse(revoked), 'The API key has been revoked: use another one.');
  assert.deepEqual([isInForce(expired, 1_000), isInForce(revoked, 1_000)], [false, false]);
  assert.equal(
    refuse({ ...KEY, account: { ...KEY.account, suspendedAt: 0 } }),
    'The account of this API key is suspended: ask the operator of this service.',
  );
});

test('a label is 1 to 100 characters that a terminal can show, without a key', () => {
  for (const right of ['a', ' ', '🐕'.repeat(100), 'petstore']) assert.match(right, LABEL);
  for (const wrong of [
    '',
    '🐕'.repeat(101),
    'a\nb',
    '\u009b',
    '\ud800',
    'x petstore_test_',
    'petstore_admin_y',
  ])
    assert.doesNotMatch(wrong, LABEL);
});

test('the scope pets:manage needs pets:write', () => {
  assert.equal(refuseScopeAlone(['pets:manage', 'pets:write']), undefined);
  assert.equal(refuseScopeAlone(['pets:write']), undefined);
  assert.equal(refuseScopeAlone([]), undefined);
  assert.equal(refuseScopeAlone(['pets:manage']), 'The scope pets:manage needs pets:write: name both.');
  assert.equal(lacksScope('pets:read'), 'This API key lacks the scope pets:read: use a key that has it.');
});
