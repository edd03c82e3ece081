// Contract: sections 5 and 8.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { SCOPES } from '../../domain/scope.ts';
import { call } from '../../../test/support/api.ts';
import { fakeClock } from '../../../test/support/clock.ts';
import {
  run,
  runJson,
  startServiceProcess,
  temporaryEnvironment,
  type Variables,
} from '../../../test/support/process.ts';
import { findOrCreateAccount, issueKey, openStore } from '../../../test/support/store.ts';
import { newKey, prepared, withShop } from '../../../test/cli/prepared.ts';

const DAY = 86_400_000;

const create = (variables: Variables, ...args: string[]) =>
  runJson<{ id: number; key: string; expiresAt: string }>(
    ['keys', 'create', '--account', 'shop', '--plan', 'free', ...args],
    variables,
  );

async function listed(variables: Variables, ...args: string[]): Promise<number[]> {
  return (await runJson<{ id: number }[]>(['keys', 'list', ...args], variables)).map(({ id }) => id);
}

/** A database with a key for each entry of `days`: the days from now at which it was made, last used and expires. */
async function keysOfDays(
  t: TestContext,
  days: readonly (readonly [made: number, used?: number | undefined, expires?: number])[],
): Promise<Variables> {
  const variables = temporaryEnvironment(t);
  const now = Date.now();
  for (const [made, used, expires] of days) {
    const clock = fakeClock(now + made * DAY);
    const store = openStore(variables['DATABASE_URL'] ?? '', clock);
    const { id: accountId } = await findOrCreateAccount(store.accounts, 'shop', 'free');
    const expiresAt = expires === undefined ? undefined : now + expires * DAY;
    const { record } = await issueKey(store.keys, { accountId, scopes: SCOPES, expiresAt });
    if (used !== undefined) await store.keys.writeUses([[record.id, Math.floor(now + used * DAY)]]);
    await store.close();
  }
  return variables;
}

test('keys find reads a key from standard input and prints its record, not the key', async (t) => {
  const { variables } = await withShop(t);
  const { key } = await create(variables, '--label', 'leaked');
  const [, expected] = await runJson<Record<string, unknown>[]>(['keys', 'list'], variables);
  assert.equal(expected?.['bannedUntil'], null);
  assert.deepEqual(await runJson(['keys', 'find'], variables, `  ${key}\r\nmore`), expected);
  const { code, stdout, stderr } = await run(['keys', 'find'], variables, key);
  assert.deepEqual([code, stderr], [0, '']);
  assert.match(
    stdout,
    /^ID +ACCOUNT .*\n2 +shop .* leaked .*\nTo end it for good: petstore keys revoke 2\n$/,
  );
  assert.ok(!stdout.includes(key));
});

test('keys find finds a key that is revoked, and keys of the other environment', async (t) => {
  const variables = temporaryEnvironment(t);
  const { key } = await create({ ...variables, PETSTORE_ENVIRONMENT: 'staging' });
  await runJson(['keys', 'revoke', '1'], variables);
  const { stdout } = await run(['keys', 'find'], variables, key);
  assert.match(stdout, /\n1 +shop +free +staging +revoked .*\n$/);
});

test('keys find never repeats what it was given, and exits 1 or 2', async (t) => {
  const { variables, key } = await withShop(t);
  const { variables: others } = await withShop(t);
  const { key: foreign } = await create(others, '--label', 'foreign');
  const unknown = await run(['keys', 'find'], variables, foreign);
  assert.deepEqual(unknown, { code: 1, stdout: '', stderr: 'petstore: This database has no such key.\n' });
  for (const outcome of [
    await run(['keys', 'find'], variables, `${key}x`),
    await run(['keys', 'find'], variables, 'x'.repeat(1_000_000)),
    await run(['keys', 'find', key], variables, key),
  ]) {
    assert.deepEqual([outcome.code, outcome.stdout], [2, '']);
    assert.match(outcome.stderr, /^petstore: [^\n]{1,100}\n$/);
    assert.ok(!outcome.stderr.includes(key));
  }
});

test('--unused-for lists the keys that nobody has used for this time', async (t) => {
  const variables = await keysOfDays(t, [[-100], [-10], [-100, -91], [-100, -89]]);
  assert.deepEqual(await listed(variables, '--unused-for', '90d'), [1, 3]);
  assert.deepEqual(await listed(variables, '--unused-for', '0'), [1, 2, 3, 4]);
});

test('--expires-within lists the keys that still work and end in this time', async (t) => {
  const days = [29, 31, undefined, -1, 5].map((expires) => [-50, undefined, expires] as const);
  const variables = await keysOfDays(t, days as Parameters<typeof keysOfDays>[1]);
  await runJson(['keys', 'revoke', '5'], variables);
  assert.deepEqual(await listed(variables, '--expires-within', '30d'), [1]);
  assert.deepEqual(await listed(variables, '--expires-within', '32d'), [1, 2]);
});

const withKeys = prepared(async (store) => {
  for (const account of ['shop', 'shop', 'shop', 'zoo']) await newKey(store, account);
  return {};
});

test('--state lists the keys in a state, and filters combine', async (t) => {
  const { variables } = await withKeys(t);
  await runJson(['keys', 'revoke', '1'], variables);
  await runJson(['keys', 'rotate', '2'], variables);
  await runJson(['keys', 'rotate', '3', '--grace', '0'], variables);
  await runJson(['accounts', 'suspend', 'zoo'], variables);
  for (const [state, ids] of [
    ['active', [4, 5, 6]],
    ['rotated', [2]],
    ['expired', [3]],
    ['revoked', [1]],
    ['banned', []],
    ['suspended', [4]],
  ] as const)
    assert.deepEqual(await listed(variables, '--state', state), ids, state);
  assert.deepEqual(await listed(variables, '--state', 'active', '--account', 'SHOP'), [5, 6]);
  const { stdout } = await run(['keys', 'list'], variables);
  assert.match(stdout, /^4 .* active, account suspended /m);
  assert.match(stdout, /^3 .* expired, rotated to 6 /m);
});

test('keys list and keys find show a ban with its end', async (t) => {
  const variables = { ...temporaryEnvironment(t), BAN_AFTER: '1' };
  const limits = ['--plan', 'enterprise', '--per-minute', '1', '--per-day', '1'];
  const { key } = await create(variables, ...limits);
  const { url, child, ended } = await startServiceProcess(t, variables);
  for (const status of [200, 429]) assert.equal((await call(url, '/v1/pets', { key })).status, status);
  // It writes the last use of the key, so that all commands below print the same one.
  child.kill('SIGTERM');
  await ended;
  const [ban] = await runJson<{ until: string }[]>(['bans', 'list'], variables);
  const [record] = await runJson<{ bannedUntil: string }[]>(['keys', 'list', '--state', 'banned'], variables);
  assert.equal(record?.bannedUntil, ban?.until);
  const { stdout } = await run(['keys', 'list'], variables);
  assert.ok(stdout.includes(` active, banned until ${ban?.until} `), stdout);
  assert.equal(
    (await run(['keys', 'find'], variables, key)).stdout.split('\n', 2).join('\n'),
    stdout.trimEnd(),
  );
  const found = await runJson<{ bannedUntil: string }>(['keys', 'find'], variables, key);
  assert.equal(found.bannedUntil, ban?.until);
});

test('without Redis, keys list leaves bans out and says so, unless asked for them', async (t) => {
  const { variables } = await withShop(t);
  const { id, key } = await create(variables);
  const outage = { ...variables, REDIS_URL: 'redis://127.0.0.1:1' };
  const list = await run(['keys', 'list', '--json'], outage);
  assert.equal(list.code, 0);
  assert.deepEqual(
    JSON.parse(list.stdout).map((its: Record<string, unknown>) => [its['id'], 'bannedUntil' in its]),
    [1, id].map((each) => [each, false]),
  );
  assert.match(list.stderr, /^petstore: bans are not shown: The Redis server cannot be used/);
  const find = await run(['keys', 'find', '--json'], outage, key);
  assert.deepEqual([find.code, 'bannedUntil' in JSON.parse(find.stdout)], [0, false]);
  assert.match(find.stderr, /^petstore: bans are not shown: /);
  const banned = await run(['keys', 'list', '--state', 'banned'], outage);
  assert.equal(banned.code, 1);
  assert.equal(banned.stdout, '');
});

test('--expires takes a duration from now', async (t) => {
  const variables = temporaryEnvironment(t);
  const before = Date.now();
  const { expiresAt } = await create(variables, '--expires', '90d');
  const end = new Date(expiresAt).getTime() - 90 * DAY;
  assert.ok(end >= before && end <= Date.now(), expiresAt);
});
