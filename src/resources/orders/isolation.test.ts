// Contract: sections 1.2, 2.6 and 3.
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { type Scope, SCOPES } from '../../domain/scope.ts';
import { DAY } from '../../domain/clock.ts';
import { OrderStatus } from './schema.ts';
import { type Answer, type Asked, assertError, call } from '../../../test/support/api.ts';
import { startTestService } from '../../../test/support/service.ts';
import { test } from '../../../test/support/test.ts';

/** The id of no order. */
const MISSING = 8_000_000_000;

/** The key with which the owner completed an order. */
const ONCE = { 'idempotency-key': 'owner-1' };

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** Headers that differ by request, whatever it asks for. */
const BY_REQUEST = /^(?:date|x-request-id|x-ratelimit-.*|ratelimit.*)$/;

/** All that an answer says about what was asked for. */
function readContent({ status, text, headers }: Answer): unknown {
  return { status, text, headers: [...headers].filter(([name]) => !BY_REQUEST.test(name)) };
}

type Send = (path: string, asked?: Asked) => Promise<Answer>;

/** A service with an order of each status, and clients of the account that made them and of a stranger. */
const prepare = async (t: TestContext) => {
  const service = await startTestService(t);
  const clientOf = async (account: string, scopes: readonly Scope[] = SCOPES): Promise<Send> => {
    const key = await service.issueKey({ account, scopes });
    return (path, asked = {}) => call(service.url, `/v1${path}`, { key, ...asked });
  };
  const owner = await clientOf('owner');
  const addPet = async (status = 'available'): Promise<number> => {
    const body = JSON.stringify({ name: 'Rex', categoryId: 7, status });
    return (await owner('/pets', { body })).json.id;
  };
  const order = async (send: Send, petId: number, headers = {}) =>
    send('/store/orders', { body: JSON.stringify({ petId }), headers });
  const made: { id: number; petId: number; etag: string }[] = [];
  for (const status of ['expired', 'pending', 'complete', 'cancelled']) {
    const petId = await addPet();
    const { id } = (await order(owner, petId)).json;
    const path = `/store/orders/${id}`;
    if (status === 'expired') {
      await service.passTime(3 * DAY);
      while ((await owner(`/pets/${petId}`)).json.status === 'pending');
    }
    if (status === 'complete') await owner(`${path}/complete`, { method: 'POST', headers: ONCE });
    if (status === 'cancelled') await owner(path, { method: 'DELETE' });
    const read = await owner(path);
    assert.equal(read.json.status, status);
    made.push({ id, petId, etag: read.headers.get('etag') ?? '' });
  }
  const all = await owner('/store/orders');
  return { service, clientOf, owner, stranger: await clientOf('stranger'), addPet, order, made, all };
};

test('an order of another account answers as one that does not exist', async (t) => {
  const { owner, stranger, made, all } = await prepare(t);
  for (const { id, etag } of made) {
    const headers = [{}, { 'if-match': '*' }, { 'if-match': etag }, { 'if-none-match': etag }, ONCE];
    for (const path of ['', '/complete'])
      for (const method of METHODS)
        for (const each of headers) {
          const ask = (its: number) => stranger(`/store/orders/${its}${path}`, { method, headers: each });
          const [foreign, missing] = [await ask(id), await ask(MISSING)];
          assert.deepEqual(readContent(foreign), readContent(missing), `${method} ${path}`);
        }
    assertError(await stranger(`/store/orders/${id}`), 'not_found');
  }
  assert.equal((await owner('/store/orders')).text, all.text);
});

test('whatever a key may do, it cannot tell a foreign order from a missing one', async (t) => {
  const { clientOf, made, all, owner } = await prepare(t);
  for (const scope of SCOPES) {
    const scopes: readonly Scope[] = scope === 'pets:manage' ? ['pets:write', scope] : [scope];
    const stranger = await clientOf('stranger', scopes);
    const colleague = await clientOf('owner', scopes);
    for (const { id } of made)
      for (const [method, path] of [
        ['GET', ''],
        ['POST', '/complete'],
        ['DELETE', ''],
      ] as const) {
        const missing = readContent(await stranger(`/store/orders/${MISSING}${path}`, { method }));
        assert.deepEqual(readContent(await stranger(`/store/orders/${id}${path}`, { method })), missing);
        // Without the scope, a key of the same account learns no more than the stranger.
        if (scope !== 'store:read' && scope !== 'store:write')
          assert.deepEqual(readContent(await colleague(`/store/orders/${id}${path}`, { method })), missing);
      }
  }
  assert.equal((await owner('/store/orders')).text, all.text);
});

test('no filter and no cursor shows orders of another account', async (t) => {
  const { clientOf, owner, stranger, addPet, order, made } = await prepare(t);
  const none = readContent(await stranger(`/store/orders?petId=${MISSING}`));
  const { headers } = await owner('/store/orders?limit=1');
  const cursor = /cursor=([^>]+)>/.exec(headers.get('link') ?? '')?.[1] ?? assert.fail();
  const filters = [
    '',
    'limit=1',
    `cursor=${cursor}`,
    ...OrderStatus.options.map((status) => `status=${status}`),
    ...made.map(({ petId }) => `petId=${petId}`),
    ...made.map(({ petId }) => `petId=${petId}&status=pending&cursor=${cursor}`),
  ];
  for (const filter of filters)
    assert.deepEqual(readContent(await stranger(`/store/orders?${filter}`)), none, filter);

  const mine = (await order(stranger, await addPet())).json;
  const colleague = await clientOf('stranger', ['store:read']);
  assert.deepEqual((await colleague('/store/orders')).json, [mine]);
  assert.deepEqual((await stranger('/store/orders?status=pending')).json, [mine]);
  // Its id is larger than the one in the cursor.
  assert.deepEqual((await stranger(`/store/orders?cursor=${cursor}`)).json, []);
  assert.ok(!(await owner('/store/orders')).json.some(({ id }: { id: number }) => id === mine.id));
});

test('an idempotency key of another account replays nothing', async (t) => {
  const { clientOf, owner, stranger, addPet, order, made } = await prepare(t);
  const petId = await addPet();
  const first = await order(owner, petId, ONCE);
  const refused = readContent(await order(stranger, petId));
  assert.deepEqual(readContent(await order(stranger, petId, ONCE)), refused);
  const colleague = await clientOf('owner', ['store:write']);
  assert.equal((await order(colleague, petId, ONCE)).text, first.text);

  const complete = (send: Send, id: number, headers = {}) =>
    send(`/store/orders/${id}/complete`, { method: 'POST', headers });
  const missing = readContent(await complete(stranger, MISSING));
  for (const { id } of made) assert.deepEqual(readContent(await complete(stranger, id, ONCE)), missing);
  const own = await order(stranger, await addPet(), ONCE);
  assert.deepEqual([own.status, own.headers.get('idempotent-replay')], [201, null]);
  assert.equal((await order(owner, petId, ONCE)).text, first.text);
});

test('a refusal does not tell whose order holds an animal', async (t) => {
  const { owner, stranger, addPet, order } = await prepare(t);
  const [theirs, mine, nobodys] = [await addPet(), await addPet(), await addPet('pending')];
  await order(owner, theirs);
  await order(stranger, mine);
  const foreign = await order(stranger, theirs);
  assertError(foreign, 'conflict');
  for (const petId of [mine, nobodys])
    assert.deepEqual(readContent(await order(stranger, petId)), readContent(foreign));
  for (const asked of [{ method: 'DELETE' }, { method: 'PATCH', body: '{"status":"sold"}' }]) {
    const held = await stranger(`/pets/${theirs}`, asked);
    assertError(held, 'conflict');
    assert.deepEqual(readContent(held), readContent(await stranger(`/pets/${mine}`, asked)));
  }
});
