// Contract: sections 5, 10.2 and 13.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PLANS } from '../../domain/plan.ts';
import {
  type AccountPatch,
  type AccountRecord,
  DEFAULT_ACCOUNT,
  findNoteIssue,
  findThreshold,
  patchAccount,
} from './rules.ts';

const FREE: AccountRecord = {
  id: 1,
  name: 'shop',
  plan: 'free',
  limits: PLANS.free,
  suspendedAt: undefined,
  createdAt: 0,
  note: undefined,
};
const OWN_LIMITS = { perMinute: 5_000, perDay: 1_000_000 };
const ENTERPRISE: AccountRecord = { ...FREE, plan: 'enterprise', limits: OWN_LIMITS };

const readRefusal = (account: AccountRecord, patch: AccountPatch) => {
  const result = patchAccount(account, patch);
  return 'error' in result ? `${result.error}: ${result.message}` : undefined;
};

test('a note is up to 500 characters in lines, without other control characters and without a key', () => {
  for (const right of ['', 'a', 'zwei\n\tZeilen', '🐕'.repeat(500)])
    assert.equal(findNoteIssue(right), undefined);
  for (const wrong of ['a'.repeat(501), 'a\0b', 'a\rb', '\ud800', 'a petstore_live_x', 'petstore_admin_'])
    assert.deepEqual(findNoteIssue(wrong), {
      error: 'invalid_request',
      message: 'A note has at most 500 characters, no control characters and no API key.',
    });
});

test('the account that a command makes by itself has a name that no version changes', () => {
  assert.equal(DEFAULT_ACCOUNT, 'default');
});

test('the threshold of a warning is four fifths of the limit', () => {
  assert.deepEqual(
    [0, 799, 800, 999, 1_000, 1_001].map((used) => findThreshold(1_000, used)),
    [undefined, undefined, 'limit.warning', 'limit.warning', 'limit.reached', 'limit.reached'],
  );
});

test('a patch changes what it names, and a name or note that it names must be right', () => {
  const { name, plan, limits } = FREE;
  assert.deepEqual(patchAccount(FREE, {}), { value: { name, plan, limits } });
  assert.deepEqual(patchAccount(FREE, { name: 'farm' }), { value: { name: 'farm', plan, limits } });
  assert.deepEqual(patchAccount({ ...FREE, name: ' old' }, {}), { value: { name: ' old', plan, limits } });
  assert.match(String(readRefusal(FREE, { name: ' ' })), /^invalid_request: An account name /);
  assert.match(String(readRefusal(FREE, { note: '\0' })), /^invalid_request: A note has /);
});

test('one limit alone keeps the other, and a change to enterprise needs both', () => {
  assert.deepEqual(patchAccount(ENTERPRISE, { perMinute: 1 }), {
    value: { name: 'shop', plan: 'enterprise', limits: { ...OWN_LIMITS, perMinute: 1 } },
  });
  assert.deepEqual(patchAccount(ENTERPRISE, { plan: 'pro' }), {
    value: { name: 'shop', plan: 'pro', limits: PLANS.pro },
  });
  for (const own of [{}, { perMinute: 1 }, { perDay: 1 }])
    assert.match(
      String(readRefusal(FREE, { plan: 'enterprise', ...own })),
      /^invalid_request: Plan enterprise needs/,
    );
});

test('a change of an account with other values than expected says what they are', () => {
  const suspended = { ...FREE, note: 'Ask "Ada".', suspendedAt: 5 };
  const values = 'it is now called shop, has plan free with 60 requests per minute and 1000 per day, and is';
  const advice = 'Decide by these values, and send the change again.';
  const refuse = (rest: string) => ({
    error: 'precondition_failed',
    message: `Somebody else has changed this account: ${values} ${rest}${advice}`,
  });
  for (const expected of [
    { name: 'farm' },
    { plan: 'pro' },
    { perDay: 1 },
    { note: '-' },
    { suspended: true },
  ] as const)
    assert.deepEqual(
      patchAccount(FREE, { expected: { name: 'shop', ...expected } }),
      refuse('not suspended. '),
    );
  assert.deepEqual(
    patchAccount(suspended, { expected: { suspended: false } }),
    refuse('suspended. Its note is "Ask \\"Ada\\".". '),
  );
  const expected = {
    name: 'shop',
    plan: 'free',
    perMinute: 60,
    perDay: 1_000,
    note: '',
    suspended: false,
  } as const;
  assert.equal('value' in patchAccount(FREE, { expected }), true);
});
