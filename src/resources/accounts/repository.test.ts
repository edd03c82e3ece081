// Contract: sections 5, 6 and 8.
import { STORES } from '../../../test/storage/stores.ts';
import assert from 'node:assert/strict';
import type { KeyRecord } from '../../domain/account.ts';
import { ApiKeyHash } from '../../domain/api-key.ts';
import { findOrCreateAccount as accountFor } from '../keys/commands.ts';
import type { Page } from '../../domain/page.ts';
import { PLANS } from '../../domain/plan.ts';
import { list, newKey, readOutcome, REX, newApiKey, requireValue } from '../../../test/storage/fixture.ts';
import {
  CLIENT,
  changeAccount,
  ROOT,
  addKey,
  createAccount,
  findAccount,
  findKey,
  findOrCreateAccount,
} from '../../../test/support/store.ts';
import { test } from '../../../test/support/test.ts';

const OWN = { perMinute: 5_000, perDay: 1_000_000 };

for (const [name, fresh] of STORES) {
  test(`${name}: an account has a name, a plan and the plan's limits`, async (t) => {
    const { store, clock, another } = await fresh(t);
    const createdAt = Math.floor(clock().unix);
    const shelter = await createAccount(store.accounts, 'shelter', 'pro', PLANS.pro);
    const rest = { suspendedAt: undefined, createdAt, note: undefined };
    assert.deepEqual(shelter, { id: shelter.id, name: 'shelter', plan: 'pro', limits: PLANS.pro, ...rest });
    const zoo = await createAccount(store.accounts, 'zoo', 'enterprise', OWN);
    const { accounts } = await another();
    assert.deepEqual(await accounts.listAll(), [shelter, zoo]);
    assert.deepEqual(await findAccount(accounts, 'zoo'), {
      id: zoo.id,
      name: 'zoo',
      plan: 'enterprise',
      limits: OWN,
      ...rest,
    });
    assert.equal(await findAccount(accounts, 'zo'), undefined);
  });

  test(`${name}: a conflict undoes no concurrent write of others`, async (t) => {
    const { accounts, pets } = (await fresh(t)).store;
    const rivals = Promise.allSettled([
      createAccount(accounts, 'a', 'free', PLANS.free),
      createAccount(accounts, 'a', 'pro', PLANS.pro),
    ]);
    await Promise.all([
      createAccount(accounts, 'b', 'free', PLANS.free),
      pets.create(CLIENT, { name: 'Rex', categoryId: 1n }),
    ]);
    // Which of the two comes first is nobody's promise.
    const made = (await rivals).flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    assert.equal(made.length, 1);
    const listed = (await accounts.listAll()).toSorted((one, two) => (one.name < two.name ? -1 : 1));
    assert.deepEqual(listed[0], made[0]);
    assert.deepEqual(
      listed.map((account) => account.name),
      ['a', 'b'],
    );
    assert.equal((await list(pets, { limit: 5 })).length, 1);
  });

  test(`${name}: many callers of one new account at once all get the same account`, async (t) => {
    const { store, another } = await fresh(t);
    const other = await another();
    const plans = ['free', 'pro', 'business', 'enterprise'] as const;
    const found = await Promise.all(
      [...plans, ...plans].map((plan, index) =>
        findOrCreateAccount((index % 2 === 0 ? store : other).accounts, 'shelter', plan, OWN),
      ),
    );
    const [account] = await store.accounts.listAll();
    for (const each of found) assert.deepEqual(each, account);
    assert.equal((await store.accounts.listAll()).length, 1);
  });

  test(`${name}: two plans for one new account at once leave one refused`, async (t) => {
    const { store, another } = await fresh(t);
    const other = await another();
    const found = await Promise.all([
      accountFor(store.accounts, ROOT, 'shelter', 'pro', {}),
      accountFor(other.accounts, ROOT, 'shelter', 'business', {}),
    ]);
    const refusals = found.flatMap((result) => ('error' in result ? [result] : []));
    assert.deepEqual(
      refusals.map(({ error }) => error),
      ['conflict'],
    );
    assert.match(refusals[0]?.message ?? '', /The account shelter has plan (?:pro|business) with/);
    assert.equal((await store.accounts.listAll()).length, 1);
  });

  test(`${name}: an account changes its plan, to enterprise and back`, async (t) => {
    const { accounts } = (await fresh(t)).store;
    const { id } = await createAccount(accounts, 'shelter', 'free', PLANS.free);
    for (const [plan, limits] of [
      ['business', PLANS.business],
      ['enterprise', OWN],
      ['enterprise', { perMinute: 1, perDay: 2 }],
      ['free', PLANS.free],
    ] as const) {
      await changeAccount(accounts, id, { plan, limits });
      const account = await findAccount(accounts, 'shelter');
      assert.deepEqual([account?.id, account?.plan, account?.limits], [id, plan, limits]);
    }
  });

  test(`${name}: a key is the same by id, by hash and in the list`, async (t) => {
    const { store, clock } = await fresh(t);
    const { accounts, keys } = store;
    const {
      id,
      name: named,
      plan,
      limits,
      suspendedAt,
    } = await createAccount(accounts, 'shelter', 'pro', PLANS.pro);
    const account = { id, name: named, plan, limits, suspendedAt };
    const settings = {
      label: 'ci 🐕',
      scopes: ['pets:read'],
      expiresAt: 2e12,
    } as const;
    const issued = newKey(account.id, { key: newApiKey('staging'), ...settings });
    const key = await addKey(keys, issued);
    const createdAt = Math.floor(clock().unix);
    assert.deepEqual(key, {
      id: key.id,
      account,
      environment: 'staging',
      ...settings,
      createdAt,
      revokedAt: undefined,
      lastUsedAt: undefined,
      ending: issued.key.ending,
      rotatedTo: undefined,
    });
    assert.deepEqual(await findKey(keys, key.id), key);
    assert.deepEqual(await keys.findByHash(issued.key.hash()), key);
    assert.deepEqual(await keys.listAll(), [key]);
    assert.equal(await findKey(keys, key.id + 1), undefined);
    assert.equal(await keys.findByHash(new ApiKeyHash('0'.repeat(64))), undefined);
  });

  test(`${name}: a key without settings has both scopes, no label and no expiry`, async (t) => {
    const { accounts, keys } = (await fresh(t)).store;
    const { id } = await createAccount(accounts, 'shelter', 'free', PLANS.free);
    const { label, scopes, expiresAt } = await addKey(keys, newKey(id));
    assert.deepEqual(
      { label, scopes, expiresAt },
      { label: undefined, scopes: ['pets:read', 'pets:write'], expiresAt: undefined },
    );
  });

  test(`${name}: keys are listed in ascending order, of one account or of all`, async (t) => {
    const { accounts, keys } = (await fresh(t)).store;
    const a = await createAccount(accounts, 'a', 'free', PLANS.free);
    const b = await createAccount(accounts, 'b', 'free', PLANS.free);
    const added = [];
    for (const { id } of [a, b, a, b, a]) added.push(await addKey(keys, newKey(id)));
    assert.deepEqual(await keys.listAll(), added);
    assert.deepEqual(
      await keys.listAll({ accountId: b.id }),
      added.filter((key) => key.account.id === b.id),
    );
    assert.deepEqual(await keys.listAll({ accountId: b.id + 1 }), []);
  });

  test(`${name}: the keys of an environment come newest first, however many`, async (t) => {
    const { accounts, keys } = (await fresh(t)).store;
    const { id } = await createAccount(accounts, 'shelter', 'free', PLANS.free);
    const newestFirst: KeyRecord[] = [];
    for (let index = 0; index < 502; index++) {
      const environment = index === 250 ? 'staging' : 'production';
      newestFirst.unshift(await addKey(keys, newKey(id, { key: newApiKey(environment) })));
    }
    for (const environment of ['production', 'staging'] as const) {
      const expected = newestFirst.filter((key) => key.environment === environment);
      const pages: KeyRecord[] = [];
      for (let cursor: bigint | undefined; ; ) {
        const page: Page<KeyRecord> = await keys.list(environment, { limit: 500, cursor });
        pages.push(...page.items);
        if (page.next === undefined) break;
        cursor = page.next;
      }
      assert.deepEqual(pages, expected);
    }
  });

  test(`${name}: a rotation adds the new key and lets the old one expire`, async (t) => {
    const { store, clock, passTime } = await fresh(t);
    const { accounts, keys } = store;
    const { id } = await createAccount(accounts, 'shelter', 'free', PLANS.free);
    const old = await addKey(keys, newKey(id, { label: 'shop' }));
    await passTime(5);
    const createdAt = Math.floor(clock().unix);
    const key = newApiKey();
    const record = requireValue(await keys.rotate(ROOT, { id: old.id, key, grace: 1_000 }));
    assert.deepEqual(record, { ...old, id: record.id, createdAt, ending: key.ending });
    assert.deepEqual(await keys.findByHash(key.hash()), record);
    const before = { ...old, expiresAt: createdAt + 1_000, rotatedTo: record.id };
    assert.deepEqual(await keys.listAll(), [before, record]);
  });

  test(`${name}: of several rotations of one key at once, one is done`, async (t) => {
    const { store, another } = await fresh(t);
    const stores = [store, await another()];
    const { id } = await createAccount(store.accounts, 'shelter', 'free', PLANS.free);
    const old = await addKey(store.keys, newKey(id));
    const rotations = await Promise.all(
      [...stores, ...stores].map(({ keys }, index) =>
        keys.rotate(ROOT, { id: old.id, key: newApiKey(), grace: 1_000 + index }),
      ),
    );
    const done = rotations.flatMap((rotation, index) =>
      'value' in rotation ? [{ record: rotation.value, index }] : [],
    );
    const refused = rotations.flatMap((rotation) => ('error' in rotation ? [rotation.error] : []));
    assert.deepEqual(refused, ['conflict', 'conflict', 'conflict']);
    const [rotated, ...keys] = await store.keys.listAll();
    const [{ record, index } = assert.fail()] = done;
    assert.equal(rotated?.expiresAt, record.createdAt + 1_000 + index);
    assert.equal(rotated.rotatedTo, record.id);
    assert.deepEqual(keys, [record]);
  });

  test(`${name}: a revoked key is not rotated`, async (t) => {
    const { accounts, keys } = (await fresh(t)).store;
    const { id } = await createAccount(accounts, 'shelter', 'free', PLANS.free);
    const old = await addKey(keys, newKey(id));
    await keys.revoke(ROOT, old.id);
    assert.deepEqual(await keys.rotate(ROOT, { id: old.id, key: newApiKey(), grace: 1_000 }), {
      error: 'conflict',
      message: `Key ${old.id} is revoked: create a new one.`,
    });
    assert.equal((await keys.listAll()).length, 1);
  });

  test(`${name}: a rotation that fails changes neither key, and undoes no other write`, async (t) => {
    const { accounts, keys, pets } = (await fresh(t)).store;
    const { id } = await createAccount(accounts, 'shelter', 'free', PLANS.free);
    const taken = newKey(id);
    const old = await addKey(keys, taken);
    const [before, rotation, , after] = await Promise.allSettled([
      pets.create(CLIENT, REX),
      keys.rotate(ROOT, { id: old.id, key: taken.key, grace: 1_000 }),
      changeAccount(accounts, id, { plan: 'free', limits: PLANS.free }),
      pets.create(CLIENT, REX),
    ]);
    assert.deepEqual(
      [before, rotation, after].map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    );
    assert.equal((await list(pets, { limit: 5 })).length, 2);
    assert.deepEqual(await keys.listAll(), [old]);
    assert.deepEqual(await keys.findByHash(taken.key.hash()), old);
  });

  test(`${name}: an account has a note of up to 500 characters, and each change of it is audited`, async (t) => {
    const { accounts, audit } = (await fresh(t)).store;
    const { id } = requireValue(await accounts.create(ROOT, 'shelter', 'free', { note: 'Ask for Ada.' }));
    const note = `Zwei Zeilen:\n${'🐕'.repeat(487)}`;
    for (const wrong of [`${note}x`, 'a\0b', 'petstore_live_x'])
      assert.equal(readOutcome(await accounts.change(ROOT, id, { note: wrong })), 'invalid_request');
    const expected = { note: 'Ask for Ada.' };
    assert.equal(requireValue(await accounts.change(ROOT, id, { note, expected })).note, note);
    assert.equal(readOutcome(await accounts.change(ROOT, id, { note: '', expected })), 'precondition_failed');
    await accounts.change(ROOT, id, { note });
    await accounts.change(ROOT, id, { note: '' });
    assert.equal(requireValue(await accounts.get(id)).note, undefined);
    const entries = (await audit.list({ limit: 9, accountId: id })).items;
    assert.deepEqual(
      entries.map(({ action, before, after }) => [action, before, after]),
      [
        ['accounts set', { note }, { note: null }],
        ['accounts set', { note: 'Ask for Ada.' }, { note }],
        ['accounts create', undefined, { plan: 'free', note: 'Ask for Ada.' }],
      ],
    );
  });

  test(`${name}: accounts are listed by name or note, plan and state, in each order`, async (t) => {
    const { accounts, keys } = (await fresh(t)).store;
    for (const [index, [account, plan, note]] of [
      ['Zoo', 'pro', 'Übersicht'],
      ['barks', 'free', 'a zoo, too'],
      ['Änne', 'pro', ''],
    ].entries()) {
      await accounts.create(ROOT, String(account), plan as 'pro', { note });
      await addKey(keys, newKey(index + 1));
    }
    await accounts.change(ROOT, 3, { suspended: true });
    await keys.writeUses([
      [1, 7_000],
      [3, 9_000],
    ]);
    /** The ids of all pages, of one account each. */
    const walk = async (query: Omit<Parameters<typeof accounts.list>[0], 'limit'>): Promise<number[]> => {
      const { items, next } = await accounts.list({ ...query, limit: 1 });
      const ids = items.map(({ id }) => id);
      return next === undefined ? ids : [...ids, ...(await walk({ ...query, cursor: next }))];
    };
    assert.deepEqual(await walk({ search: 'zOO' }), [2, 1]);
    assert.deepEqual(await walk({ search: 'Über' }), [1]);
    assert.deepEqual(await walk({ search: 'äN' }), [3]);
    assert.deepEqual(await walk({ search: '%' }), []);
    assert.deepEqual(await walk({ plan: 'pro' }), [3, 1]);
    assert.deepEqual(await walk({ state: 'suspended' }), [3]);
    assert.deepEqual(await walk({ state: 'active', plan: 'pro' }), [1]);
    assert.deepEqual(await walk({ sort: 'created' }), [1, 2, 3]);
    assert.deepEqual(await walk({ sort: 'name' }), [2, 1, 3]);
    assert.deepEqual(await walk({ sort: '-name' }), [3, 1, 2]);
    assert.deepEqual(await walk({ sort: 'lastUsed' }), [2, 1, 3]);
    assert.deepEqual(await walk({ sort: '-lastUsed' }), [3, 1, 2]);
    assert.equal(await accounts.count({ plan: 'pro' }), 2);
    assert.equal(requireValue(await accounts.get(1)).lastUsedAt, 7_000);
    assert.equal(requireValue(await accounts.get(2)).lastUsedAt, undefined);
  });
}
