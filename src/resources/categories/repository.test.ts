// Contract: sections 2.5 and 3.11.
import { STORES } from '../../../test/storage/stores.ts';
import { CLIENT, createAccount } from '../../../test/support/store.ts';
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { CategoryPatch } from './schema.ts';
import type { Patch } from '../../domain/patch.ts';
import { PLANS } from '../../domain/plan.ts';
import type { Idempotency } from '../../domain/idempotency.ts';
import { entityTag, toJson } from '../../domain/json.ts';
import { PATIENT_LOCKS, readOutcome, replayed, requireValue } from '../../../test/storage/fixture.ts';
import { refused } from '../../../test/storage/order-fixture.ts';
import { test } from '../../../test/support/test.ts';

/** A patch as the HTTP layer reads it. */
const patch = (fields: Partial<CategoryPatch>, issue?: string): Patch<CategoryPatch> => ({
  fields,
  names: Object.keys(fields),
  issue,
});

for (const [name, fresh] of STORES) {
  const prepare = async (t: TestContext) => {
    const fixture = await fresh(t, PATIENT_LOCKS);
    const { accounts, categories } = fixture.store;
    const { id: accountId } = await createAccount(accounts, 'mine', 'free', PLANS.free);
    const once: Idempotency = {
      accountId,
      key: 'sha256 order-1',
      fingerprint: 'a'.repeat(64),
      status: 201,
      location: '/categories/{id}',
    };
    const add = async (its: string) => requireValue(await categories.create(CLIENT, { name: its }));
    const list = async (limit = 100, cursor?: bigint) => {
      const { items, next } = await categories.list({ limit, cursor });
      return { names: items.map((each) => each.name), next };
    };
    return { ...fixture, categories, once, add, list };
  };

  test(`${name}: a category that was added is in every get and list`, async (t) => {
    const { categories, list } = await prepare(t);
    const created = await categories.create(CLIENT, { name: ' Dogs 🐶', description: '' });
    const { id } = requireValue(created);
    const category = { id, name: ' Dogs 🐶', description: '' };
    assert.deepEqual(created, { value: category });
    assert.deepEqual(await categories.get(id), created);
    assert.deepEqual((await categories.list({ limit: 1 })).items, [category]);
    assert.deepEqual(await categories.get(id + 1n), { error: 'not_found' });
    assert.deepEqual(await list(), { names: [' Dogs 🐶'], next: undefined });
  });

  test(`${name}: categories are listed newest first, in pages`, async (t) => {
    const { add, list } = await prepare(t);
    for (const each of ['a', 'b', 'c', 'd', 'e']) await add(each);
    const first = await list(2);
    const second = await list(2, first.next);
    const third = await list(2, second.next);
    assert.deepEqual([first.names, second.names, third.names], [['e', 'd'], ['c', 'b'], ['a']]);
    assert.equal(third.next, undefined);
    assert.equal((await list(5)).next, undefined);
  });

  test(`${name}: a name that differs in case or composition only is taken`, async (t) => {
    const { categories, add, list } = await prepare(t);
    const pairs = [
      ['Straße', 'STRASSE'],
      ['GROẞ', 'groß'],
      ['İzmir', 'i̇zmir'],
      ['Σίσυφος', 'ΣΊΣΥΦΟΣ'],
      ['\u00e9', 'E\u0301'],
      ['Dogs', 'dOGS'],
    ] as const;
    for (const [first, second] of pairs) {
      const { id } = await add(first);
      assert.deepEqual(await categories.create(CLIENT, { name: second }), refused('conflict'), second);
      // Its own name in another case is free.
      assert.ok('value' in (await categories.update(CLIENT, id, patch({ name: second }), undefined)), second);
      assert.deepEqual(await categories.create(CLIENT, { name: first }), refused('conflict'), first);
    }
    assert.deepEqual(
      (await list()).names.toReversed(),
      pairs.map(([, second]) => second),
    );
    for (const each of ['Dogs ', ' Dogs', 'Dög', 'e']) await add(each);
  });

  test(`${name}: a refused name takes no id`, async (t) => {
    const { categories, add } = await prepare(t);
    const { id } = await add('Dogs');
    for (let times = 0; times < 3; times++)
      assert.deepEqual(await categories.create(CLIENT, { name: 'DOGS' }), refused('conflict'));
    assert.equal((await add('Cats')).id, id + 1n);
  });

  test(`${name}: a patch changes what it names, and nothing else`, async (t) => {
    const { categories } = await prepare(t);
    const { id } = requireValue(await categories.create(CLIENT, { name: 'Dogs', description: 'all' }));
    const change = async (fields: Partial<CategoryPatch>) => {
      const changed = await categories.update(CLIENT, id, patch(fields), undefined);
      assert.deepEqual(await categories.get(id), changed);
      return toJson(requireValue(changed));
    };
    assert.equal(await change({}), `{"id":${id},"name":"Dogs","description":"all"}`);
    assert.equal(await change({ name: 'Cats' }), `{"id":${id},"name":"Cats","description":"all"}`);
    assert.equal(await change({ description: 'few' }), `{"id":${id},"name":"Cats","description":"few"}`);
    assert.equal(await change({ description: null }), `{"id":${id},"name":"Cats"}`);
    assert.equal(readOutcome(await categories.create(CLIENT, { name: 'DOGS' })), 'done');
    assert.deepEqual(await categories.create(CLIENT, { name: 'CATS' }), refused('conflict'));
  });

  test(`${name}: a patch is checked in the order 404, 412, 409, 400`, async (t) => {
    const { categories, add } = await prepare(t);
    const [dogs, cats] = [await add('Dogs'), await add('Cats')];
    const taken = patch({ name: 'CATS' }, 'description must be a string.');
    const update = (id: bigint, its: Patch<CategoryPatch>, ...tags: string[]) =>
      categories.update(CLIENT, id, its, tags.length === 0 ? undefined : tags);
    const tag = entityTag(toJson(requireValue(await categories.get(dogs.id))));
    assert.deepEqual(await update(99n, taken, '"other"'), { error: 'not_found' });
    assert.deepEqual(await update(dogs.id, taken, '"other"'), { error: 'precondition_failed' });
    assert.deepEqual(await update(dogs.id, taken, '"other"', tag), { error: 'conflict' });
    const wrong = patch({ name: 'Wolves' }, 'description must be a string.');
    assert.deepEqual(await update(dogs.id, wrong, '*'), {
      error: 'invalid_request',
      message: wrong.issue,
    });
    assert.deepEqual(await categories.get(dogs.id), { value: { id: dogs.id, name: 'Dogs' } });
    assert.ok('value' in (await update(dogs.id, patch({ name: 'Wolves' }), tag)));
    assert.deepEqual(await update(dogs.id, patch({}), tag), { error: 'precondition_failed' });
    assert.deepEqual(await categories.get(cats.id), { value: { id: cats.id, name: 'Cats' } });
  });

  test(`${name}: of many creates and renames to one name at once, one is done`, async (t) => {
    const { store, another, add, list } = await prepare(t);
    const stores = [store, await another()];
    const ids: bigint[] = [];
    for (let i = 0; i < 8; i++) ids.push((await add(`category ${i}`)).id);
    for (let round = 0; round < 5; round++) {
      const called = (index: number) => (index % 2 === 0 ? `Round ${round}` : `ROUND ${round}`);
      const renamed = ids.map(async (id, index) => {
        const { categories } = stores[index % 2] ?? store;
        return 'value' in (await categories.update(CLIENT, id, patch({ name: called(index) }), undefined));
      });
      const created = ids.map(async (_, index) => {
        const { categories } = stores[index % 2] ?? store;
        return readOutcome(await categories.create(CLIENT, { name: called(index) })) === 'done';
      });
      const done = await Promise.all([...renamed, ...created]);
      assert.equal(done.filter(Boolean).length, 1);
      const names = (await list()).names.filter((each) => each.toLowerCase() === `round ${round}`);
      assert.equal(names.length, 1);
    }
  });

  test(`${name}: a repeated create gets its first answer; a refusal is not recorded`, async (t) => {
    const { categories, add, once } = await prepare(t);
    const { id } = await add('Dogs');
    assert.deepEqual(await categories.create(CLIENT, { name: 'dogs' }, once), refused('conflict'));
    await categories.update(CLIENT, id, patch({ name: 'Wolves' }), undefined);
    const first = await categories.create(CLIENT, { name: 'dogs' }, once);
    assert.equal(readOutcome(first), 'done');
    await categories.update(CLIENT, requireValue(first).id, patch({ name: 'Foxes' }), undefined);
    assert.deepEqual(await categories.create(CLIENT, { name: 'dogs' }, once), replayed(once, first));
    const other = await categories.create(CLIENT, { name: 'Cats' }, { ...once, fingerprint: 'b'.repeat(64) });
    assert.deepEqual(other, { error: 'idempotency_key_reused' });
  });

  test(`${name}: a category is deleted with an event, and its id is never used again`, async (t) => {
    const { categories, store, add } = await prepare(t);
    const [dogs, cats] = [await add('Dogs'), await add('Cats')];
    await categories.update(CLIENT, dogs.id, patch({ description: 'all' }), undefined);
    assert.deepEqual(await categories.delete(CLIENT, dogs.id), { value: undefined });
    assert.deepEqual(await categories.get(dogs.id), { error: 'not_found' });
    assert.deepEqual(await categories.delete(CLIENT, dogs.id), { error: 'not_found' });
    await store.events.findEnd();
    const events = await store.events.listAll({
      types: ['category.created', 'category.updated', 'category.deleted'],
      after: 0n,
      limit: 100,
    });
    assert.deepEqual(
      events
        .filter(({ data }) => data.includes('Dogs'))
        .map(({ type, version, data }) => [type, version, data]),
      [
        ['category.created', 1, toJson(dogs)],
        ['category.updated', 2, toJson({ ...dogs, description: 'all' })],
        ['category.deleted', 3, toJson({ ...dogs, description: 'all' })],
      ],
    );
    assert.equal(readOutcome(await categories.delete(CLIENT, cats.id)), 'done');
    assert.ok((await add('Dogs')).id > cats.id);
  });

  test(`${name}: a deletion is refused with 404, then 412, then 409 while an animal of any status is of the category`, async (t) => {
    const { categories, store, add } = await prepare(t);
    const { id } = await add('Dogs');
    const tag = entityTag(toJson(requireValue(await categories.get(id))));
    for (const status of [undefined, 'available', 'pending', 'sold'] as const) {
      const animal = { name: 'Rex', categoryId: id, ...(status && { status }) };
      const pet = requireValue(await store.pets.create(CLIENT, animal));
      assert.deepEqual(await categories.delete(CLIENT, id + 1n, ['"other"']), { error: 'not_found' });
      assert.deepEqual(await categories.delete(CLIENT, id, ['"other"']), { error: 'precondition_failed' });
      for (const ifMatch of [undefined, [tag], ['*']])
        assert.deepEqual(await categories.delete(CLIENT, id, ifMatch), { error: 'conflict' });
      await store.pets.delete(CLIENT, pet.id);
    }
    requireValue(await store.pets.create(CLIENT, { name: 'Rex', categoryId: id + 1n }));
    assert.deepEqual(await categories.get(id), { value: { id, name: 'Dogs' } });
    assert.deepEqual(await categories.delete(CLIENT, id, ['"other"', tag]), { value: undefined });
  });

  test(`${name}: a category is renamed or deleted at once, and deleted once`, async (t) => {
    const { store, another, add } = await prepare(t);
    const stores = [store, await another()];
    for (let round = 0; round < 10; round++) {
      const { id } = await add(`Dogs ${round}`);
      const [first, , second] = await Promise.all([
        stores[0]?.categories.delete(CLIENT, id),
        stores[1]?.categories.update(CLIENT, id, patch({ name: `Hounds ${round}` })),
        stores[1]?.categories.delete(CLIENT, id),
      ]);
      assert.equal([first, second].filter((result) => result && 'value' in result).length, 1);
      assert.deepEqual(await store.categories.get(id), { error: 'not_found' });
    }
  });

  test(`${name}: ids of categories ascend, and outlive a restart`, async (t) => {
    const { categories, add, reopen } = await prepare(t);
    const first = await add('Dogs');
    assert.deepEqual(await categories.create(CLIENT, { name: 'DOGS' }), refused('conflict'));
    const again = await reopen();
    const second = requireValue(await again.categories.create(CLIENT, { name: 'Cats' }));
    assert.ok(first.id > 0n && second.id > first.id);
    assert.deepEqual(await again.categories.get(first.id), { value: { id: first.id, name: 'Dogs' } });
  });
}
