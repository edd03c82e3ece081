import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Environment } from '../../src/domain/api-key.ts';
import { type Answer, assertError, call } from '../support/api.ts';
import { fakeClock } from '../support/clock.ts';
import { runJson } from '../support/process.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { test } from '../support/test.ts';

const MAX = '{"name":"Max","categoryId":7}';

/** What version 1.0.0 said about its database: see README.md. */
export interface Before {
  /** When its services had stopped. */
  readonly stoppedAt: string;
  /** Every animal, newest first, as JSON text: int64 stays exact. */
  readonly pets: string;
  readonly accounts: readonly object[];
  readonly keys: readonly (KeySettings & { readonly key: string; readonly state: string })[];
  readonly usage: Readonly<Record<Environment, readonly Usage[]>>;
  readonly bans: readonly { readonly keyId: number; readonly until: string; readonly count: number }[];
  readonly idempotency: readonly Record<'account' | 'idempotencyKey' | 'body' | 'answer', string>[];
}

interface KeySettings {
  readonly id: number;
  readonly account: string;
  readonly plan: string;
  readonly environment: Environment;
  readonly scopes: readonly string[];
  readonly label: string | null;
  readonly expiresAt: string | null;
  readonly lastUsedAt: string | null;
}

interface Usage {
  readonly account: string;
  readonly minute: { readonly remaining: number; readonly reset: number };
  readonly day: { readonly remaining: number };
}

/** Makes a new copy of the database of 1.0.0 and returns its `DATABASE_URL`. */
type Restore = (t: TestContext) => Promise<string>;

/** What an upgrade from 1.0.0 keeps (docs/operating.md, "Upgrade"). */
export function upgradeContract(name: string, before: Before, restore: Restore): void {
  const stoppedAt = Date.parse(before.stoppedAt);
  const animals = before.pets.slice(1, -1).split(/(?<=\}),/);
  const keyOf = (account: string, environment: Environment = 'production') =>
    keyWhere((key) => key.account === account && key.environment === environment).key;
  const keyWhere = (holds: (key: Before['keys'][number]) => boolean) => {
    const found = before.keys.find(holds);
    assert.ok(found);
    return found;
  };
  const chain = keyOf('Kette 🐾 & Söhne');

  const serve = async (
    t: TestContext,
    databaseUrl: string,
    environment: Environment,
    work: (service: TestService) => Promise<void>,
  ) => {
    const env = { PETSTORE_ENVIRONMENT: environment };
    const service = await startTestService(t, { databaseUrl, clock: fakeClock(stoppedAt), env });
    try {
      await work(service);
    } finally {
      // The hooks of the test drop the database before they stop a service.
      await service.stop();
    }
  };
  const upgrade = (
    promise: string,
    work: (service: TestService) => Promise<void>,
    environment: Environment = 'production',
  ) => {
    test(`an upgrade of ${name} ${promise}`, async (t) => serve(t, await restore(t), environment, work));
  };

  upgrade('keeps every animal in every list', async (service) => {
    assert.equal((await list(service, chain)).text, before.pets);
    for (const status of ['available', 'pending', 'sold']) {
      const some = animals.filter((animal) => animal.includes(`"status":"${status}"`));
      assert.ok(some.length > 1);
      assert.equal((await list(service, chain, `&status=${status}`)).text, `[${some.join()}]`);
    }
    for (const [index, animal] of animals.entries()) {
      const id = animals.length - index;
      assert.equal((await call(service.url, `/v1/pets/${id}`, { key: chain })).text, animal);
    }
  });

  upgrade('lists its animals by category and by id, and changes them', async (service) => {
    const numbers = animals.map((animal) => /"categoryId":(-?\d+)/.exec(animal)?.[1]);
    for (const categoryId of new Set(numbers)) {
      const some = animals.filter((_, index) => numbers[index] === categoryId);
      const { text } = await list(service, chain, `&categoryId=${categoryId}`);
      assert.equal(text, `[${some.join()}]`);
    }
    assert.equal((await list(service, chain, '&id=1&id=3')).text, `[${animals.at(-3)},${animals.at(-1)}]`);
    const patched = await call(service.url, '/v1/pets/1', {
      method: 'PATCH',
      key: chain,
      body: '{"categoryId":-5}',
    });
    assert.equal(patched.status, 200);
    assert.equal((await list(service, chain, '&categoryId=-5')).text, `[${patched.text}]`);
    assert.equal((await call(service.url, '/v1/pets/1', { method: 'DELETE', key: chain })).status, 204);
    assert.equal((await list(service, chain)).text, `[${animals.slice(0, -1).join()}]`);
  });

  upgrade('gives the next animal the next id', async (service) => {
    const created = await call(service.url, '/v1/pets', { key: chain, body: MAX });
    assert.deepEqual([created.status, created.json.id], [201, animals.length + 1]);
  });

  test(`an upgrade of ${name} keeps every account and the settings of every key`, async (t) => {
    const variables = { DATABASE_URL: await restore(t) };
    const accounts = before.accounts.map((account) => ({ ...account, suspendedAt: null, note: null }));
    assert.deepEqual(await runJson(['accounts', 'list'], variables), accounts);
    const listed = await runJson<KeySettings[]>(['keys', 'list'], variables);
    assert.deepEqual(listed.map(settings), before.keys.map(settings).map(withManage));
  });

  test(`an upgrade of ${name} accepts the keys that were valid, and no others`, async (t) => {
    const databaseUrl = await restore(t);
    for (const environment of ['production', 'staging'] as const) {
      await serve(t, databaseUrl, environment, async (service) => {
        for (const { id, key, state, environment: home } of before.keys) {
          const { status } = await list(service, key);
          const valid = state === 'active' && home === environment;
          assert.equal(status !== 401, valid, `key ${id} in ${environment}: ${status}`);
        }
      });
    }
  });

  upgrade('keeps the scopes and the expiry of a key', async (service) => {
    const { key: reader } = keyWhere(({ scopes }) => !scopes.includes('pets:write'));
    assertError(await call(service.url, '/v1/pets', { key: reader, body: MAX }), 'insufficient_scope');
    const expiring = keyWhere(({ expiresAt, state }) => expiresAt !== null && state === 'active');
    service.clock.advance(Date.parse(expiring.expiresAt ?? '') - stoppedAt - 1);
    assert.equal((await list(service, expiring.key)).status, 200);
    service.clock.advance(1);
    assertError(await list(service, expiring.key), 'unauthorized');
  });

  for (const environment of ['production', 'staging'] as const) {
    const goesOn = async (service: TestService) => {
      const partlyUsed = before.usage[environment].filter(({ minute }) => minute.remaining > 0);
      assert.ok(partlyUsed.length > 1);
      for (const { account, minute, day } of partlyUsed) {
        const { headers } = await list(service, keyOf(account, environment));
        const left = /"minute";r=(\d+);.*"day";r=(\d+);/.exec(headers.get('ratelimit') ?? '');
        assert.deepEqual(left?.slice(1).map(Number), [minute.remaining - 1, day.remaining - 1], account);
        assert.equal(Number(headers.get('x-ratelimit-reset')), minute.reset, account);
      }
    };
    upgrade(`goes on counting in ${environment}`, goesOn, environment);
  }

  upgrade('keeps a ban, its end and its number in the row', async (service) => {
    const [ban] = before.bans;
    const { key } = keyWhere(({ id }) => id === ban?.keyId);
    const end = Date.parse(ban?.until ?? '');
    const banned = await list(service, key);
    assertError(banned, 'key_banned');
    assert.equal(Number(banned.headers.get('x-ratelimit-reset')), Math.ceil(end / 1000));
    service.clock.advance(end - stoppedAt);
    let answer = await list(service, key);
    assert.equal(answer.status, 200);
    for (let calls = 0; calls < 200 && !isBan(answer); calls++) answer = await list(service, key);
    assertError(answer, 'key_banned');
    assert.equal(answer.headers.get('retry-after'), '600', 'the second ban is twice as long');
  });

  upgrade('lifts the ban that an operator lifted before', async (service) => {
    assertError(await list(service, keyOf('forgiven')), 'daily_limit_exceeded');
  });

  upgrade('replays every create that it has a record of', async (service) => {
    for (const { account, idempotencyKey, body, answer } of before.idempotency) {
      const headers = { 'idempotency-key': idempotencyKey };
      const create = (sent: string) =>
        call(service.url, '/v1/pets', { key: keyOf(account), body: sent, headers });
      const replayed = await create(body);
      assert.deepEqual([replayed.status, replayed.text], [201, answer]);
      assert.equal(replayed.headers.get('idempotent-replay'), 'true');
      assertError(await create(`${body} `), 'idempotency_key_reused');
    }
    assert.equal((await list(service, chain)).text, before.pets);
  });
}

function list(service: TestService, key: string, query = ''): Promise<Answer> {
  return call(service.url, `/v1/pets?limit=100${query}`, { key });
}

/** All but the state, which the command judges by the system clock. */
function settings(key: KeySettings): KeySettings {
  const { id, account, plan, environment, scopes, label, expiresAt, lastUsedAt } = key;
  return { id, account, plan, environment, scopes, label, expiresAt, lastUsedAt };
}

/** Keys that could change any animal still can. */
function withManage(key: KeySettings): KeySettings {
  const scopes = key.scopes.flatMap((scope) => (scope === 'pets:write' ? [scope, 'pets:manage'] : scope));
  return { ...key, scopes };
}

function isBan({ text }: Answer): boolean {
  return text.includes('"key_banned"');
}
