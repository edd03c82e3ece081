// Contract: sections 8 and 13.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { prepared } from '../../../test/cli/prepared.ts';
import { requireValue } from '../../../test/storage/fixture.ts';
import { run, runJson, type Variables } from '../../../test/support/process.ts';
import { CLIENT, findOrCreateAccount, openStore, ROOT } from '../../../test/support/store.ts';
import { SCOPES } from '../../domain/scope.ts';
import { systemClock } from '../../cli/context.ts';
import { visibleStreams } from '../events/rules.ts';

/** Webhooks 1 and 2 of the account shop, with an attempt of the first, and 3 of the account other in another environment. */
const withWebhooks = prepared(async ({ accounts, webhooks, pets, events, sending }) => {
  const shop = await findOrCreateAccount(accounts, 'shop', 'free');
  const other = await findOrCreateAccount(accounts, 'other', 'free');
  const settings = {
    url: 'https://shop.example/hook',
    types: ['pet.*', 'order.*'],
    scopes: SCOPES,
    secret: `whsec_${'A'.repeat(43)}=`,
    createdBy: 1,
  } as const;
  const owner = { accountId: shop.id, environment: 'production' } as const;
  const add = async (row: object = {}) =>
    requireValue(await webhooks.create(ROOT, { ...settings, ...owner, ...row }));
  const { createdAt } = await add();
  await add();
  await add({ accountId: other.id, environment: 'staging' });
  await pets.create(CLIENT, { name: 'Rex', categoryId: 7n });
  const streams = visibleStreams({ ...owner, scopes: SCOPES });
  const { items } = await events.list({ streams, after: undefined, limit: 1 });
  const [{ id: eventId, key: eventKey } = { id: 0n, key: '' }] = items;
  await sending.lease('sender');
  const attempt = {
    webhookId: 1,
    eventId,
    eventKey,
    type: 'pet.created',
    attempt: 1,
    at: 1_000,
    durationMs: 5,
  };
  const failed = { ...attempt, status: 'failed', httpStatus: 503, failure: 'status' } as const;
  const late = { ...attempt, status: 'failed', failure: 'timeout', attempt: 2, at: 2_000 } as const;
  const done = { ...attempt, status: 'succeeded', httpStatus: 204, attempt: 3, at: 3_000 } as const;
  const settlement = {
    webhookId: 1,
    instance: 'sender',
    generation: 1,
    place: eventId,
    open: [],
    closed: [],
  };
  await sending.settle([
    {
      ...settlement,
      deliveries: [failed, late, done],
      failingSince: 1_000,
      disable: undefined,
      prunes: false,
    },
  ]);
  return { createdAt, eventKey };
});

const WEBHOOK = {
  id: 1,
  url: 'https://shop.example/hook',
  types: ['pet.*', 'order.*'],
  enabled: true,
  createdBy: 1,
  missed: 0,
  account: 'shop',
  environment: 'production',
  description: null,
  disabledReason: null,
  failingSince: '1970-01-01T00:00:01.000Z',
};

const listIds = async (variables: Variables, ...args: readonly string[]) =>
  (await runJson<readonly { readonly id: number }[]>(['webhooks', 'list', ...args], variables)).map(
    ({ id }) => id,
  );

test('webhooks of all accounts and environments are listed, of one account, or those that fail', async (t) => {
  const { variables, createdAt } = await withWebhooks(t);
  const all = await runJson<readonly object[]>(['webhooks', 'list'], variables);
  assert.deepEqual(all.at(-1), { ...WEBHOOK, createdAt });
  assert.deepEqual(await listIds(variables), [3, 2, 1]);
  assert.deepEqual(await listIds(variables, '--account', 'SHOP'), [2, 1]);
  assert.deepEqual(await listIds(variables, '--failing'), [1]);
  assert.deepEqual(await listIds(variables, '--account', 'other', '--failing'), []);
  const { stdout } = await run(['webhooks', 'list', '--account', 'shop'], variables);
  assert.deepEqual(
    stdout.split('\n').map((line) => line.trimEnd().split(/ {2,}/)),
    [
      ['ID', 'ACCOUNT', 'ENVIRONMENT', 'STATE', 'FAILING SINCE', 'MISSED', 'TYPES', 'URL'],
      ['2', 'shop', 'production', 'enabled', '-', '0', 'pet.* order.*', WEBHOOK.url],
      ['1', 'shop', 'production', 'enabled', WEBHOOK.failingSince, '0', 'pet.* order.*', WEBHOOK.url],
      [''],
    ],
  );
});

test('one webhook is shown with its attempts, the newest first, and without its secret', async (t) => {
  const { variables, createdAt, eventKey } = await withWebhooks(t);
  const shown = await runJson<{ readonly deliveries: readonly object[] }>(
    ['webhooks', 'show', '1'],
    variables,
  );
  const { deliveries, ...webhook } = shown;
  assert.deepEqual(webhook, { ...WEBHOOK, createdAt });
  assert.deepEqual(deliveries[0], {
    id: 3,
    eventId: eventKey,
    type: 'pet.created',
    attempt: 3,
    at: '1970-01-01T00:00:03.000Z',
    status: 'succeeded',
    httpStatus: 204,
    durationMs: 5,
  });
  const { stdout } = await run(['webhooks', 'show', '1'], variables);
  const cells = stdout.split('\n').map((line) => line.trimEnd().split(/ {2,}/));
  assert.deepEqual(cells.slice(3, -1), [
    ['ID', 'TIME', 'TYPE', 'ATTEMPT', 'STATUS', 'ANSWER', 'MS', 'EVENT'],
    ['3', '1970-01-01T00:00:03.000Z', 'pet.created', '3', 'succeeded', '204', '5', eventKey],
    ['2', '1970-01-01T00:00:02.000Z', 'pet.created', '2', 'failed', 'timeout', '5', eventKey],
    ['1', '1970-01-01T00:00:01.000Z', 'pet.created', '1', 'failed', '503', '5', eventKey],
  ]);
  assert.doesNotMatch(stdout + JSON.stringify(shown), /whsec_/);
});

test('an endpoint is disabled, and enabled again', async (t) => {
  const { variables } = await withWebhooks(t);
  assert.equal(
    (await run(['webhooks', 'disable', '1'], variables)).stdout,
    'Webhook 1 of account shop is disabled.\n',
  );
  const disabled = await runJson<typeof WEBHOOK>(['webhooks', 'disable', '2'], variables);
  assert.deepEqual([disabled.enabled, disabled.disabledReason], [false, 'request']);
  assert.equal(
    (await run(['webhooks', 'enable', '1'], variables)).stdout,
    'Webhook 1 of account shop is enabled.\n',
  );
  const enabled = await runJson<typeof WEBHOOK>(['webhooks', 'enable', '2'], variables);
  assert.deepEqual([enabled.enabled, enabled.disabledReason], [true, null]);
  const audit = await runJson<readonly { readonly action: string }[]>(['audit'], variables);
  assert.deepEqual(
    audit.slice(0, 4).map(({ action }) => action),
    ['webhooks enable', 'webhooks enable', 'webhooks disable', 'webhooks disable'],
  );
});

test('after a restore, all endpoints that it disabled are enabled together, and no other one', async (t) => {
  const { variables } = await withWebhooks(t);
  assert.deepEqual(await runJson(['webhooks', 'enable', '--all'], variables), []);
  assert.equal((await run(['webhooks', 'enable', '--all'], variables)).stdout, 'No webhook was disabled.\n');
  await runJson(['webhooks', 'disable', '2'], variables);
  const store = openStore(variables['DATABASE_URL'] ?? '', systemClock());
  await store.events.beginFeed('0123456789ab');
  await store.close();
  assert.deepEqual(await listIds(variables, '--failing'), [3, 1]);
  const enabled = await runJson<readonly { readonly id: number }[]>(
    ['webhooks', 'enable', '--all'],
    variables,
  );
  assert.deepEqual(
    enabled.map(({ id }) => id),
    [3, 1],
  );
  const { disabledReason } = await runJson<typeof WEBHOOK>(['webhooks', 'show', '2'], variables);
  assert.equal(disabledReason, 'request');
});

test('events since an instant are sent again', async (t) => {
  const { variables } = await withWebhooks(t);
  const { stdout } = await run(['webhooks', 'replay', '1', '--since', '2h'], variables);
  assert.match(stdout, /^Webhook 1 of account shop gets events from \d{4}-.*Z on\.\n$/);
  const replayed = await runJson<typeof WEBHOOK>(['webhooks', 'replay', '2', '--since', '1d'], variables);
  assert.equal(replayed.id, 2);
  const again = await run(['webhooks', 'replay', '1', '--since', '2h'], variables);
  assert.equal(again.code, 1);
  assert.match(again.stderr, /The webhook was replayed within the last 10 minutes: wait\./);
});

const WRONG = [
  [['show', '99'], 1, /There is no webhook 99\./],
  [['enable', '99'], 1, /There is no webhook 99\./],
  [['disable', '99'], 1, /There is no webhook 99\./],
  [['replay', '99', '--since', '2h'], 1, /There is no webhook 99\./],
  [['replay', '1', '--since', '31d'], 1, /Events of --since are no longer kept: name a later instant\./],
  [['replay', '1', '--since', '2999-01-01'], 2, /since must not lie in the future\./],
  [['replay', '1'], 2, /required option '--since <when>'/],
  [['enable'], 2, /Name one webhook, or give --all\./],
  [['enable', '1', '--all'], 2, /Name one webhook, or give --all\./],
  [['show', 'x'], 2, /must be a whole number/],
  [['list', '--account', 'nobody'], 1, /There is no account nobody/],
] as const;

test('a revoked key is printed with the webhooks that it added', async (t) => {
  const { variables } = await withWebhooks(t);
  const { id } = await runJson<{ readonly id: number }>(['keys', 'create', '--account', 'shop'], variables);
  assert.equal(id, 1);
  await run(['webhooks', 'disable', '2'], variables);
  const { stdout } = await run(['keys', 'revoke', '1'], variables);
  assert.deepEqual(stdout.trimEnd().split('\n'), [
    'Key 1 of account shop is revoked.',
    `Webhook 3 to ${WEBHOOK.url}, which it added or last pointed there, still gets events: petstore webhooks disable 3`,
    `Webhook 2 to ${WEBHOOK.url}, which it added or last pointed there, is disabled.`,
    `Webhook 1 to ${WEBHOOK.url}, which it added or last pointed there, still gets events: petstore webhooks disable 1`,
  ]);
  const { webhooks } = await runJson<{ readonly webhooks: readonly object[] }>(
    ['keys', 'revoke', '1'],
    variables,
  );
  assert.deepEqual(webhooks.at(-1), { id: 1, url: WEBHOOK.url, enabled: true });
});

test('a key that sees fewer events is printed with its webhooks, which still get what it could see', async (t) => {
  const { variables } = await withWebhooks(t);
  await run(
    ['keys', 'create', '--account', 'shop', '--scopes', 'pets:read,pets:write,pets:manage'],
    variables,
  );
  await run(['webhooks', 'disable', '2'], variables);
  const set = async (scopes: string) =>
    (await run(['keys', 'set', '1', '--scopes', scopes], variables)).stdout;
  const changed = 'Key 1 of account shop now has the scopes';
  assert.equal(await set('pets:read,store:read'), `${changed} pets:read store:read.\n`);
  const still =
    'which it added or last pointed there, still gets what the key could see then: petstore webhooks disable';
  assert.deepEqual((await set('pets:read')).trimEnd().split('\n'), [
    `${changed} pets:read.`,
    `Webhook 3 to ${WEBHOOK.url}, ${still} 3`,
    `Webhook 2 to ${WEBHOOK.url}, which it added or last pointed there, is disabled.`,
    `Webhook 1 to ${WEBHOOK.url}, ${still} 1`,
  ]);
});

test('a command that cannot be done says why in one line', async (t) => {
  const { variables } = await withWebhooks(t);
  for (const [args, status, reason] of WRONG) {
    const { code, stdout, stderr } = await run(['webhooks', ...args], variables);
    assert.deepEqual([code, stdout], [status, ''], args.join(' '));
    assert.match(stderr, /^petstore: .*\n$/);
    assert.match(stderr, reason);
  }
});
