// Contract: section 10.2.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { env, execPath } from 'node:process';
import { test } from 'node:test';
import { OPERATOR_OPERATIONS } from '../../src/resources/operations.ts';
import { shareResponses } from '../../src/description/shared-responses.ts';
import { adminOpenApi } from '../../src/description/admin-openapi.ts';
import { assertError, call } from '../support/api.ts';
import { inventAuthenticator } from '../support/authenticator.ts';
import { asBrowser, startTestConsole } from '../support/console.ts';
import { assertFits } from '../support/described.ts';
import { CLIENT } from '../support/store.ts';
import { temporaryFolder } from '../support/temporary.ts';

const document = adminOpenApi();

test('the description of the admin API is valid OpenAPI 3.1 without a warning', (t) => {
  assert.match(document.openapi, /^3\.1\./);
  const file = join(temporaryFolder(t), 'openapi.json');
  writeFileSync(file, JSON.stringify(document));
  // Without these, Redocly asks for newer versions and reports its use.
  const quiet = { ...env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  const args = ['lint', '--extends=recommended', '--format=stylish', file];
  const { status, stdout, stderr } = spawnSync(execPath, ['node_modules/.bin/redocly', ...args], {
    encoding: 'utf8',
    env: quiet,
  });
  assert.equal(status, 0, stdout + stderr);
  assert.doesNotMatch(stdout + stderr, /\bwarning/);
});

test('the description has each operation with its role and all declared answers', () => {
  const described: Record<string, any>[] = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, its]) => Object.assign({}, its, { path, method })),
  );
  const names = described.map((its) =>
    [its['method'], its['path'], its['operationId'], its['x-role']].join(' '),
  );
  assert.deepEqual(
    names.toSorted(),
    OPERATOR_OPERATIONS.map((its) =>
      [its.method.toLowerCase(), its.path, its.id, its.role].join(' '),
    ).toSorted(),
  );
  for (const operation of OPERATOR_OPERATIONS) {
    const its = described.find((each) => each['operationId'] === operation.id) as Record<string, any>;
    assert.match(its['description'], new RegExp(`Needs the role \\*\\*${operation.role}\\*\\*`));
    assert.ok(its['responses'][401].content['application/json'].examples.unauthorized);
    assert.ok(its['responses'][429].headers['Retry-After']);
    const link: string | undefined = its['responses'][200]?.headers.Link?.example;
    if ('cursor' in operation.parameters)
      assert.match(link ?? '', new RegExp(`^</admin/v1${operation.path}\\?.*>; rel="next"$`));
    for (const status of [401, 403, 429, 500, 503]) assert.ok(its['responses'][status], `${status}`);
    const { status } = operation.answer;
    assert.equal(its['responses'][status].content === undefined, status === 204, operation.id);
  }
});

test('every schema of a body and of an answer has an example', () => {
  for (const { id, body, answer } of OPERATOR_OPERATIONS)
    for (const { examples } of [body, answer.content].filter((each) => each !== undefined))
      for (const { value } of Object.values(examples)) assert.notEqual(value, undefined, id);
});

test('every example of an answer fits its schema', () => {
  for (const { id, answer } of OPERATOR_OPERATIONS)
    for (const { value } of Object.values(answer.content?.examples ?? {}))
      assertFits(answer.content?.schema, value, id);
});

test('everybody who reaches the listener may read the description, and only read it', async (t) => {
  const its = await startTestConsole(t);
  const answer = await its.ask('/admin/openapi.json');
  assert.equal(answer.status, 200);
  assert.deepEqual(answer.json, shareResponses(document));
  assert.equal((await its.ask('/admin/openapi.json', { method: 'HEAD' })).text, '');
  const post = await its.ask('/admin/openapi.json', { body: '{}' });
  assertError(post, 'method_not_allowed');
  assert.equal(post.headers.get('allow'), 'GET, HEAD');
});

test('every operation does what its examples say, and answers as it is described', async (t) => {
  const its = await startTestConsole(t, { env: { BAN_AFTER: '1' } });
  const cookie = await its.session('root');
  const ask = (path: string, body?: string, method?: string) =>
    its.ask(
      `/admin/v1${path}`,
      asBrowser(cookie, { ...(body !== undefined && { body }), ...(method && { method }) }),
    );
  await ask('/accounts', '{"name":"first"}');
  const issued = (await ask('/accounts/1/keys', '{}')).json.key as string;
  await ask('/operators', '{"name":"leaver","role":"viewer"}');
  const banned = await its.issueKey({ account: 'tiny', limits: { perMinute: 1, perDay: 1 } });
  for (let sent = 0; sent < 3; sent++) await call(its.url, '/v1/pets', { key: banned });
  await its.store.webhooks.create(
    { kind: 'system', name: 'test' },
    {
      accountId: 1,
      environment: 'production',
      url: 'https://shop.example/petstore',
      types: ['*'],
      scopes: ['pets:read'],
      secret: 'whsec_',
      createdBy: 1,
    },
  );
  const [failed] = (await ask('/failed-requests')).json;
  const animal = { name: 'Rex', categoryId: 7n, status: 'available' } as const;
  for (let index = 1; index <= 3; index++) await its.store.pets.create(CLIENT, animal);
  for (const petId of [2n, 3n]) await its.store.orders.create(CLIENT, 1, { petId });
  const { challenge } = (await ask('/passkeys/challenge', undefined, 'POST')).json;
  const credential = inventAuthenticator().create({ origin: its.consoleUrl, challenge });
  const bodies: Readonly<Record<string, unknown>> = {
    findKey: { key: issued },
    createPasskey: { name: 'laptop', credential },
  };
  const paths: Readonly<Record<string, string>> = {
    removeOperator: '/operators/2',
    liftBan: '/bans/2',
    getFailedRequest: `/failed-requests/${failed.id}`,
    completeOrder: '/orders/2/complete',
    // Secrets 1 to 3 are links and the test's own session.
    revokeToken: '/tokens/4',
  };
  for (const operation of OPERATOR_OPERATIONS) {
    const { id, method, answer: declared } = operation;
    const path = paths[id] ?? operation.path.replaceAll(/\{\w+\}/g, '1');
    const [example] = Object.values(operation.body?.examples ?? {});
    const body = example && JSON.stringify(bodies[id] ?? example.value);
    const answer = await ask(path, body, method);
    const { content } = declared;
    assert.equal(answer.status, declared.status, `${id}: ${answer.text}`);
    if (content === undefined) assert.equal(answer.text, '');
    else assertFits(content.schema, answer.json, id);
  }
});
