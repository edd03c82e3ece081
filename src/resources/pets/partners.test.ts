// Contract: sections 2.8, 3.2, 3.9 to 3.11 and 5.2.
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Scope } from '../../domain/scope.ts';
import { type Answer, type Asked, assertError, call } from '../../../test/support/api.ts';
import { migratedPostgres } from '../../../test/support/migrated-postgres.ts';
import { startTestService, temporaryDatabase } from '../../../test/support/service.ts';
import { test } from '../../../test/support/test.ts';

const DATABASES: Readonly<Record<string, (t: TestContext) => string | Promise<string>>> = {
  SQLite: temporaryDatabase,
  PostgreSQL: migratedPostgres,
};

/** Every set of the scopes of the catalogue. The scope beside them lets a key have none of them. */
const SETS: readonly (readonly Scope[])[] = Array.from({ length: 8 }, (_, bits) => [
  'store:read',
  ...(['pets:read', 'pets:write', 'pets:manage'] as const).filter((_scope, index) => bits & (1 << index)),
]);

const ACCOUNTS = ['shelter', 'rescue'] as const;

type Account = (typeof ACCOUNTS)[number];

/** A service with keys of two accounts, each with animals, and animals of the house. */
async function prepare(t: TestContext, fresh: (typeof DATABASES)[string]) {
  // Before its database goes: what is registered first runs first.
  t.after(() => service.stop());
  const service = await startTestService(t, { databaseUrl: await fresh(t) });
  const openClient = async (account: Account, scopes?: readonly Scope[]) => {
    const key = await service.issueKey({ account, ...(scopes && { scopes }) });
    return (method: string, path: string, asked: Asked = {}): Promise<Answer> =>
      call(service.url, `/v1${path}`, { key, method, ...asked });
  };
  const [shelter, rescue] = [await openClient('shelter'), await openClient('rescue')];
  const addPet = async (owner: Account | 'house', animal: object = {}): Promise<number> => {
    const pet = { name: 'Rex', categoryId: 7, ...animal };
    if (owner === 'house') {
      const created = await service.store.pets.create(
        { kind: 'system', name: 'root' },
        {
          name: pet.name,
          categoryId: BigInt(pet.categoryId),
        },
      );
      assert.ok('value' in created);
      return Number(created.value.id);
    }
    return (await { shelter, rescue }[owner]('POST', '/pets', { body: JSON.stringify(pet) })).json.id;
  };
  let names = 0;
  const addCategory = async (): Promise<number> =>
    (await shelter('POST', '/categories', { body: `{"name":"Category ${names++}"}` })).json.id;
  return { service, openClient, shelter, rescue, addPet, addCategory };
}

for (const [name, fresh] of Object.entries(DATABASES)) {
  test(`${name}: what a key may do with the catalogue follows from its account and its scopes`, async (t) => {
    const { openClient, shelter, addPet, addCategory } = await prepare(t, fresh);
    let tried = 0;
    for (const scopes of SETS) {
      const [reads, writes, manages] = (['pets:read', 'pets:write', 'pets:manage'] as const).map((scope) =>
        scopes.includes(scope),
      ) as [boolean, boolean, boolean];
      if (manages && !writes) {
        const made = await shelter('POST', '/account/keys', { body: JSON.stringify({ scopes }) });
        assertError(made, 'invalid_request');
        assert.match(made.json.message, /pets:manage needs pets:write/);
        continue;
      }
      for (const caller of ACCOUNTS) {
        const send = await openClient(caller, scopes);
        const expect = async (
          what: string,
          answer: Answer,
          lacking: Scope | undefined,
          status: number,
        ): Promise<void> => {
          tried++;
          const where = `${caller} with ${scopes.join()}: ${what}`;
          if (lacking === undefined) return assert.equal(answer.status, status, `${where}: ${answer.text}`);
          assert.equal(answer.status, 403, where);
          assertError(answer, 'insufficient_scope');
          assert.match(answer.json.message, new RegExp(lacking), where);
          for (const account of ACCOUNTS) assert.ok(!answer.text.includes(account), where);
        };
        const write = writes ? undefined : 'pets:write';
        const manage = manages ? undefined : 'pets:manage';
        await expect('list', await send('GET', '/pets?mine=true'), reads ? undefined : 'pets:read', 200);
        await expect(
          'add',
          await send('POST', '/pets', { body: '{"name":"Bo","categoryId":7}' }),
          write,
          201,
        );
        const body = `{"name":"Of ${caller}, ${scopes.join()}"}`;
        await expect('add a category', await send('POST', '/categories', { body }), write, 201);
        const category = `/categories/${await addCategory()}`;
        await expect(
          'change a category',
          await send('PATCH', category, { body: '{"description":"x"}' }),
          manage,
          200,
        );
        await expect('delete a category', await send('DELETE', category), manage, 204);
        assert.equal((await shelter('GET', category)).status, manages ? 404 : 200);
        for (const owner of [...ACCOUNTS, 'house'] as const) {
          const path = `/pets/${await addPet(owner)}`;
          const before = await shelter('GET', path);
          const lacking = write ?? (owner === caller ? undefined : manage);
          await expect(
            `change of ${owner}`,
            await send('PATCH', path, { body: '{"name":"Max"}' }),
            lacking,
            200,
          );
          const changed = await shelter('GET', path);
          assert.equal(changed.json.name, lacking === undefined ? 'Max' : 'Rex');
          await expect(`delete of ${owner}`, await send('DELETE', path), lacking, 204);
          const after = await shelter('GET', path);
          if (lacking === undefined) assertError(after, 'not_found');
          else assert.equal(after.text, before.text);
        }
      }
    }
    assert.equal(tried, 6 * 2 * (5 + 3 * 2));
  });

  test(`${name}: a change of another's animal is checked in the order 404, 403, 412, 409, 400`, async (t) => {
    const { openClient, rescue, addPet } = await prepare(t, fresh);
    const [partner, owner] = [
      await openClient('rescue', ['pets:write']),
      await openClient('shelter', ['pets:write']),
    ];
    const path = `/pets/${await addPet('shelter', { status: 'available' })}`;
    assert.equal((await rescue('POST', '/store/orders', { body: `{"petId":${path.slice(6)}}` })).status, 201);
    const faulty = { body: '{"name":7,"status":"lost"}' };
    const stale = { headers: { 'if-match': '"other"' } };
    assertError(await partner('PATCH', '/pets/999999', { ...faulty, ...stale }), 'not_found');
    for (const refused of [
      await partner('PATCH', path, { ...faulty, ...stale }),
      await partner('PATCH', path, { body: 'no JSON' }),
      await partner('PATCH', path, { body: '{}' }),
      await partner('DELETE', path, stale),
      await partner('DELETE', path),
    ]) {
      assertError(refused, 'insufficient_scope');
      assert.equal(
        refused.json.message,
        'This animal is not of the account of the API key: use a key that has the scope pets:manage.',
      );
    }
    assertError(await owner('PATCH', path, { ...faulty, ...stale }), 'precondition_failed');
    assertError(await owner('DELETE', path, stale), 'precondition_failed');
    assertError(await owner('PATCH', path, faulty), 'conflict');
    assertError(await owner('DELETE', path), 'conflict');
    assertError(await owner('PATCH', path, { body: '{"name":7}' }), 'invalid_request');
  });

  test(`${name}: mine keeps the animals of the caller's account, with every other filter and in Link`, async (t) => {
    const { service, openClient, addPet } = await prepare(t, fresh);
    const ids: Record<string, number[]> = { shelter: [], rescue: [], house: [] };
    for (let index = 0; index < 12; index++)
      for (const owner of [...ACCOUNTS, 'house'] as const)
        ids[owner]?.unshift(
          await addPet(owner, { categoryId: index % 2, ...(index % 3 === 0 && { status: 'sold' }) }),
        );
    const reader = await openClient('rescue', ['pets:read']);
    const list = async (query: string) =>
      (await reader('GET', `/pets?limit=100&${query}`)).json.map(({ id }: { id: number }) => id);
    const mine = ids['rescue'] ?? [];
    const all = [...mine, ...(ids['shelter'] ?? []), ...(ids['house'] ?? [])].toSorted(
      (one, other) => other - one,
    );
    assert.deepEqual(await list('mine=true'), mine);
    // The first pages of all stay in memory.
    for (const query of ['', 'mine=false', 'mine=true', '']) {
      const { json, headers } = await reader('GET', `/pets?limit=3&${query}`);
      const expected = (query === 'mine=true' ? mine : all).slice(0, 3);
      assert.deepEqual(
        json.map(({ id }: { id: number }) => id),
        expected,
      );
      assert.equal(headers.get('link')?.includes('mine'), query === 'mine=true');
    }
    assert.deepEqual(
      await list('mine=true&status=sold'),
      mine.filter((_, index) => (11 - index) % 3 === 0),
    );
    assert.deepEqual(
      await list('mine=true&categoryId=1'),
      mine.filter((_, index) => (11 - index) % 2 === 1),
    );
    assert.deepEqual(
      await list('mine=true&categoryId=1&status=sold'),
      mine.filter((_, index) => (11 - index) % 6 === 3),
    );
    assert.deepEqual(await list(`mine=true&id=${mine[3]}&id=${ids['shelter']?.[0]}&id=${mine[1]}`), [
      mine[1],
      mine[3],
    ]);
    for (const filters of ['mine=true', 'categoryId=0&mine=true', 'status=sold&mine=true']) {
      const seen: number[] = [];
      for (let path: string | undefined = `/pets?limit=2&${filters}`; path !== undefined; ) {
        const { json, headers }: Answer = await reader('GET', path);
        seen.push(...json.map(({ id }: { id: number }) => id));
        const next = /^<([^>]+)>/.exec(headers.get('link') ?? '')?.[1];
        if (next !== undefined)
          assert.ok(next.startsWith(`${service.url}/v1/pets?limit=2&${filters}&cursor=`), next);
        path = next?.slice(`${service.url}/v1`.length);
      }
      assert.deepEqual(seen, await list(filters));
    }
    for (const fault of ['mine=', 'mine=1', 'mine=True', 'mine=true&mine=true'])
      assertError(await reader('GET', `/pets?${fault}`), 'invalid_parameter');
  });
}
