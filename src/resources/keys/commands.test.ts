// Contract: sections 5 and 8.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { call } from '../../../test/support/api.ts';
import {
  run,
  runJson,
  startServiceProcess,
  temporaryEnvironment,
  type Variables,
} from '../../../test/support/process.ts';
import { withShop } from '../../../test/cli/prepared.ts';

interface KeyJson {
  readonly id: number;
  readonly key: string;
  readonly expiresAt: string | null;
  readonly state: string;
  readonly rotatedTo: number | null;
}

const create = (variables: Variables, ...args: string[]) =>
  runJson<KeyJson>(['keys', 'create', '--account', 'shop', ...withPlan(args)], variables);

/** The account need not exist. */
const withPlan = (args: readonly string[]) => (args.includes('--plan') ? args : ['--plan', 'free', ...args]);

const list = (variables: Variables) => runJson<readonly KeyJson[]>(['keys', 'list'], variables);

test('keys create --json prints key and settings in order, and creates the account', async (t) => {
  const variables = temporaryEnvironment(t);
  const { stdout } = await run(
    ['keys', 'create', '--account', 'shop', '--plan', 'free', '--json'],
    variables,
  );
  const { key } = JSON.parse(stdout) as KeyJson;
  assert.match(key, /^petstore_live_[0-9A-Za-z]{38}$/);
  assert.equal(
    stdout,
    `{"id":1,"key":"${key}","account":"shop","plan":"free","environment":"production",` +
      '"scopes":["pets:read","pets:write","store:read","store:write","events:read"],"label":null,"expiresAt":null}\n',
  );
});

test('keys list --json prints the settings without the key, with state and last use', async (t) => {
  const variables = { ...temporaryEnvironment(t), PETSTORE_ENVIRONMENT: 'staging' };
  const settings = ['--scopes', 'pets:read', '--expires', '2100-01-01', '--label', 'price board'];
  const before = Date.now();
  const { key, ...created } = await create(variables, ...settings);
  assert.match(key, /^petstore_test_/);
  assert.deepEqual(created, {
    id: 1,
    account: 'shop',
    plan: 'free',
    environment: 'staging',
    scopes: ['pets:read'],
    label: 'price board',
    expiresAt: '2100-01-01T00:00:00.000Z',
  });
  const [{ createdAt, ...listed }, ...others] = await runJson<[{ createdAt: string }]>(
    ['keys', 'list'],
    variables,
  );
  assert.deepEqual(listed, {
    ...created,
    state: 'active',
    lastUsedAt: null,
    rotatedTo: null,
    ending: key.slice(-4),
    accountSuspended: false,
    bannedUntil: null,
  });
  assert.deepEqual(others, []);
  const made = new Date(createdAt).getTime();
  assert.ok(made >= before && made <= Date.now(), createdAt);
});

test('keys create shows the key in full and says that it is shown only once', async (t) => {
  const variables = temporaryEnvironment(t);
  const created = await run(['keys', 'create', '--account', 'shop', '--plan', 'free'], variables);
  assert.match(created.stdout, /^ {2}petstore_live_[0-9A-Za-z]{38}$/m);
  assert.match(created.stdout, /shown only once/);
  const listed = await run(['keys', 'list'], variables);
  const ending = /([0-9A-Za-z]{4})$/m.exec(/^ {2}petstore_live_.*$/m.exec(created.stdout)?.[0] ?? '')?.[1];
  assert.match(listed.stdout, new RegExp(`^ID +ACCOUNT .*\\n1 +shop +free +production +active +${ending} `));
  assert.doesNotMatch(listed.stdout, /petstore_live/);
});

test('a --plan other than that of the account exits 1, the same plan is accepted', async (t) => {
  const variables = temporaryEnvironment(t);
  const own = ['--plan', 'enterprise', '--per-minute', '5', '--per-day', '9'];
  await create(variables, ...own);
  await create(variables, '--plan', 'enterprise');
  const refused = await run(['keys', 'create', '--account', 'shop', '--plan', 'pro'], variables);
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /^petstore: The account shop has plan enterprise .*\n$/);
  const numbers = await run(['keys', 'create', '--account', 'shop', ...own.with(3, '6')], variables);
  assert.equal(numbers.code, 1);
  assert.equal((await list(variables)).length, 2);
});

test('rotate issues a key with the same settings, and the old one keeps its grace time', async (t) => {
  const variables = temporaryEnvironment(t);
  const { key, id, ...settings } = await create(variables, '--label', 'a', '--scopes', 'pets:write');
  const before = Date.now();
  const {
    key: next,
    id: nextId,
    ...same
  } = await runJson<KeyJson>(['keys', 'rotate', '1', '--grace', '7d'], variables);
  assert.notEqual(next, key);
  const [old, fresh] = await list(variables);
  assert.deepEqual(same, { ...settings, replaces: { id, expiresAt: old?.expiresAt } });
  assert.deepEqual([old?.state, old?.rotatedTo], ['rotated', nextId]);
  assert.deepEqual([old?.id, fresh?.id], [id, nextId]);
  assert.equal(fresh?.expiresAt, null);
  const lives = new Date(old?.expiresAt ?? 0).getTime() - 7 * 86_400_000;
  assert.ok(lives >= before && lives <= Date.now(), `${old?.expiresAt}`);
});

test('a rotated key never outlives its expiry, and the default grace time is 24 hours', async (t) => {
  const variables = temporaryEnvironment(t);
  const soon = new Date(Date.now() + 3_600_000).toISOString();
  await create(variables, '--expires', soon);
  await create(variables);
  const before = Date.now();
  await runJson(['keys', 'rotate', '1', '--grace', '2h'], variables);
  await runJson(['keys', 'rotate', '2'], variables);
  const [first, second, third] = await list(variables);
  assert.equal(first?.expiresAt, soon);
  assert.equal(third?.expiresAt, soon);
  const lives = new Date(second?.expiresAt ?? 0).getTime() - 86_400_000;
  assert.ok(lives >= before && lives <= Date.now(), `${second?.expiresAt}`);
});

test('a key that was revoked or rotated before is not rotated', async (t) => {
  const { variables } = await withShop(t);
  await create(variables);
  assert.equal((await runJson<KeyJson>(['keys', 'revoke', '1'], variables)).state, 'revoked');
  await runJson(['keys', 'rotate', '2', '--grace', '0'], variables);
  assert.deepEqual(
    (await list(variables)).map(({ state }) => state),
    ['revoked', 'expired', 'active'],
  );
  const refusal = (reason: string) => ({ code: 1, stdout: '', stderr: `petstore: ${reason}\n` });
  assert.deepEqual(
    await run(['keys', 'rotate', '1'], variables),
    refusal('Key 1 is revoked: create a new one.'),
  );
  const again = refusal('Key 2 is already rotated into key 3: rotate that one.');
  assert.deepEqual(await run(['keys', 'rotate', '2'], variables), again);
  await runJson(['keys', 'rotate', '3', '--grace', '1h'], variables);
  assert.match((await run(['keys', 'rotate', '3'], variables)).stderr, /already rotated into key 4/);
  assert.equal((await list(variables)).length, 4);
});

test('rotate prints when the old key ends, and list shows the key that follows', async (t) => {
  const { variables } = await withShop(t);
  const { stdout } = await run(['keys', 'rotate', '1', '--grace', '1h'], variables);
  const end = (await list(variables))[0]?.expiresAt;
  assert.ok(stdout.endsWith(`\nKey 1 works until ${end}.\n`), stdout);
  const listed = await run(['keys', 'list'], variables);
  assert.match(listed.stdout, new RegExp(`^1 .* rotated to 2 .* ${end} .*\n2 .* active .* never`, 'm'));
  const at = await run(['keys', 'rotate', '2', '--grace', '0'], variables);
  assert.match(at.stdout, /\nKey 2 works no longer\.\n$/);
});

test('set gives a key other scopes at once, and lists, rotations and the audit log show them', async (t) => {
  const variables = temporaryEnvironment(t);
  const { url } = await startServiceProcess(t, variables);
  const { key } = await create(variables, '--scopes', 'pets:read,pets:write,pets:manage');
  const post = async () =>
    (await call(url, '/v1/pets', { key, body: '{"name":"Rex","categoryId":7}' })).status;
  assert.equal(await post(), 201);
  const set = ['keys', 'set', '1', '--scopes', 'store:read, pets:read'];
  assert.deepEqual(await run(set, variables), {
    code: 0,
    stdout: 'Key 1 of account shop now has the scopes pets:read store:read.\n',
    stderr: '',
  });
  assert.equal(await post(), 403);
  assert.equal((await call(url, '/v1/pets', { key })).status, 200);
  const again = await run(set, variables);
  assert.equal(again.stdout, 'Key 1 of account shop has these scopes already: pets:read store:read.\n');
  const [listed] = await runJson<[{ scopes: readonly string[] }]>(['keys', 'list'], variables);
  const printed = await runJson<object>(set, variables);
  assert.deepEqual({ ...printed, bannedUntil: null }, { ...listed, webhooks: [] });
  const rotated = await runJson<{ scopes: readonly string[] }>(['keys', 'rotate', '1'], variables);
  assert.deepEqual(rotated.scopes, ['pets:read', 'store:read']);
  const entries = await runJson<readonly { action: string; before: object; after: object }[]>(
    ['audit'],
    variables,
  );
  assert.deepEqual(
    entries.filter(({ action }) => action === 'keys set').map(({ before, after }) => [before, after]),
    [[{ scopes: ['pets:read', 'pets:write', 'pets:manage'] }, { scopes: ['pets:read', 'store:read'] }]],
  );
});

test('set changes a key that is rotated, and none that is expired or revoked', async (t) => {
  const { variables } = await withShop(t);
  await runJson(['keys', 'rotate', '1'], variables);
  await runJson(['keys', 'rotate', '2', '--grace', '0'], variables);
  await runJson(['keys', 'revoke', '3'], variables);
  const set = (id: string) => run(['keys', 'set', id, '--scopes', 'pets:read'], variables);
  assert.equal((await set('1')).code, 0);
  for (const [id, state] of [
    ['2', 'expired'],
    ['3', 'revoked'],
  ] as const)
    assert.deepEqual(await set(id), {
      code: 1,
      stdout: '',
      stderr: `petstore: Key ${id} is ${state}: create a new one.\n`,
    });
});

test('created, rotated and revoked keys take effect in the running service at once', async (t) => {
  const variables = temporaryEnvironment(t);
  const { url } = await startServiceProcess(t, variables);
  const status = async (key: string) => (await call(url, '/v1/pets', { key })).status;
  const { key } = await create(variables);
  assert.equal(await status(key), 200);
  const rotated = await runJson<KeyJson>(['keys', 'rotate', '1', '--grace', '0'], variables);
  assert.equal(await status(key), 401);
  assert.equal(await status(rotated.key), 200);
  await runJson(['keys', 'revoke', '2'], variables);
  assert.equal(await status(rotated.key), 401);
});

test('an unknown key gives one clear line and exit 1', async (t) => {
  const variables = temporaryEnvironment(t);
  for (const command of [
    ['keys', 'rotate'],
    ['keys', 'revoke'],
    ['keys', 'set', '--scopes', 'pets:read'],
    ['bans', 'lift'],
  ]) {
    const outcome = await run([...command, '7'], variables);
    assert.deepEqual(outcome, { code: 1, stdout: '', stderr: 'petstore: There is no key 7.\n' });
  }
});

const WRONG = [
  [['create'], /required option '--account <name>'/],
  [['create', '--account', 'shop', '--scopes', 'pets:all'], /Allowed scopes are pets:read, pets:write/],
  [
    ['create', '--account', 'shop', '--plan', 'free', '--scopes', 'pets:read,pets:manage'],
    /The scope pets:manage needs pets:write: name both\./,
  ],
  [['create', '--account', 'shop', '--expires', '2020-01-01'], /--expires must lie in the future/],
  [['create', '--account', 'shop', '--expires', '2100-02-30'], /must be a date/],
  [['create', '--account', 'shop', '--expires', 'soon'], /must be a date .* or a duration \(90d\)/],
  [['create', '--account', 'shop', '--expires', '0d'], /--expires must lie in the future/],
  [['list', '--state', 'gone'], /active, rotated, expired, revoked, banned, suspended/],
  [['list', '--unused-for', '3 weeks'], /must be a duration/],
  [['find'], /The first line of standard input must be a whole API key/],
  [['find', 'petstore_live_x'], /Give the key on standard input: /],
  [['create', '--account', 'shop', '--label', 'two\nlines'], /no control characters/],
  [['create', '--account', 'shop', '--label', 'petstore_live_x'], /no API key/],
  [['create', '--account', 'shop', '--plan', 'enterprise'], /needs numbers of its own/],
  [['rotate', 'x'], /whole number/],
  [['rotate', '1', '--grace', '1 day'], /must be a duration/],
  [['rotate', '1', '--grace', '99999d'], /must be a duration/],
  [['revoke', '1.5'], /whole number/],
  [['set', '1'], /required option '--scopes <list>'/],
  [['set', '1', '--scopes', ''], /Allowed scopes are/],
] as const;

test('wrong use of keys gives a reason, changes nothing and exits 2', async (t) => {
  const variables = temporaryEnvironment(t);
  for (const [args, reason] of WRONG) {
    const { code, stdout, stderr } = await run(['keys', ...args], variables);
    assert.equal(code, 2, `${args.join(' ')}: ${stderr}`);
    assert.equal(stdout, '');
    assert.match(stderr, /^petstore: /);
    assert.match(stderr, reason);
  }
  assert.deepEqual(await runJson(['accounts', 'list'], variables), []);
});

test('a key keeps its scopes in lists and rotations, and help names those of a new key', async (t) => {
  const variables = temporaryEnvironment(t);
  // A key of the version before has these, because there were no others.
  await create(variables, '--scopes', 'pets:read,pets:write');
  const scopes = ['pets:read', 'pets:write'];
  const rotated = await runJson<{ scopes: readonly string[] }>(['keys', 'rotate', '1'], variables);
  assert.deepEqual(rotated.scopes, scopes);
  const listed = await runJson<readonly { scopes: readonly string[] }[]>(['keys', 'list'], variables);
  assert.deepEqual(
    listed.map((key) => key.scopes),
    [scopes, scopes],
  );
  const { stdout } = await run(['keys', 'create', '--help'], variables);
  assert.match(
    stdout.replaceAll(/\s+/g, ' '),
    /--scopes <list> .* \(default: pets:read,pets:write,store:read,store:write,events:read\)/,
  );
});
