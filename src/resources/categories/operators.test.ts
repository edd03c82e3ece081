// Contract: section 10.2.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readPatch } from '../../domain/patch.ts';
import { STORES } from '../../../test/storage/stores.ts';
import { requireValue } from '../../../test/storage/fixture.ts';
import { assertError } from '../../../test/support/api.ts';
import { adminOf, startTestConsole } from '../../../test/support/console.ts';
import { CLIENT, ROOT } from '../../../test/support/store.ts';
import { CategoryPatch } from './schema.ts';

for (const [name, fresh] of STORES)
  test(`${name}: a category that an operator renames or deletes is in the audit log with its names`, async (t) => {
    const { categories, audit } = (await fresh(t)).store;
    const { id } = requireValue(await categories.create(CLIENT, { name: 'Dogs' }));
    const rename = (actor: typeof ROOT | typeof CLIENT, fields: object) =>
      categories.update(actor, id, readPatch(CategoryPatch, fields));
    await rename(ROOT, { name: 'Hounds', description: 'Large ones.' });
    // The first one changes nothing, and clients have no entry.
    await rename(ROOT, { name: 'Hounds' });
    await rename(CLIENT, { name: 'Puppies' });
    await categories.delete(CLIENT, requireValue(await categories.create(CLIENT, { name: 'Cats' })).id);
    await categories.delete(ROOT, id);
    assert.deepEqual(
      (await audit.list({ limit: 10 })).items.map(({ actor, action, target, before, after }) => ({
        actor,
        action,
        target,
        before,
        after,
      })),
      [
        {
          actor: ROOT,
          action: 'categories delete',
          target: { kind: 'category', name: 'Puppies' },
          before: { name: 'Puppies', description: 'Large ones.' },
          after: undefined,
        },
        {
          actor: ROOT,
          action: 'categories set',
          target: { kind: 'category', name: 'Dogs' },
          before: { name: 'Dogs', description: null },
          after: { name: 'Hounds', description: 'Large ones.' },
        },
      ],
    );
  });

test('operators add, rename and delete categories by the rules of the API', async (t) => {
  const { ask, get } = await adminOf(await startTestConsole(t));
  const send = (path: string, body: object, method = 'POST') =>
    ask(path, { method, body: JSON.stringify(body) });
  assert.equal((await send('/categories', { name: 'Dogs' })).text, '{"id":1,"name":"Dogs"}');
  await send('/categories', { name: 'Cats', description: 'Small ones.' });
  assertError(await send('/categories', { name: 'DOGS' }), 'conflict');
  assertError(await send('/categories/1', { name: 'cats' }, 'PATCH'), 'conflict');
  assertError(await send('/categories/9', { name: 'Birds' }, 'PATCH'), 'not_found');
  const renamed = await send('/categories/2', { name: 'Tigers', description: null }, 'PATCH');
  assert.equal(renamed.text, '{"id":2,"name":"Tigers"}');
  assert.deepEqual(await get('/categories'), [
    { id: 2, name: 'Tigers' },
    { id: 1, name: 'Dogs' },
  ]);
  assert.deepEqual(await get('/categories/1'), { id: 1, name: 'Dogs' });
  await send('/pets', { name: 'Rex', categoryId: 1 });
  assertError(await ask('/categories/1', { method: 'DELETE' }), 'conflict');
  assert.equal((await ask('/categories/2', { method: 'DELETE' })).status, 204);
  assertError(await ask('/categories/2', { method: 'DELETE' }), 'not_found');
  assert.deepEqual(await get('/categories'), [{ id: 1, name: 'Dogs' }]);
});
