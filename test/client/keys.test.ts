// Contract: sections 3.13 and 3.14.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import {
  AbortError,
  ConflictError,
  ConnectionError,
  type IssuedKey,
  type Key,
  NotFoundError,
  PermissionError,
  PetStore,
  ValidationError,
} from '../../client/src/index.ts';
import { DEFAULT_SCOPES } from '../../src/domain/scope.ts';
import { DAY, HOUR } from '../../src/domain/clock.ts';

import { rejection, settle, startClient, unlucky } from '../support/client-scene.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';

test('account.get gives plan, limits, windows and bans', async (t) => {
  const { client } = await startClient(t);
  await client.pets.list();
  const account = await client.account.get();
  assert.deepEqual([account.name, account.plan, account.bans], ['acme', 'enterprise', []]);
  assert.deepEqual(Object.keys(account.limits), ['perMinute', 'perDay']);
  const { minute, day } = client.rateLimit ?? assert.fail();
  assert.deepEqual([account.minute.remaining, account.day.remaining], [minute.remaining, day.remaining]);
  assert.equal(Number(account.day.reset) * 1_000, day.resetsAt.getTime());
});

test('account.usage gives the history, for an interval and instants with offsets', async (t) => {
  const { client, service } = await startClient(t);
  const day = Math.floor(service.clock().unix / DAY) * DAY;
  await service.store.usageHistory.add({
    writer: 'test',
    sequence: 1,
    counts: [{ hour: (day + DAY / 2) / HOUR, keyId: 1, operation: 'listPets', counts: [5, 1, 2, 0] }],
  });
  const counts = { operation: 'listPets', keyId: 1, ok: 5, clientError: 1, refused: 2, serverError: 0 };
  const start = new Date(day).toISOString();
  assert.deepEqual(await client.account.usage(), [{ start, ...counts }]);
  const noon = new Date(day + DAY / 2).toISOString();
  assert.deepEqual(await client.account.usage({ interval: 'hour' }), [{ start: noon, ...counts }]);
  const to = noon.replace('.000Z', '+00:00');
  assert.deepEqual(await client.account.usage({ interval: 'hour', to }), []);
  await assert.rejects(client.account.usage({ from: 'yesterday' }), ValidationError);
  await assert.rejects(client.account.usage({ from: '2000-01-01T00:00:00Z' }), ValidationError);
});

test('account.requests is a list of failed requests with their messages', async (t) => {
  const { client } = await startClient(t);
  const { account, pets } = client;
  assert.deepEqual((await account.requests()).requests, []);
  for (const status of ['lost', 'found'])
    await assert.rejects(pets.list({ status: status as 'sold' }), ValidationError);
  const { requests, nextCursor } = await account.requests({ limit: 1 });
  const [last] = requests;
  assert.match(last?.message ?? '', /^The parameter status must be one of/);
  assert.deepEqual([last?.method, last?.path, last?.keyId], ['GET', '/v1/pets', 1]);
  assert.equal(typeof nextCursor, 'string');
  const all = await Array.fromAsync(account.requests({ limit: 1 }));
  assert.deepEqual([all.length, all[0]], [2, last]);
});

test('account.usage is a list: a page with await, all rows with for await, also added up', async (t) => {
  const { client, service } = await startClient(t);
  const hour = (Math.floor(service.clock().unix / DAY) * DAY - DAY) / HOUR;
  const counts = [0, 1, 2].map((index) => ({
    hour: hour + index,
    keyId: 1,
    operation: 'listPets',
    counts: [1 + index, 0, 0, 0] as const,
  }));
  await service.store.usageHistory.add({ writer: 'test', sequence: 1, counts });
  const query = { interval: 'hour', limit: 2, to: new Date((hour + 24) * HOUR).toISOString() } as const;
  const { account } = client;
  const page = await account.usage(query);
  assert.deepEqual([page.length, typeof page.nextCursor], [2, 'string']);
  assert.equal((await account.usage({ ...query, limit: 3 })).nextCursor, undefined);
  const rows = await Array.fromAsync(account.usage(query));
  assert.deepEqual(
    rows.map(({ ok }) => ok),
    [1, 2, 3],
  );
  const byOperation = await Array.fromAsync(account.usage({ ...query, by: 'operation' }));
  assert.deepEqual(
    byOperation.map(({ operation, keyId, ok }) => [operation, keyId, ok]),
    [1, 2, 3].map((ok) => ['listPets', undefined, ok]),
  );
  const byKey = await Array.fromAsync(account.usage({ ...query, by: 'key' }).pages());
  assert.deepEqual(
    byKey.map((its) => its.map(({ keyId, operation, ok }) => [keyId, operation, ok])),
    [
      [
        [1, undefined, 1],
        [1, undefined, 2],
      ],
      [[1, undefined, 3]],
    ],
  );
});

test('a key is created, listed without itself, rotated and revoked', async (t) => {
  const { client, service } = await startClient(t);
  const { keys } = client;
  const expiresAt = '2027-12-01T00:00:00+01:00';
  const made = await keys.create({ label: 'web', scopes: ['pets:read'], expiresAt });
  const { key, ...record } = made;
  assert.deepEqual([record.scopes, record.expiresAt], [['pets:read'], '2027-11-30T23:00:00.000Z']);
  const [listed] = (await keys.list()).keys;
  assert.deepEqual(listed, record);
  const webClient = new PetStore({ apiKey: key, baseUrl: `${service.url}/v1` });
  assert.deepEqual((await webClient.pets.list()).pets, []);
  await assert.rejects(webClient.keys.list(), PermissionError);
  const next = await keys.rotate(made.id, { grace: 60 });
  assert.notEqual(next.key, key);
  assert.equal(await keys.revoke(made.id), undefined);
  assert.equal(await keys.revoke(BigInt(made.id)), undefined);
  const walked: Key[] = [];
  for await (const each of keys.list({ limit: 1 })) walked.push(each);
  assert.deepEqual(
    walked.map(({ id, state }) => [id, state]),
    [
      [3, 'active'],
      [2, 'revoked'],
      [1, 'active'],
    ],
  );
  assert.deepEqual((await keys.create()).scopes, DEFAULT_SCOPES);
});

test('refusals about keys have the class of their reason', async (t) => {
  const { keys } = (await startClient(t)).client;
  await assert.rejects(keys.create({ label: '' }), ValidationError);
  await assert.rejects(keys.create({ expiresAt: '2020-01-01T00:00:00Z' }), ValidationError);
  await assert.rejects(keys.rotate(1, { grace: -1 }), ValidationError);
  await assert.rejects(keys.rotate(99), NotFoundError);
  await assert.rejects(keys.revoke(2n ** 63n - 1n), NotFoundError);
  const { id } = await keys.create();
  await keys.revoke(id);
  await assert.rejects(keys.rotate(id), ConflictError);
  await assert.rejects(keys.list({}, { signal: AbortSignal.abort() }), AbortError);
});

for (const fault of ['request lost', { status: 502 }] as const) {
  test(`after ${inspect(fault)} a key is requested again, and created once`, async (t) => {
    const { time, client } = await unlucky(t, [fault, undefined as never, fault]);
    const made = await settle(time, client.keys.create());
    const next = await settle(time, client.keys.rotate(made.id));
    const { keys } = await settle(time, client.keys.list());
    assert.deepEqual(
      keys.map(({ id }) => id),
      [next.id, made.id, 1],
    );
  });
}

for (const fault of ['answer lost', 'half an answer'] as const) {
  test(`after "${fault}" the error says that one key was created and what to do`, async (t) => {
    const answered = undefined as never;
    const { time, client } = await unlucky(t, [fault, answered, answered, fault]);
    for (const [others, call] of [
      [2, () => client.keys.create()],
      [3, () => client.keys.rotate(2)],
    ] as const) {
      const error = await rejection(time, call());
      assert.ok(error instanceof ConflictError);
      assert.match(error.message, /list the keys, revoke the one that it created, and create another/);
      assert.ok(error.cause instanceof ConnectionError);
      assert.doesNotMatch(inspect(error, { depth: null, showHidden: true }), /petstore_live_/);
      const { keys } = await settle(time, client.keys.list());
      assert.equal(keys.length, others);
    }
  });
}

test('an answer that cannot be read shows nothing of the key in its error', async (t) => {
  const { service, apiKey } = await startClient(t);
  const secret = 'petstore_live_SECRETSECRETSECRETSECRETSECRETSECRETSE';
  for (const body of [
    `{"id":2,"key":"${secret}"}`,
    `{"id":2,"state":"active","scopes":[],"key":"${secret}"}x`,
    `{"id":2,"state":"active","scopes":[],"key":"${secret}`,
    `"${secret}"`,
    secret,
  ]) {
    const proxy = await startFaultProxy(t, service.url, () => ({ status: 201, body }));
    const { keys } = new PetStore({ apiKey, baseUrl: `${proxy.url}/v1`, maxTries: 1 });
    for (const call of [keys.create(), keys.rotate(1)]) {
      const error = await call.catch((reason: unknown) => reason);
      assert.ok(error instanceof ConnectionError);
      assert.doesNotMatch(inspect(error, { depth: null, showHidden: true }), /SECRET/);
    }
  }
});

test('only a result shows the key', async (t) => {
  const lines: unknown[] = [];
  const note = (...line: unknown[]) => void lines.push(line);
  const { client } = await startClient(t, { logger: { debug: note, warn: note } });
  const { data, response } = await client.keys.create({}, { idempotencyKey: 'a' }).withResponse();
  const error = await client.keys.create({}, { idempotencyKey: 'a' }).catch((reason: unknown) => reason);
  const issued: IssuedKey = data;
  const shown = inspect([lines, response, client, error], { depth: null, showHidden: true });
  assert.ok(!shown.includes(issued.key));
  assert.ok(error instanceof ConflictError);
});
