// Contract: sections 6 and 8.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { call } from '../support/api.ts';
import {
  run,
  runJson,
  startServiceProcess,
  temporaryEnvironment,
  type Variables,
} from '../support/process.ts';

interface UsageJson {
  readonly account: string;
  readonly minute: { readonly remaining: number; readonly reset: number };
  readonly day: { readonly remaining: number; readonly reset: number };
}

const LIMITS = ['--plan', 'enterprise', '--per-minute', '2', '--per-day', '9'];

async function issueKey(variables: Variables): Promise<string> {
  const { key } = await runJson<{ key: string }>(
    ['keys', 'create', '--account', 'shop', ...LIMITS],
    variables,
  );
  return key;
}

/** Asks again until `holds`: what a service counts is written down within a second. */
async function eventually<T>(ask: () => Promise<T>, holds: (answer: T) => boolean): Promise<T> {
  for (;;) {
    const answer = await ask();
    if (holds(answer)) return answer;
  }
}

test('usage shows both windows of an account while the service counts them', async (t) => {
  const variables = temporaryEnvironment(t);
  const key = await issueKey(variables);
  await runJson(['accounts', 'create', 'other', '--plan', 'free'], variables);
  const { url } = await startServiceProcess(t, variables);
  const { headers } = await call(url, '/v1/pets', { key });
  const midnight = Math.floor(Date.now() / 86_400_000 + 1) * 86_400;
  const [usage] = await eventually(
    () => runJson<readonly UsageJson[]>(['usage', '--account', 'shop'], variables),
    ([shop]) => shop?.minute.remaining === 1,
  );
  const reset = Number(headers.get('x-ratelimit-reset'));
  assert.deepEqual(usage, {
    account: 'shop',
    plan: 'enterprise',
    minute: { limit: 2, remaining: 1, reset },
    day: { limit: 9, remaining: 8, reset: midnight },
  });
  const all = await runJson<readonly UsageJson[]>(['usage'], variables);
  assert.deepEqual(
    all.map(({ account, day }) => [account, day.remaining]),
    [
      ['shop', 8],
      ['other', 1_000],
    ],
  );
  assert.match((await run(['usage'], variables)).stdout, /\nshop +enterprise +1 of 2 .* 8 of 9 /);
});

test('a ban is listed while the service runs, and lifting it lets the key in again', async (t) => {
  const variables = { ...temporaryEnvironment(t), BAN_AFTER: '2', BAN_SECONDS: '3600' };
  const key = await issueKey(variables);
  const { url } = await startServiceProcess(t, variables);
  const code = async () => (await call(url, '/v1/pets', { key })).json.code;
  while ((await code()) !== 'key_banned');

  const bans = await runJson<readonly { until: string }[]>(['bans', 'list'], variables);
  const until = bans[0]?.until ?? '';
  assert.deepEqual(bans, [{ keyId: 1, account: 'shop', until: new Date(until).toISOString(), count: 1 }]);
  assert.match(
    (await run(['bans', 'list'], variables)).stdout,
    /^KEY +ACCOUNT +ENDS +BANS IN A ROW\n1 +shop .* 1\n$/,
  );

  const elsewhere = { ...variables, PETSTORE_ENVIRONMENT: 'staging' };
  assert.deepEqual(await runJson(['bans', 'list'], elsewhere), []);
  assert.equal((await run(['bans', 'lift', '1'], elsewhere)).code, 1, 'staging has no such ban');
  assert.deepEqual(await runJson(['bans', 'lift', '1'], variables), { keyId: 1, lifted: true });
  const answer = await eventually(code, (each) => each !== 'key_banned');
  assert.equal(answer, 'rate_limit_exceeded', 'the minute is still used up');
});

test('a ban can be lifted as soon as the request that caused it is answered', async (t) => {
  const variables = { ...temporaryEnvironment(t), BAN_AFTER: '1', BAN_SECONDS: '3600' };
  const { url } = await startServiceProcess(t, variables);
  for (const id of [1, 2, 3]) {
    const { key } = await runJson<{ key: string }>(
      ['keys', 'create', '--account', `shop ${id}`, ...LIMITS],
      variables,
    );
    while ((await call(url, '/v1/pets', { key })).json.code !== 'key_banned');
    assert.deepEqual(await runJson(['bans', 'lift', `${id}`], variables), { keyId: id, lifted: true });
  }
});

test('bans lift --account lifts the bans of all keys of an account', async (t) => {
  const variables = { ...temporaryEnvironment(t), BAN_AFTER: '1', BAN_SECONDS: '3600' };
  const keys = [await issueKey(variables), await issueKey(variables)];
  const { url } = await startServiceProcess(t, variables);
  for (const key of keys) while ((await call(url, '/v1/pets', { key })).json.code !== 'key_banned');
  await runJson(['accounts', 'create', 'other'], variables);
  const none = await run(['bans', 'lift', '--account', 'other'], variables);
  assert.deepEqual([none.code, none.stderr], [1, 'petstore: No key of account other is banned.\n']);
  assert.deepEqual(await runJson(['bans', 'lift', '--account', 'shop'], variables), [
    { keyId: 1, lifted: true },
    { keyId: 2, lifted: true },
  ]);
  assert.deepEqual(await runJson(['bans', 'list'], variables), []);
  for (const args of [[], ['1', '--account', 'shop']])
    assert.equal((await run(['bans', 'lift', ...args], variables)).code, 2);
});

test('lifting a ban that does not exist gives one clear line and exit 1', async (t) => {
  const variables = temporaryEnvironment(t);
  await issueKey(variables);
  const outcome = await run(['bans', 'lift', '1'], variables);
  assert.deepEqual(outcome, { code: 1, stdout: '', stderr: 'petstore: Key 1 is not banned.\n' });
});
