// Contract: section 5.
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { DEFAULT_SCOPES, type Scope, SCOPES } from '../../src/domain/scope.ts';
import { assertError, call } from '../support/api.ts';
import { issueKey, type IssuedKey, sharedServers, startTestInstances } from '../support/instances.ts';
import {
  run,
  runJson,
  startServiceProcess,
  temporaryEnvironment,
  type Variables,
} from '../support/process.ts';
import { test } from '../support/test.ts';

/** Milliseconds within which every instance knows what the command line changed. */
const KNOWN_EVERYWHERE = 5_000;

/** Three instances on clocks that stand still, with a key that all of them have in mind. */
async function threeThatKnow(t: TestContext, scopes: readonly Scope[] = DEFAULT_SCOPES) {
  const { variables, services } = await startTestInstances(t, 3);
  const issued = await issueKey(variables, { scopes });
  const ask = (key = issued.key) => Promise.all(services.map(({ url }) => call(url, '/v1/pets', { key })));
  for (const answer of await ask()) assert.equal(answer.status, 200);
  return {
    variables,
    services,
    issued,
    ask,
    /** Five seconds pass after a change; the system clocks of all machines agree. */
    fiveSecondsLater: () => {
      for (const { clock } of services) {
        clock.jump(Date.now() - clock().unix);
        clock.advance(KNOWN_EVERYWHERE);
      }
    },
  };
}

test('a key that is revoked is refused by every instance within 5 s', async (t) => {
  const { variables, issued, ask, fiveSecondsLater } = await threeThatKnow(t);
  await runJson(['keys', 'revoke', `${issued.id}`], variables);
  fiveSecondsLater();
  for (const answer of await ask()) {
    assertError(answer, 'unauthorized');
    assert.match(answer.json.message, /revoked/);
  }
});

test('a rotation without grace reaches every instance within 5 s', async (t) => {
  const { variables, issued, ask, fiveSecondsLater } = await threeThatKnow(t);
  const { key } = await runJson<IssuedKey>(['keys', 'rotate', `${issued.id}`, '--grace', '0'], variables);
  fiveSecondsLater();
  for (const answer of await ask()) assertError(answer, 'unauthorized');
  for (const answer of await ask(key)) assert.equal(answer.status, 200);
});

test('a change of plan counts on every instance within 5 s', async (t) => {
  const { variables, ask, fiveSecondsLater } = await threeThatKnow(t);
  const { code } = await run(['accounts', 'set', 'chain', '--plan', 'business'], variables);
  assert.equal(code, 0);
  fiveSecondsLater();
  for (const { headers } of await ask()) {
    assert.equal(headers.get('ratelimit-policy'), '"minute";q=1000;w=60, "day";q=100000;w=86400');
  }
});

/** Sends a request again while it gets 503 and nothing is done: on a busy machine, locks can be held for longer than a request waits. */
async function callUntilAnswered(...request: Parameters<typeof call>): ReturnType<typeof call> {
  for (;;) {
    const answer = await call(...request);
    if (answer.status !== 503) return answer;
  }
}

/** Requests that create and rotate keys, to all services at once. */
function mint(services: readonly { readonly url: string }[], { id, key }: IssuedKey) {
  const bodies = Array.from({ length: 4 }, (_, index) => ({ index, body: '{}' }));
  return Promise.all(
    services.flatMap(({ url }) =>
      bodies.map(({ index, body }) => {
        const path = index % 2 === 0 ? '/v1/account/keys' : `/v1/account/keys/${id}/rotate`;
        const headers: Record<string, string> = index < 2 ? {} : { 'idempotency-key': `${index}` };
        return callUntilAnswered(url, path, { key, body, headers });
      }),
    ),
  );
}

const keysOf = (variables: Variables) => runJson<readonly IssuedKey[]>(['keys', 'list'], variables);

test('a key that every instance still takes for valid mints no successor once it is revoked', async (t) => {
  const { variables, services, issued } = await threeThatKnow(t, SCOPES);
  await runJson(['keys', 'revoke', `${issued.id}`], variables);
  for (const answer of await mint(services, issued)) {
    assertError(answer, 'unauthorized');
    assert.match(answer.json.message, /revoked/);
    assert.equal(answer.headers.get('www-authenticate'), 'Bearer');
  }
  // The refusal told each instance.
  for (const { url } of services)
    assertError(await call(url, '/v1/pets', { key: issued.key }), 'unauthorized');
  assert.equal((await keysOf(variables)).length, 1);
});

test('no key of a suspended account comes to life when the account is resumed', async (t) => {
  const { variables, services, issued } = await threeThatKnow(t, SCOPES);
  await runJson(['accounts', 'suspend', 'chain'], variables);
  for (const answer of await mint(services, issued)) {
    assertError(answer, 'unauthorized');
    assert.match(answer.json.message, /suspended/);
  }
  await runJson(['accounts', 'resume', 'chain'], variables);
  assert.equal((await keysOf(variables)).length, 1);
});

test('processes that serve at full speed mint no key after its revocation was answered', async (t) => {
  const variables = await sharedServers(t);
  const manager = await issueKey(variables, { scopes: SCOPES });
  const services = await Promise.all([0, 1, 2].map(() => startServiceProcess(t, variables)));
  const [first] = services;
  assert.ok(first !== undefined);
  for (let round = 0; round < 3; round++) {
    const leaked = await issueKey(variables, { scopes: SCOPES });
    for (const { url } of services)
      assert.equal((await call(url, '/v1/pets', { key: leaked.key })).status, 200);
    // Some come before the revocation.
    const early = call(first.url, '/v1/account/keys', { key: leaked.key, body: '{}' });
    const revoked = await call(first.url, `/v1/account/keys/${leaked.id}`, {
      method: 'DELETE',
      key: manager.key,
    });
    assert.equal(revoked.status, 204);
    for (const { status, text } of await mint(services, leaked)) assert.equal(status, 401, text);
    const { status } = await early;
    assert.ok(status === 201 || status === 401, `${status}`);
  }
});

test('with SQLite, no key that the command line has revoked or suspended mints one', async (t) => {
  const variables = temporaryEnvironment(t);
  const issued = await issueKey(variables, { scopes: SCOPES });
  const service = await startServiceProcess(t, variables);
  assert.equal((await call(service.url, '/v1/pets', { key: issued.key })).status, 200);
  await runJson(['accounts', 'suspend', 'chain'], variables);
  for (const answer of await mint([service], issued)) assertError(answer, 'unauthorized');
  await runJson(['accounts', 'resume', 'chain'], variables);
  await runJson(['keys', 'revoke', `${issued.id}`], variables);
  for (const answer of await mint([service], issued)) assertError(answer, 'unauthorized');
  assert.equal((await keysOf(variables)).length, 1);
});
