import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KEY_STATES } from '../../src/domain/account.ts';
import { ROLES } from '../../src/domain/operator.ts';
import { PLANS } from '../../src/domain/plan.ts';
import * as terms from '../../src/pages/console/terms.js';

test('the forms offer the plans, states and roles of the service', () => {
  const plans = Object.entries(PLANS).map(([name, its]) => [name, its === 'custom' ? undefined : its]);
  assert.deepEqual(Object.entries(terms.PLANS), plans);
  assert.deepEqual(terms.KEY_STATES, KEY_STATES);
  assert.deepEqual(terms.ROLES, ROLES);
});
