// Contract: section 10.2.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { textFromInstant } from '../../domain/instant.ts';
import { INT64_MAX } from '../../domain/int64.ts';
import { STORES } from '../../../test/storage/stores.ts';
import { get, patch, requireValue } from '../../../test/storage/fixture.ts';
import { assertError, call } from '../../../test/support/api.ts';
import { adminOf, startTestConsole } from '../../../test/support/console.ts';
import { CLIENT, ROOT } from '../../../test/support/store.ts';

for (const [name, fresh] of STORES) {
  test(`${name}: each change of an animal by an operator is in the audit log with its values`, async (t) => {
    const { store } = await fresh(t);
    const { pets, audit } = store;
    const added = requireValue(await pets.create(ROOT, { name: 'Rex', categoryId: INT64_MAX }));
    assert.deepEqual(await get(pets, added.id), added);
    await pets.update(ROOT, added.id, patch({ name: 'Rexi', status: 'sold' }));
    await pets.update(ROOT, added.id, patch({ categoryId: 7n, status: null }));
    // Changes nothing.
    await pets.update(ROOT, added.id, patch({ name: 'Rexi' }));
    await pets.delete(ROOT, added.id);
    const entries = (await audit.list({ limit: 100 })).items.toReversed();
    const target = { kind: 'pet', name: String(added.id) };
    for (const entry of entries) assert.deepEqual([entry.actor, entry.target], [ROOT, target]);
    assert.deepEqual(
      entries.map(({ action, before, after }) => [action, before, after]),
      [
        ['pets create', undefined, { name: 'Rex', categoryId: String(INT64_MAX), status: null }],
        ['pets set', { name: 'Rex', status: null }, { name: 'Rexi', status: 'sold' }],
        ['pets set', { categoryId: String(INT64_MAX), status: 'sold' }, { categoryId: '7', status: null }],
        ['pets delete', { name: 'Rexi', categoryId: '7', status: null }, undefined],
      ],
    );
  });

  test(`${name}: what clients do with animals is not in the audit log`, async (t) => {
    const { pets, audit } = (await fresh(t)).store;
    const { id } = requireValue(await pets.create(CLIENT, { name: 'Rex', categoryId: 7n }));
    await pets.update(CLIENT, id, patch({ name: 'Rexi' }));
    await pets.delete(CLIENT, id);
    assert.deepEqual((await audit.list({ limit: 1 })).items, []);
  });
}

test('the same page has the links and headers of the API that was asked', async (t) => {
  const { its, ask } = await adminOf(await startTestConsole(t));
  const key = await its.issueKey();
  for (let number = 1; number <= 3; number++)
    await its.store.pets.create(CLIENT, { name: 'Rex', categoryId: 7n });
  const read = async () => {
    const [client, operator] = [await call(its.url, '/v1/pets?limit=2', { key }), await ask('/pets?limit=2')];
    const listIds = ({ json }: typeof client) => json.map(({ id }: { id: number }) => id);
    assert.deepEqual(listIds(client), listIds(operator));
    assert.match(client.headers.get('link') ?? '', /\/v1\/pets\?limit=2&cursor=/);
    assert.doesNotMatch(client.headers.get('link') ?? '', /admin/);
    assert.match(operator.headers.get('link') ?? '', /^<\/admin\/v1\/pets\?limit=2&cursor=/);
    assert.equal(operator.headers.get('cache-control'), 'no-store');
    assert.notEqual(client.headers.get('cache-control'), 'no-store');
  };
  await read();
  await read();
  // Now operators ask first.
  await its.store.pets.create(CLIENT, { name: 'Bo', categoryId: 7n });
  await ask('/pets?limit=2');
  await read();
});

test('operators add, find, change and delete animals by the rules of the API', async (t) => {
  const { its, ask, get: read, pages } = await adminOf(await startTestConsole(t));
  const send = (method: string, path: string, body?: string) =>
    ask(path, { method, ...(body !== undefined && { body }) });
  const created = await send(
    'POST',
    '/pets',
    `{"name":"Rex","categoryId":${INT64_MAX},"status":"available"}`,
  );
  assert.equal(created.status, 201);
  const byAda = (animal: string) =>
    `{${animal},"ownerId":0,"changedAt":"${textFromInstant(Math.floor(its.clock().unix))}",` +
    '"changedBy":{"kind":"operator","name":"ada"}}';
  assert.equal(
    created.text,
    byAda(`"id":1,"name":"Rex","categoryId":${INT64_MAX},"status":"available"`),
    'an int64 is exact',
  );
  for (let number = 2; number <= 4; number++)
    await send('POST', '/pets', `{"name":"Bo ${number}","categoryId":3}`);
  const ids = async (query: string) =>
    ((await read(`/pets${query}`)) as { id: number }[]).map(({ id }) => id);
  assert.deepEqual(await ids(''), [4, 3, 2, 1]);
  assert.deepEqual(await ids('?status=available'), [1]);
  assert.deepEqual(await ids('?categoryId=3&id=4&id=1'), [4]);
  assert.deepEqual(
    (await pages('/pets?categoryId=3&limit=2')).map((page) => page.map(({ id }) => id)),
    [[4, 3], [2]],
  );
  const changed = await send('PATCH', '/pets/2', '{"name":"Boo","status":"sold"}');
  assert.equal(changed.text, byAda('"id":2,"name":"Boo","categoryId":3,"status":"sold"'));
  const without = await send('PATCH', '/pets/2', '{"status":null}');
  assert.equal(without.text, byAda('"id":2,"name":"Boo","categoryId":3'));
  assert.equal((await ask('/pets/2')).text, without.text);
  assert.equal((await ask('/pets?id=2')).text, `[${without.text}]`);
  assertError(await send('PATCH', '/pets/2', '{"name":" "}'), 'invalid_request');
  await its.issueKey({ account: 'shop' });
  await its.store.orders.create(CLIENT, 1, { petId: 1n });
  assertError(await send('PATCH', '/pets/1', '{"status":"sold"}'), 'conflict');
  assertError(await send('DELETE', '/pets/1'), 'conflict');
  assert.equal((await send('DELETE', '/pets/3')).status, 204);
  for (const [method, body] of [['GET'], ['DELETE'], ['PATCH', '{}']] as const)
    assertError(await send(method, '/pets/3', body), 'not_found');
  const [entry] = await read('/audit?limit=1');
  assert.deepEqual([entry.actor, entry.action], [{ kind: 'operator', name: 'ada' }, 'pets delete']);
});
