// Contract: sections 3.14 and 5.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KeyRecord } from '../../domain/account.ts';
import { PLANS } from '../../domain/plan.ts';
import { refuseEnded, refuseReplaced, refuseRotation, refuseScopes, toKey, TOO_MANY_KEYS } from './rules.ts';

const KEY: KeyRecord = {
  id: 3,
  account: { id: 1, name: 'shop', plan: 'free', limits: PLANS.free, suspendedAt: undefined },
  environment: 'staging',
  label: 'Till',
  scopes: ['pets:read'],
  createdAt: 0,
  expiresAt: undefined,
  revokedAt: undefined,
  lastUsedAt: undefined,
  ending: 'wxyz',
  rotatedTo: undefined,
};

test('a refusal of one more key says how many an account may have', () => {
  assert.equal(TOO_MANY_KEYS, 'The account has 20 keys that work in this environment');
});

test('a key can be changed until it ends', () => {
  assert.equal(refuseEnded(KEY, 1_000), undefined);
  assert.equal(refuseEnded({ ...KEY, rotatedTo: 4, expiresAt: 1_001 }, 1_000), undefined);
  const refuse = (state: string) => ({ error: 'conflict', message: `Key 3 is ${state}: create a new one.` });
  assert.deepEqual(refuseEnded({ ...KEY, expiresAt: 1_000 }, 1_000), refuse('expired'));
  assert.deepEqual(refuseEnded({ ...KEY, revokedAt: 1 }, 1_000), refuse('revoked'));
});

test('a key is rotated once, and only while it works', () => {
  assert.equal(refuseRotation(KEY, 1_000), undefined);
  assert.deepEqual(
    refuseRotation({ ...KEY, revokedAt: 1 }, 1_000),
    refuseEnded({ ...KEY, revokedAt: 1 }, 1_000),
  );
  assert.deepEqual(refuseRotation({ ...KEY, rotatedTo: 4, revokedAt: 1 }, 1_000), {
    error: 'conflict',
    message: 'Key 3 is already rotated into key 4: rotate that one.',
  });
});

test('a rotated key makes no keys', () => {
  assert.equal(refuseReplaced(KEY), undefined);
  assert.deepEqual(refuseReplaced({ ...KEY, rotatedTo: 4 }), {
    error: 'insufficient_scope',
    message:
      'Key 3 was rotated into key 4, so it can no longer create or rotate keys: use key 4, or another key with keys:manage.',
  });
});

test('a key makes no key with a scope that it lacks', () => {
  const caller = { scopes: ['pets:read', 'keys:manage'] } as const;
  assert.equal(refuseScopes([], caller), undefined);
  assert.equal(refuseScopes(['keys:manage', 'pets:read'], caller), undefined);
  assert.deepEqual(refuseScopes(['pets:read', 'store:read'], caller), {
    error: 'insufficient_scope',
    message:
      'The calling key lacks store:read, so it cannot create a key with this scope: use a key that has it.',
  });
  assert.deepEqual(refuseScopes(['store:read', 'pets:write'], caller), {
    error: 'insufficient_scope',
    message:
      'The calling key lacks pets:write and store:read, so it cannot create a key with these scopes: use a key that has them.',
  });
});

test('an account sees everything of its key but its hash', () => {
  const { id, label, environment, scopes, ending } = KEY;
  const shown = { id, label, environment, scopes, ending };
  assert.deepEqual(toKey({ ...KEY, expiresAt: 2_000, lastUsedAt: 5, rotatedTo: 4 }, 1_000), {
    ...shown,
    state: 'rotated',
    createdAt: '1970-01-01T00:00:00.000Z',
    expiresAt: '1970-01-01T00:00:02.000Z',
    lastUsedAt: '1970-01-01T00:00:00.005Z',
  });
});
