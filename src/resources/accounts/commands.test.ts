// Contract: section 8.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { call } from '../../../test/support/api.ts';
import { run, runJson, startServiceProcess, temporaryEnvironment } from '../../../test/support/process.ts';
import { withShop } from '../../../test/cli/prepared.ts';

test('accounts are created, changed and listed with the limits of their plan', async (t) => {
  const variables = temporaryEnvironment(t);
  const shop = { name: 'shop', plan: 'pro', perMinute: 300, perDay: 10_000, note: null, suspendedAt: null };
  assert.deepEqual(await runJson(['accounts', 'create', 'shop', '--plan', 'pro'], variables), shop);
  assert.deepEqual(await runJson(['accounts', 'list'], variables), [shop]);
  const own = ['--plan', 'enterprise', '--per-minute', '5000', '--per-day', '1000000'];
  const changed = {
    name: 'shop',
    plan: 'enterprise',
    perMinute: 5_000,
    perDay: 1_000_000,
    note: null,
    suspendedAt: null,
  };
  assert.deepEqual(await runJson(['accounts', 'set', 'shop', ...own], variables), changed);
  const { stdout } = await run(['accounts', 'list'], variables);
  assert.equal(
    stdout,
    'NAME  PLAN        PER MINUTE  PER DAY  STATE\nshop  enterprise  5000        1000000  active\n',
  );
});

test('an account that already exists or does not exist gives one clear line and exit 1', async (t) => {
  const variables = temporaryEnvironment(t);
  await runJson(['accounts', 'create', 'shop', '--plan', 'pro'], variables);
  const taken = 'petstore: There is an account shop already; the case of a name does not count.\n';
  await runJson(['accounts', 'create', 'free'], variables);
  for (const command of [
    ['create', 'SHOP', '--plan', 'pro'],
    ['rename', 'free', 'SHOP'],
  ])
    assert.deepEqual(await run(['accounts', ...command], variables), { code: 1, stdout: '', stderr: taken });
  const missing = { code: 1, stdout: '', stderr: 'petstore: There is no account zoo.\n' };
  for (const command of [
    ['set', 'zoo', '--plan', 'pro'],
    ['suspend', 'zoo'],
    ['resume', 'zoo'],
    ['rename', 'zoo', 'a'],
  ])
    assert.deepEqual(await run(['accounts', ...command], variables), missing, command.join(' '));
});

test('accounts create gives the plan Free by default', async (t) => {
  const variables = temporaryEnvironment(t);
  const { stdout } = await run(['accounts', 'create', 'shop'], variables);
  assert.equal(stdout, 'Account shop: plan free, 60 requests per minute, 1000 per day.\n');
  const onTerminal = await run(['accounts', 'create', 'zoo'], variables, '', 80);
  assert.equal(onTerminal.stdout, 'Account zoo: plan free, 60 requests per minute, 1,000 per day.\n');
});

test('accounts set changes the note alone', async (t) => {
  const variables = temporaryEnvironment(t);
  const create = ['accounts', 'create', 'shop', '--note', 'Ask for Ada.'];
  assert.equal((await runJson<{ note: string }>(create, variables)).note, 'Ask for Ada.');
  const set = async (...args: string[]) =>
    (await run(['accounts', 'set', 'shop', ...args], variables)).stdout;
  const line = 'Account shop: plan pro, 300 requests per minute, 10000 per day.\n';
  assert.equal(await set('--plan', 'pro'), `${line}Note: Ask for Ada.\n`);
  assert.equal(await set('--note', ''), line);
});

test('suspend and resume take effect in the running service at once', async (t) => {
  const { variables, key } = await withShop(t);
  const { url } = await startServiceProcess(t, variables);
  const status = async () => (await call(url, '/v1/pets', { key })).status;
  assert.equal(await status(), 200);
  const { stdout } = await run(['accounts', 'suspend', 'Shop'], variables);
  assert.match(stdout, /^Account shop: .*\nIt is suspended: all its keys are refused\. .*\n$/);
  assert.equal(await status(), 401);
  assert.match((await run(['accounts', 'list'], variables)).stdout, /^shop .* suspended since \d{4}-/m);
  const resumed = await run(['accounts', 'resume', 'shop'], variables);
  assert.match(resumed.stdout, /^Account shop: .*\nIt is active: its keys are accepted\.\n$/);
  assert.equal(await status(), 200);
});

test('a key that is created for a suspended account comes with a hint', async (t) => {
  const variables = temporaryEnvironment(t);
  await runJson(['accounts', 'create', 'shop'], variables);
  await runJson(['accounts', 'suspend', 'shop'], variables);
  const create = ['keys', 'create', '--account', 'shop'];
  const hint = /^Account shop is suspended: the key is refused until petstore accounts resume\.$/m;
  assert.match((await run(create, variables)).stdout, hint);
  await runJson(['accounts', 'resume', 'shop'], variables);
  assert.doesNotMatch((await run(create, variables)).stdout, hint);
});

test('accounts set changes one limit of Enterprise, and keeps the plan and the other limit', async (t) => {
  const variables = temporaryEnvironment(t);
  const limits = ['--per-minute', '5000', '--per-day', '1000000'];
  await runJson(['accounts', 'create', 'shop', '--plan', 'enterprise', ...limits], variables);
  await runJson(['accounts', 'create', 'zoo', '--plan', 'pro'], variables);
  const set = (name: string) => run(['accounts', 'set', name, '--per-minute', '6000'], variables);
  assert.equal(
    (await set('shop')).stdout,
    'Account shop: plan enterprise, 6000 requests per minute, 1000000 per day.\n',
  );
  assert.deepEqual(await set('zoo'), {
    code: 2,
    stdout: '',
    stderr: 'petstore: Plan pro has fixed limits: only enterprise takes numbers of its own.\n',
  });
});

test('accounts list --search finds a part of the name, ignoring case', async (t) => {
  const variables = temporaryEnvironment(t);
  for (const name of ['Élan shop', 'zoo', 'SHOP']) await runJson(['accounts', 'create', name], variables);
  const found = async (search: string) =>
    (await runJson<{ name: string }[]>(['accounts', 'list', '--search', search], variables)).map(
      ({ name }) => name,
    );
  assert.deepEqual(await found('shop'), ['Élan shop', 'SHOP']);
  assert.deepEqual(await found('éLAN'), ['Élan shop']);
  assert.deepEqual(await found('%'), []);
});

/** A minute that nobody has used begins with the command that shows it. */
const withoutReset = (minute: unknown): object => ({ ...(minute as object), reset: undefined });

test('accounts show has limits, windows, usage and the keys in force of one account', async (t) => {
  const variables = temporaryEnvironment(t);
  await runJson(['keys', 'create', '--account', 'shop', '--plan', 'pro', '--label', 'till'], variables);
  await runJson(['keys', 'create', '--account', 'shop', '--label', 'old'], variables);
  await runJson(['keys', 'create', '--account', 'zoo', '--plan', 'free'], variables);
  await runJson(['seed', '--usage'], variables);
  const revoked = await runJson<{ id: number }>(['keys', 'revoke', '2'], variables);
  const shown = await runJson<Record<string, unknown>>(['accounts', 'show', 'SHOP'], variables);
  const [usage] = await runJson<Record<string, unknown>[]>(
    ['usage', '--by', 'account', '--account', 'shop'],
    variables,
  );
  const [windows] = await runJson<Record<string, unknown>[]>(['usage', '--account', 'shop'], variables);
  const { accountId: _, account, ...counts } = usage ?? {};
  assert.deepEqual(
    {
      ...shown,
      minute: withoutReset(shown['minute']),
      keys: (shown['keys'] as { id: number }[]).map(({ id }) => id),
    },
    {
      name: account,
      plan: 'pro',
      perMinute: 300,
      perDay: 10_000,
      note: null,
      suspendedAt: null,
      minute: withoutReset(windows?.['minute']),
      day: windows?.['day'],
      usage: counts,
      keys: [1, revoked.id],
    },
  );
  const { stdout } = await run(['accounts', 'show', 'shop'], variables);
  assert.match(stdout, /^Account shop: plan pro, 300 requests per minute, 10000 per day\.\n\nWINDOW /);
  assert.match(stdout, /\nminute {2}\d+ +300 .*\nday {5}\d+ +10000 .*\n\nLAST 30 DAYS .*\n\d+ /);
  assert.match(stdout, /\n1 +production +active .* till .*\nKeys that have ended or are revoked: 1\. .*\n$/);
  assert.doesNotMatch(stdout, /zoo|old/);
});

test('a renamed account keeps its keys and its plan', async (t) => {
  const variables = temporaryEnvironment(t);
  await runJson(['keys', 'create', '--account', 'shop', '--plan', 'pro'], variables);
  const renamed = await runJson<{ name: string }>(['accounts', 'rename', 'shop', 'Zoo'], variables);
  assert.deepEqual(await runJson(['accounts', 'list'], variables), [renamed]);
  assert.equal(renamed.name, 'Zoo');
  const [key] = await runJson<{ account: string; plan: string }[]>(['keys', 'list'], variables);
  assert.deepEqual([key?.account, key?.plan], ['Zoo', 'pro']);
});

test('keys create makes an account only when its plan is given, and names a near one', async (t) => {
  const variables = temporaryEnvironment(t);
  await runJson(['accounts', 'create', 'Shelter'], variables);
  const create = ['keys', 'create', '--account', 'sheltr'];
  assert.deepEqual(await run(create, variables), {
    code: 1,
    stdout: '',
    stderr:
      'petstore: There is no account sheltr. Did you mean Shelter? To create it, add its plan, for example --plan free.\n',
  });
  assert.equal((await runJson<unknown[]>(['keys', 'list'], variables)).length, 0);
  const own = await runJson<{ account: string }>(create.with(3, 'SHELTER'), variables);
  assert.equal(own.account, 'Shelter');
  await runJson([...create, '--plan', 'free'], variables);
  const accounts = await runJson<{ name: string }[]>(['accounts', 'list'], variables);
  assert.deepEqual(
    accounts.map(({ name }) => name),
    ['Shelter', 'sheltr'],
  );
});

const WRONG = [
  [['set', 'shop'], /Name what to change: --plan, --per-minute, --per-day or --note\./],
  [['rename', 'shop'], /missing required argument 'new-name'/],
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
