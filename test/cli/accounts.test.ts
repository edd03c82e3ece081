// Contract: section 8.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { run, runJson, temporaryEnvironment } from '../support/process.ts';

test('accounts are created, changed and listed with the limits of their plan', async (t) => {
  const variables = temporaryEnvironment(t);
  const shop = { name: 'shop', plan: 'pro', perMinute: 300, perDay: 10_000 };
  assert.deepEqual(await runJson(['accounts', 'create', 'shop', '--plan', 'pro'], variables), shop);
  assert.deepEqual(await runJson(['accounts', 'list'], variables), [shop]);
  const own = ['--plan', 'enterprise', '--per-minute', '5000', '--per-day', '1000000'];
  const changed = { name: 'shop', plan: 'enterprise', perMinute: 5_000, perDay: 1_000_000 };
  assert.deepEqual(await runJson(['accounts', 'set', 'shop', ...own], variables), changed);
  const { stdout } = await run(['accounts', 'list'], variables);
  assert.equal(stdout, 'NAME  PLAN        PER MINUTE  PER DAY\nshop  enterprise  5000        1000000\n');
});

test('an account that already exists or does not exist gives one clear line and exit 1', async (t) => {
  const variables = temporaryEnvironment(t);
  await runJson(['accounts', 'create', 'shop', '--plan', 'pro'], variables);
  const again = await run(['accounts', 'create', 'shop', '--plan', 'pro'], variables);
  assert.deepEqual(again, { code: 1, stdout: '', stderr: 'petstore: There is an account shop already.\n' });
  const missing = await run(['accounts', 'set', 'zoo', '--plan', 'pro'], variables);
  assert.deepEqual(missing, { code: 1, stdout: '', stderr: 'petstore: There is no account zoo.\n' });
});

const WRONG = [
  [['create', 'shop'], /required option '--plan <plan>'/],
  [['create', 'shop', '--plan', 'gold'], /Allowed choices are free, pro, business, enterprise/],
  [['create', 'shop', '--plan', 'enterprise', '--per-minute', '5'], /needs numbers of its own/],
  [['create', 'shop', '--plan', 'pro', '--per-day', '5'], /Plan pro has fixed limits/],
  [['create', 'shop', '--plan', 'enterprise', '--per-minute', '0', '--per-day', '1'], /whole number from 1/],
  [['create', ' ', '--plan', 'pro'], /An account name has 1 to 100 characters/],
] as const;

test('wrong use of accounts prints one line, changes nothing and exits 2', async (t) => {
  const variables = temporaryEnvironment(t);
  for (const [args, reason] of WRONG) {
    const { code, stdout, stderr } = await run(['accounts', ...args], variables);
    assert.equal(code, 2, `${args.join(' ')}: ${stderr}`);
    assert.equal(stdout, '');
    assert.match(stderr, /^petstore: .*\n$/);
    assert.match(stderr, reason);
  }
  assert.deepEqual(await runJson(['accounts', 'list'], variables), []);
});
