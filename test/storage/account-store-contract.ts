// Contract: sections 5, 6 and 8.
import assert from 'node:assert/strict';
import type { KeyRecord } from '../../src/domain/account.ts';
import { ApiKeyHash } from '../../src/domain/api-key.ts';
import { accountFor } from '../../src/management/accounts.ts';
import { PLANS } from '../../src/domain/plan.ts';
import { list, type NewFixture, newKey, REX, rotationOf, requireValue } from './fixture.ts';
import { changeAccount } from '../support/store.ts';
import { test } from '../support/test.ts';

const OWN = { perMinute: 5_000, perDay: 1_000_000 };

/** What the port AccountRepository promises. */
export function accountStoreContract(name: string, fresh: NewFixture): void {
  test(`${name}: an account has a name, a plan and the plan's limits`, async (t) => {
    const { store, another } = await fresh(t);
    const shelter = await store.accounts.createAccount('shelter', 'pro', PLANS.pro);
    const rest = { suspendedAt: undefined };
    assert.deepEqual(shelter, { id: shelter.id, name: 'shelter', plan: 'pro', limits: PLANS.pro, ...rest });
    const zoo = await store.accounts.createAccount('zoo', 'enterprise', OWN);
    const { accounts } = await another();
    assert.deepEqual(await accounts.listAccounts(), [shelter, zoo]);
    assert.deepEqual(await accounts.findAccount('zoo'), {
      id: zoo.id,
      name: 'zoo',
      plan: 'enterprise',
      limits: OWN,
      ...rest,
    });
    assert.equal(await accounts.findAccount('zo'), undefined);
  });

  test(`${name}: a conflict undoes no concurrent write of others`, async (t) => {
    const { accounts, pets } = (await fresh(t)).store;
    const rivals = Promise.allSettled([
      accounts.createAccount('a', 'free', PLANS.free),
      accounts.createAccount('a', 'pro', PLANS.pro),
    ]);
    await Promise.all([
      accounts.createAccount('b', 'free', PLANS.free),
      pets.create({ name: 'Rex', categoryId: 1n }),
    ]);
    // Which of the two comes first is nobody's promise.
    const made = (await rivals).flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    assert.equal(made.length, 1);
    const listed = (await accounts.listAccounts()).toSorted((one, two) => (one.name < two.name ? -1 : 1));
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
        (index % 2 === 0 ? store : other).accounts.findOrCreateAccount(
          'shelter',
          plan,
          plan === 'enterprise' ? OWN : PLANS[plan],
        ),
      ),
    );
    const [account] = await store.accounts.listAccounts();
    for (const each of found) assert.deepEqual(each, account);
    assert.equal((await store.accounts.listAccounts()).length, 1);
  });

  test(`${name}: two plans for one new account at once leave one refused`, async (t) => {
    const { store, another } = await fresh(t);
    const other = await another();
    const [first, second] = await Promise.allSettled([
      accountFor(store.accounts, 'shelter', 'pro', {}),
      accountFor(other.accounts, 'shelter', 'business', {}),
    ]);
    const refused = first.status === 'rejected' ? first : second;
    assert.ok(refused.status === 'rejected');
    assert.equal(refused.reason.code, 'conflict');
    assert.match(refused.reason.message, /The account shelter has plan (?:pro|business) with/);
    assert.equal((await store.accounts.listAccounts()).length, 1);
  });

  test(`${name}: an account changes its plan, to enterprise and back`, async (t) => {
    const { accounts } = (await fresh(t)).store;
    const { id } = await accounts.createAccount('shelter', 'free', PLANS.free);
    for (const [plan, limits] of [
      ['business', PLANS.business],
      ['enterprise', OWN],
      ['enterprise', { perMinute: 1, perDay: 2 }],
      ['free', PLANS.free],
    ] as const) {
      await changeAccount(accounts, id, { plan, limits });
      const account = { id, name: 'shelter', plan, limits, suspendedAt: undefined };
      assert.deepEqual(await accounts.findAccount('shelter'), account);
    }
  });

  test(`${name}: a key is the same by id, by hash and in the list`, async (t) => {
    const { store, clock } = await fresh(t);
    const { accounts } = store;
    const account = await accounts.createAccount('shelter', 'pro', PLANS.pro);
    const settings = {
      environment: 'staging',
      label: 'ci 🐕',
      scopes: ['pets:read'],
      expiresAt: 2e12,
    } as const;
    const asked = newKey(account.id, settings);
    const key = await accounts.addKey(asked);
    const createdAt = Math.floor(clock().unix);
    assert.deepEqual(key, {
      id: key.id,
      account,
      ...settings,
      createdAt,
      revokedAt: undefined,
      lastUsedAt: undefined,
      ending: asked.ending,
      rotatedTo: undefined,
    });
    assert.deepEqual(await accounts.findKey(key.id), key);
    assert.deepEqual(await accounts.findKeyByHash(asked.hash), key);
    assert.deepEqual(await accounts.listKeys(), [key]);
    assert.equal(await accounts.findKey(key.id + 1), undefined);
    assert.equal(await accounts.findKeyByHash(new ApiKeyHash('0'.repeat(64))), undefined);
  });

  test(`${name}: a key without settings has both scopes, no label and no expiry`, async (t) => {
    const { accounts } = (await fresh(t)).store;
    const { id } = await accounts.createAccount('shelter', 'free', PLANS.free);
    const { label, scopes, expiresAt } = await accounts.addKey(newKey(id));
    assert.deepEqual(
      { label, scopes, expiresAt },
      { label: undefined, scopes: ['pets:read', 'pets:write'], expiresAt: undefined },
    );
  });

  test(`${name}: keys are listed in ascending order, of one account or of all`, async (t) => {
    const { accounts } = (await fresh(t)).store;
    const a = await accounts.createAccount('a', 'free', PLANS.free);
    const b = await accounts.createAccount('b', 'free', PLANS.free);
    const keys = [];
    for (const { id } of [a, b, a, b, a]) keys.push(await accounts.addKey(newKey(id)));
    assert.deepEqual(await accounts.listKeys(), keys);
    assert.deepEqual(
      await accounts.listKeys({ accountId: b.id }),
      keys.filter((key) => key.account.id === b.id),
    );
    assert.deepEqual(await accounts.listKeys({ accountId: b.id + 1 }), []);
  });

  test(`${name}: the keys of an environment come newest first, however many`, async (t) => {
    const { accounts } = (await fresh(t)).store;
    const { id } = await accounts.createAccount('shelter', 'free', PLANS.free);
    const newestFirst: KeyRecord[] = [];
    for (let index = 0; index < 502; index++) {
      const environment = index === 250 ? 'staging' : 'production';
      newestFirst.unshift(await accounts.addKey(newKey(id, { environment })));
    }
    for (const environment of ['production', 'staging'] as const) {
      const keys = newestFirst.filter((key) => key.environment === environment);
      assert.deepEqual(await Array.fromAsync(accounts.keysOf(environment)), keys);
    }
  });

  test(`${name}: a rotation adds the new key and lets the old one expire`, async (t) => {
    const { store, clock } = await fresh(t);
    const { accounts } = store;
    const { id } = await accounts.createAccount('shelter', 'free', PLANS.free);
    const old = await accounts.addKey(newKey(id, { label: 'shop' }));
    clock.advance(5);
    const createdAt = Math.floor(clock().unix);
    const rotation = rotationOf(old.id, 1_000);
    const rotated = await accounts.rotateKey(rotation);
    const { record, replacedUntil } = requireValue(rotated);
    assert.equal(replacedUntil, createdAt + 1_000);
    assert.deepEqual(record, { ...old, id: record.id, createdAt, ending: rotation.ending });
    assert.deepEqual(await accounts.findKeyByHash(rotation.hash), record);
    const before = { ...old, expiresAt: replacedUntil, rotatedTo: record.id };
    assert.deepEqual(await accounts.listKeys(), [before, record]);
  });

  test(`${name}: of several rotations of one key at once, one is done`, async (t) => {
    const { store, another } = await fresh(t);
    const stores = [store, await another()];
    const { id } = await store.accounts.createAccount('shelter', 'free', PLANS.free);
    const old = await store.accounts.addKey(newKey(id));
    const rotations = await Promise.all(
      [...stores, ...stores].map(({ accounts }, index) =>
        accounts.rotateKey(rotationOf(old.id, 1_000 + index)),
      ),
    );
    const done = rotations.flatMap((rotation) => ('value' in rotation ? [rotation.value] : []));
    const refused = rotations.flatMap((rotation) => ('error' in rotation ? [rotation.error] : []));
    assert.deepEqual(refused, ['conflict', 'conflict', 'conflict']);
    const [rotated, ...keys] = await store.accounts.listKeys();
    assert.equal(rotated?.rotatedTo, done[0]?.record.id);
    assert.equal(rotated?.expiresAt, done[0]?.replacedUntil);
    assert.deepEqual(
      keys,
      done.map(({ record }) => record),
    );
  });

  test(`${name}: a revoked key is not rotated`, async (t) => {
    const { accounts } = (await fresh(t)).store;
    const { id } = await accounts.createAccount('shelter', 'free', PLANS.free);
    const old = await accounts.addKey(newKey(id));
    await accounts.revokeKey(old.id);
    assert.deepEqual(await accounts.rotateKey(rotationOf(old.id, 1_000)), {
      error: 'conflict',
      message: `Key ${old.id} is revoked: create a new one.`,
    });
    assert.equal((await accounts.listKeys()).length, 1);
  });

  test(`${name}: a rotation that fails changes neither key, and undoes no other write`, async (t) => {
    const { accounts, pets } = (await fresh(t)).store;
    const { id } = await accounts.createAccount('shelter', 'free', PLANS.free);
    const taken = newKey(id);
    const old = await accounts.addKey(taken);
    const [before, rotation, , after] = await Promise.allSettled([
      pets.create(REX),
      accounts.rotateKey({ ...rotationOf(old.id, 1_000), hash: taken.hash }),
      changeAccount(accounts, id, { plan: 'free', limits: PLANS.free }),
      pets.create(REX),
    ]);
    assert.deepEqual(
      [before, rotation, after].map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    );
    assert.equal((await list(pets, { limit: 5 })).length, 2);
    assert.deepEqual(await accounts.listKeys(), [old]);
    assert.deepEqual(await accounts.findKeyByHash(taken.hash), old);
  });
}
