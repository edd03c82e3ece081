// Contract: section 10.1.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toPasskey, mayChange } from './rules.ts';

const PASSKEY = {
  id: 3,
  operatorId: 1,
  operator: 'ada',
  name: 'Laptop',
  createdAt: 0,
  lastUsedAt: undefined,
};

test('operators change their own passkeys, and admins those of all', () => {
  const operator = { name: 'ada', createdAt: 0 };
  const may = (id: number, role: 'admin' | 'viewer') => mayChange({ ...operator, id, role }, PASSKEY);
  assert.deepEqual([may(1, 'viewer'), may(2, 'viewer'), may(2, 'admin')], [true, false, true]);
});

test('an operator sees when a passkey was made and last used', () => {
  assert.deepEqual(toPasskey({ ...PASSKEY, lastUsedAt: 1 }), {
    id: 3,
    operatorId: 1,
    operator: 'ada',
    name: 'Laptop',
    createdAt: '1970-01-01T00:00:00.000Z',
    lastUsedAt: '1970-01-01T00:00:00.001Z',
  });
});
