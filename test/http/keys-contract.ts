// Contract: sections 3.14 and 5.4.
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { DEFAULT_SCOPES, type Scope, SCOPES } from '../../src/domain/scope.ts';
import { DAY, MINUTE } from '../../src/domain/clock.ts';
import { MOST_LIVE_KEYS } from '../../src/resources/keys/rules.ts';
import { type Answer, type Asked, assertError, assertRateHeaders, call } from '../support/api.ts';
import type { KeyOptions, StartService, TestService } from '../support/service.ts';
import { test } from '../support/test.ts';

export type Send = (path: string, asked?: Asked) => Promise<Answer>;

/** Sends requests with a key. */
export function senderOf({ url }: TestService, key: string): Send {
  return (path, asked = {}) => call(url, `/v1${path}`, { key, ...asked });
}

export const create = (send: Send, body: object = {}, headers: Record<string, string> = {}) =>
  send('/account/keys', { body: JSON.stringify(body), headers });
export const rotate = (send: Send, id: number, body: object = {}, headers: Record<string, string> = {}) =>
  send(`/account/keys/${id}/rotate`, { body: JSON.stringify(body), headers });
export const revoke = (send: Send, id: number) => send(`/account/keys/${id}`, { method: 'DELETE' });

const once = (key: string) => ({ 'idempotency-key': key });
const statuses = (answers: readonly Answer[]) => answers.map(({ status }) => status).toSorted();

/** The keys of an account, as they must be over any store; `start` gives a service on the stores of `backend`. */
export function keysContract(backend: string, start: StartService): void {
  /** A service, and a client whose key 1 may manage keys. */
  const prepare = async (t: TestContext, options: KeyOptions = {}) => {
    const service = await start(t);
    const key = await service.issueKey({ scopes: SCOPES, ...options });
    const send = senderOf(service, key);
    const list = async () => (await send('/account/keys?limit=100')).json as Record<string, unknown>[];
    const stateOf = async (id: number) => (await list()).find((each) => each['id'] === id)?.['state'];
    return { service, key, send, list, stateOf };
  };

  test(`${backend}: a key is created, shown once, listed without itself, used and revoked`, async (t) => {
    const { service, send, list } = await prepare(t);
    const now = new Date(service.clock().unix).toISOString();
    const made = await create(send, { label: 'web', scopes: ['pets:write', 'pets:read', 'pets:read'] });
    assert.equal(made.status, 201, made.text);
    assertRateHeaders(made);
    assert.equal(made.headers.get('cache-control'), 'no-store');
    assert.equal(made.headers.get('idempotent-replay'), null);
    const { key, ...record } = made.json;
    assert.match(key, /^petstore_live_[0-9A-Za-z]{38}$/);
    assert.equal(made.headers.get('location'), `${service.url}/v1/account/keys/${record.id}`);
    assert.deepEqual(record, {
      id: record.id,
      label: 'web',
      environment: 'production',
      scopes: ['pets:read', 'pets:write'],
      state: 'active',
      createdAt: now,
      ending: key.slice(-4),
    });
    const [listed] = await list();
    assert.deepEqual(listed, record);
    const answer = await call(service.url, '/v1/pets', { key });
    assert.equal(answer.status, 200);
    for (let times = 0; times < 2; times++) {
      const revoked = await revoke(send, record.id);
      assert.deepEqual([revoked.status, revoked.text], [204, '']);
      assertError(await call(service.url, '/v1/pets', { key }), 'unauthorized');
    }
    assert.equal((await list())[0]?.['state'], 'revoked');
  });

  test(`${backend}: a key without named scopes gets the four that keys have by default`, async (t) => {
    const { send } = await prepare(t);
    const made = await create(send);
    assert.deepEqual(made.json.scopes, DEFAULT_SCOPES);
    assert.deepEqual(
      [made.json.label, made.json.expiresAt, made.json.lastUsedAt],
      [undefined, undefined, undefined],
    );
  });

  test(`${backend}: a repeated request creates no second key, and its 409 says what to do`, async (t) => {
    const { send, list } = await prepare(t);
    const first = await create(send, {}, once('a'));
    assert.equal(first.status, 201);
    const rotated = await rotate(send, first.json.id, {}, once('a'));
    assert.equal(rotated.status, 201, rotated.text);
    for (const replay of [
      await create(send, {}, once('a')),
      await rotate(send, first.json.id, {}, once('a')),
    ]) {
      assertError(replay, 'conflict');
      assert.match(replay.json.message, /not stored: list the keys, revoke the one .*create another/);
    }
    assertError(await create(send, { label: 'b' }, once('a')), 'idempotency_key_reused');
    assertError(await rotate(send, 1, {}, once('a')), 'idempotency_key_reused');
    assert.equal((await list()).length, 3);
  });

  test(`${backend}: of simultaneous requests with one Idempotency-Key, one gets a key`, async (t) => {
    const { send, list } = await prepare(t);
    const created = await Promise.all(Array.from({ length: 12 }, () => create(send, {}, once('a'))));
    assert.deepEqual(statuses(created), [201, ...Array.from({ length: 11 }, () => 409)]);
    assert.equal((await list()).length, 2);
    const rotated = await Promise.all(Array.from({ length: 12 }, () => rotate(send, 2, {}, once('a'))));
    assert.deepEqual(statuses(rotated), [201, ...Array.from({ length: 11 }, () => 409)]);
    assert.equal((await list()).length, 3);
  });

  test(`${backend}: of simultaneous rotations of a key, one succeeds`, async (t) => {
    const { send, list } = await prepare(t);
    await create(send);
    for (const [id, others] of [
      [2, 409],
      // From then on, the calling key rotates none.
      [1, 403],
    ] as const) {
      const rotated = await Promise.all(Array.from({ length: 8 }, () => rotate(send, id)));
      assert.deepEqual(statuses(rotated), [201, ...Array.from({ length: 7 }, () => others)]);
    }
    assert.equal((await list()).length, 4);
  });

  test(`${backend}: at most 20 keys of an account work, also after simultaneous requests`, async (t) => {
    const { service, send, list } = await prepare(t);
    // Neither counts: one belongs to the other environment, and one has expired.
    await service.issueKey({ environment: 'staging' });
    await service.issueKey({ expiresAt: Math.floor(service.clock().unix) + 1 });
    await service.passTime(1);
    const asked = Array.from({ length: MOST_LIVE_KEYS + 5 }, (_, index) =>
      index % 2 === 0 ? create(send) : create(send, {}, once(`${index}`)),
    );
    const answers = await Promise.all(asked);
    assert.equal(answers.filter(({ status }) => status === 201).length, MOST_LIVE_KEYS - 1);
    const refused = answers.find(({ status }) => status !== 201);
    assert.ok(refused !== undefined);
    assertError(refused, 'conflict');
    assert.match(refused.json.message, /has 20 keys that work in this environment: revoke one first/);
    const live = (await list()).filter(({ state }) => state === 'active');
    assert.equal(live.length, MOST_LIVE_KEYS);

    const last = Number(live[0]?.['id']);
    const many = await rotate(send, last);
    assertError(many, 'conflict');
    assert.match(many.json.message, /revoke one, or send a grace of 0/);
    assert.equal((await rotate(send, last, { grace: 0 })).status, 201);
    assertError(await create(send), 'conflict');
    await revoke(send, Number(live[1]?.['id']));
    assert.deepEqual(statuses(await Promise.all([create(send), create(send)])), [201, 409]);
    const other = senderOf(service, await service.issueKey({ account: 'other' }));
    assert.equal((await create(other)).status, 201);
  });

  test(`${backend}: by default a key gets those of the default scopes that the calling key has`, async (t) => {
    const { service } = await prepare(t);
    const createBy = async (scopes: readonly Scope[], body: object = {}) =>
      create(senderOf(service, await service.issueKey({ scopes })), body);
    const made = await createBy(['pets:read', 'pets:write', 'pets:manage', 'events:read', 'keys:manage']);
    assert.deepEqual([made.status, made.json.scopes], [201, ['pets:read', 'pets:write', 'events:read']]);
    assert.deepEqual((await createBy(['store:read', 'keys:manage'])).json.scopes, ['store:read']);
    const none = await createBy(['keys:manage', 'webhooks:manage']);
    assertError(none, 'invalid_request');
    assert.match(none.json.message, /^scopes is required, /);
    assert.equal((await createBy(['keys:manage'], { scopes: ['keys:manage'] })).status, 201);
    // The maker has pets:manage itself.
    const both = { scopes: ['pets:write', 'pets:manage'] };
    assert.deepEqual((await createBy(SCOPES, both)).json.scopes, both.scopes);
    assertError(await createBy(['pets:write', 'keys:manage'], both), 'insufficient_scope');
  });

  test(`${backend}: no key gets scopes that the calling key lacks`, async (t) => {
    const { service, send, stateOf } = await prepare(t);
    const scopes: readonly Scope[] = ['pets:read', 'keys:manage'];
    const limited = senderOf(service, await service.issueKey({ scopes }));
    assert.equal((await create(limited, { scopes })).status, 201);
    for (const refused of [
      await create(limited, { scopes: ['pets:read', 'pets:write'] }),
      await rotate(limited, 1),
    ]) {
      assertError(refused, 'insufficient_scope');
      assert.match(refused.json.message, /^The calling key lacks .*pets:write/);
    }
    assert.equal(await stateOf(1), 'active');
    assert.equal((await rotate(limited, 2)).status, 201);
    // To revoke a key gives nobody anything.
    const strong = (await create(send, { scopes: SCOPES })).json.id;
    assert.equal((await revoke(limited, strong)).status, 204);
  });

  test(`${backend}: a rotated key works for its grace, and its successor has its settings`, async (t) => {
    const { service, send, stateOf } = await prepare(t);
    const expiresAt = new Date(service.clock().unix + 40 * DAY).toISOString();
    const old = (await create(send, { label: 'web', scopes: ['pets:read'], expiresAt })).json;
    assert.equal(old.expiresAt, expiresAt);
    const rotated = await rotate(send, old.id, { grace: 60 });
    assert.equal(rotated.headers.get('cache-control'), 'no-store');
    const { key, id, ending: _ending, createdAt: _createdAt, ...settings } = rotated.json;
    assert.deepEqual(settings, {
      label: 'web',
      environment: 'production',
      scopes: ['pets:read'],
      state: 'active',
      expiresAt,
    });
    assert.equal(rotated.headers.get('location'), `${service.url}/v1/account/keys/${id}`);
    assert.equal(await stateOf(old.id), 'rotated');
    const works = async (text: string) => (await call(service.url, '/v1/pets', { key: text })).status;
    assert.deepEqual([await works(old.key), await works(key)], [200, 200]);
    const again = await rotate(send, old.id);
    assertError(again, 'conflict');
    assert.match(again.json.message, new RegExp(`already rotated into key ${id}: rotate that one`));
    await service.passTime(MINUTE);
    assert.deepEqual([await works(old.key), await works(key)], [401, 200]);
    assert.equal(await stateOf(old.id), 'expired');
    assert.match((await rotate(send, old.id)).json.message, /already rotated/);
    assert.equal((await rotate(send, id, { grace: 0 })).status, 201);
    assert.equal(await works(key), 401);
  });

  test(`${backend}: the grace is a day by default, and ends no later than the key`, async (t) => {
    const { service, send, list } = await prepare(t);
    const now = Math.floor(service.clock().unix);
    const endOf = async (id: number) =>
      Date.parse(String((await list()).find((each) => each['id'] === id)?.['expiresAt'])) - now;
    const ends = { expiresAt: new Date(now + 2 * DAY).toISOString() };
    const [one, two] = [(await create(send)).json.id, (await create(send, ends)).json.id];
    await rotate(send, one);
    assert.equal(await endOf(one), DAY);
    await rotate(send, two, { grace: 30 * 86_400 });
    assert.equal(await endOf(two), 2 * DAY);
  });

  test(`${backend}: a key that has expired or is revoked is not rotated`, async (t) => {
    const { service, send } = await prepare(t);
    const ends = { expiresAt: new Date(service.clock().unix + MINUTE).toISOString() };
    const [one, two] = [(await create(send, ends)).json.id, (await create(send)).json.id];
    await service.passTime(MINUTE);
    await revoke(send, two);
    for (const [id, state] of [
      [one, 'expired'],
      [two, 'revoked'],
    ]) {
      const answer = await rotate(send, id);
      assertError(answer, 'conflict');
      assert.match(answer.json.message, new RegExp(`Key ${id} is ${state}: create a new one`));
    }
  });

  test(`${backend}: a key rotates itself, then creates and rotates none during its grace, and revokes itself`, async (t) => {
    const { service, send, stateOf } = await prepare(t);
    const successor = (await rotate(send, 1)).json;
    assert.deepEqual(successor.scopes, SCOPES);
    for (const refused of [await create(send), await rotate(send, 1), await rotate(send, successor.id)]) {
      assertError(refused, 'insufficient_scope');
      assert.match(
        refused.json.message,
        /^Key 1 was rotated into key 2, [^:]+: use key 2, or another key with/,
      );
    }
    assert.equal((await send('/pets')).status, 200);
    assert.equal(await stateOf(1), 'rotated');
    assert.equal((await revoke(send, 1)).status, 204);
    assertError(await send('/account/keys'), 'unauthorized');
    const next = senderOf(service, successor.key);
    const last = (await rotate(next, successor.id, { grace: 0 })).json;
    assertError(await next('/account/keys'), 'unauthorized');
    assert.equal((await senderOf(service, last.key)('/account')).status, 200);
  });

  test(`${backend}: Link leads through the keys, newest first`, async (t) => {
    const { send } = await prepare(t);
    for (let made = 0; made < 4; made++) await create(send);
    const first = await send('/account/keys?limit=3');
    const cursor = /cursor=([^>]+)>; rel="next"/.exec(first.headers.get('link') ?? '')?.[1];
    const last = await send(`/account/keys?limit=3&cursor=${cursor}`);
    assert.equal(last.headers.get('link'), null);
    assert.deepEqual(
      [...first.json, ...last.json].map(({ id }) => id),
      [5, 4, 3, 2, 1],
    );
  });
}
