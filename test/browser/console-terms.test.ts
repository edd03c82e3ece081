import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ERROR_CODES } from '../../src/domain/errors.ts';
import { ROLES } from '../../src/domain/operator.ts';
import { ACCOUNT_STATES } from '../../src/resources/accounts/rules.ts';
import { LISTED_STATES } from '../../src/resources/keys/rules.ts';
import { PLANS } from '../../src/domain/plan.ts';
import { ORDER_STATUSES } from '../../src/resources/orders/rules.ts';
import { PET_STATUSES } from '../../src/resources/pets/rules.ts';
import * as terms from '../../src/pages/console/terms.js';

test('the forms offer the plans, states, statuses, roles and error codes of the service', () => {
  const plans = Object.entries(PLANS).map(([name, its]) => [name, its === 'custom' ? undefined : its]);
  assert.deepEqual(Object.entries(terms.PLANS), plans);
  assert.deepEqual(terms.LISTED_STATES, LISTED_STATES);
  assert.deepEqual(terms.ACCOUNT_STATES, ACCOUNT_STATES);
  assert.deepEqual(terms.PET_STATUSES, PET_STATUSES);
  assert.deepEqual(terms.ORDER_STATUSES, ORDER_STATUSES);
  assert.deepEqual(terms.ROLES, ROLES);
  assert.deepEqual(terms.ERROR_CODES, ERROR_CODES);
});
