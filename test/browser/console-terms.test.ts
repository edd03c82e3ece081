import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_SCOPES, KEY_STATES, SCOPES } from '../../src/domain/account.ts';
import { ROLES } from '../../src/domain/operator.ts';
import { PLANS } from '../../src/domain/plan.ts';
import * as terms from '../../src/pages/console/terms.js';

test('the forms offer the plans, scopes, states and roles of the service', () => {
  const plans = Object.entries(PLANS).map(([name, its]) => [name, its === 'custom' ? undefined : its]);
  assert.deepEqual(Object.entries(terms.PLANS), plans);
  assert.deepEqual(terms.SCOPES, SCOPES);
  assert.deepEqual(terms.DEFAULT_SCOPES, DEFAULT_SCOPES);
  assert.deepEqual(terms.KEY_STATES, KEY_STATES);
  assert.deepEqual(terms.ROLES, ROLES);
});
