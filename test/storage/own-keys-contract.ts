// Contract: section 3.14.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { type KeyRecord, SCOPES } from '../../src/domain/account.ts';
import type { OwnKeys } from '../../src/domain/account-ports.ts';
import { DAY, MINUTE } from '../../src/domain/clock.ts';
import { MOST_KEYS_A_DAY } from '../../src/domain/key-rules.ts';
import { PLANS } from '../../src/domain/plan.ts';
import type { Idempotency } from '../../src/domain/ports.ts';
import type { Store } from '../../src/resources/repositories.ts';
import { changeAccount } from '../support/store.ts';
import { type NewFixture, newKey, readOutcome, rotationOf, requireValue } from './fixture.ts';

const REVOKED = 'The API key has been revoked: use another one.';
const SUSPENDED = 'The account of this API key is suspended: ask the operator of this service.';
const EXPIRED = 'The API key has expired: use a newer one.';

function messageOf(result: object): unknown {
  return 'message' in result ? result.message : undefined;
}

const idIn = (result: Awaited<ReturnType<OwnKeys['create' | 'rotate']>>) =>
  Number(('value' in result ? result.value : undefined)?.id);

/** The keys of the account of `caller`, with `caller` as the actor. What the caller is, is what an instance knew of it. */
const ownKeys = ({ accounts }: Store, caller: KeyRecord): OwnKeys =>
  accounts.by({ kind: 'key', id: caller.id }).ownKeys(caller);

const create = (keys: OwnKeys, idempotency?: Idempotency) => keys.create(newKey(0), idempotency);

/** What the keys API of an account promises over any store, when keys change that other instances have in mind. */
export function ownKeysContract(name: string, fresh: NewFixture): void {
  /** An account with keys that manage keys, as two instances see them. */
  async function prepare(t: TestContext, { count = 2 } = {}) {
    const fixture = await fresh(t);
    const { store } = fixture;
    const { id: accountId } = await store.accounts.createAccount('acme', 'pro', PLANS.pro);
    const callers: KeyRecord[] = [];
    while (callers.length < count)
      callers.push(await store.accounts.addKey(newKey(accountId, { scopes: SCOPES })));
    const [caller, second] = callers;
    assert.ok(caller !== undefined && second !== undefined);
    const other = await fixture.another();
    return { ...fixture, store, other, accountId, caller, second };
  }

  for (const [change, message, make] of [
    ['revoked', REVOKED, ({ accounts }: Store, id: number) => accounts.revokeKey(id)],
    [
      'replaced without a grace',
      EXPIRED,
      async ({ accounts }: Store, id: number) => void (await accounts.rotateKey(rotationOf(id, 0))),
    ],
    [
      'suspended with its account',
      SUSPENDED,
      ({ accounts }: Store, _id: number, accountId: number) =>
        changeAccount(accounts, accountId, { suspended: true }),
    ],
  ] as const) {
    test(`${name}: a key that was ${change} elsewhere changes no key, whatever this instance knows of it`, async (t) => {
      const { store, other, accountId, caller, second } = await prepare(t);
      const repeated: Idempotency = {
        accountId,
        key: 'sha256 a',
        fingerprint: 'f',
        status: 201,
        location: '/account/keys/{id}',
      };
      const keys = ownKeys(store, caller);
      assert.equal(readOutcome(await create(keys, repeated)), 'done');
      await make(other, caller.id, accountId);
      const before = await store.accounts.listKeys();
      for (const refused of [
        await create(keys),
        await create(keys, repeated),
        await create(keys, { ...repeated, fingerprint: 'g', status: 201, location: '/account/keys/{id}' }),
        await create(keys, { ...repeated, key: 'sha256 b' }),
        await keys.rotate(rotationOf(second.id, 1_000), undefined),
        await keys.rotate(rotationOf(caller.id, 1_000), { ...repeated, key: 'sha256 c' }),
        await keys.rotate(rotationOf(999, 1_000), undefined),
        await keys.revoke(BigInt(second.id), undefined),
        await keys.revoke(BigInt(caller.id), undefined),
        await keys.revoke(999n, ['"a"']),
      ])
        assert.deepEqual([readOutcome(refused), messageOf(refused)], ['unauthorized', message]);
      assert.deepEqual(await store.accounts.listKeys(), before);
      if (message === SUSPENDED) await changeAccount(other.accounts, accountId, { suspended: false });
      assert.deepEqual(
        (await store.accounts.listKeys()).map(({ id, revokedAt }) => [id, revokedAt]),
        before.map(({ id, revokedAt }) => [id, revokedAt]),
      );
    });
  }

  test(`${name}: a key that expires meanwhile changes no key`, async (t) => {
    const { store, passTime, clock, accountId, second } = await prepare(t);
    const expiresAt = Math.floor(clock().unix) + MINUTE;
    const caller = await store.accounts.addKey(newKey(accountId, { scopes: SCOPES, expiresAt }));
    const keys = ownKeys(store, caller);
    assert.equal(readOutcome(await create(keys)), 'done');
    await passTime(MINUTE);
    for (const refused of [
      await create(keys),
      await keys.rotate(rotationOf(second.id, 0), undefined),
      await keys.revoke(BigInt(second.id), undefined),
    ])
      assert.deepEqual([readOutcome(refused), messageOf(refused)], ['unauthorized', EXPIRED]);
  });

  test(`${name}: an instance that refused a revoked key knows it as revoked from then on`, async (t) => {
    const { store, other, accountId } = await prepare(t);
    for (const use of [
      (keys: OwnKeys) => create(keys),
      (keys: OwnKeys) =>
        create(keys, {
          accountId,
          key: 'sha256 a',
          fingerprint: 'f',
          status: 201,
          location: '/account/keys/{id}',
        }),
      (keys: OwnKeys) => keys.rotate(rotationOf(1, 0), undefined),
      (keys: OwnKeys) => keys.revoke(1n, undefined),
    ]) {
      const { hash, ...settings } = newKey(accountId, { scopes: SCOPES });
      const { id } = await other.accounts.addKey({ hash, ...settings });
      const known = await store.accounts.findKeyByHash(hash);
      assert.ok(known !== undefined);
      await other.accounts.revokeKey(id);
      assert.equal(readOutcome(await use(ownKeys(store, known))), 'unauthorized');
      assert.notEqual((await store.accounts.findKeyByHash(hash))?.revokedAt, undefined);
    }
  });

  test(`${name}: no key that a key creates comes after its revocation, at whatever moment that comes`, async (t) => {
    const { store, other, accountId } = await prepare(t);
    for (let round = 0; round < 8; round++) {
      const caller = await store.accounts.addKey(newKey(accountId, { scopes: SCOPES }));
      const instances = [store, other].map((each) => ownKeys(each, caller));
      const requests = instances.flatMap((keys) => [create(keys), create(keys), create(keys)]);
      // Before any of them is done, after the first, or after the second.
      await requests[(round % 3) - 1];
      const revoked = other.accounts.revokeKey(caller.id);
      requests.push(...instances.flatMap((keys) => [create(keys), create(keys)]));
      await revoked;
      const late = await Promise.all(instances.map((keys) => create(keys)));
      assert.deepEqual(
        late.map((each) => readOutcome(each)),
        ['unauthorized', 'unauthorized'],
      );
      const codes = (await Promise.all(requests)).map((each) => readOutcome(each));
      const entries = (await store.audit.list({ limit: 100, accountId })).toSorted((a, b) => a.id - b.id);
      const end = entries.find(
        ({ action, target }) => action === 'keys revoke' && target.name === `${caller.id}`,
      );
      const made = entries.filter(({ actor }) => actor.kind === 'key' && actor.id === caller.id);
      assert.equal(made.length, codes.filter((code) => code === 'done').length);
      for (const { id } of made) assert.ok(id < (end?.id ?? 0));
      for (const key of await store.accounts.listKeys())
        if (key.id !== caller.id) await store.accounts.revokeKey(key.id);
    }
  });

  test(`${name}: of two keys that replace or revoke each other at once, one does, and neither waits for ever`, async (t) => {
    const { store, other, accountId } = await prepare(t);
    for (let round = 0; round < 10; round++) {
      const one = await store.accounts.addKey(newKey(accountId, { scopes: SCOPES }));
      const two = await store.accounts.addKey(newKey(accountId, { scopes: SCOPES }));
      const [ones, twos] = [ownKeys(store, one), ownKeys(other, two)];
      const outcomes =
        round % 2 === 0
          ? [ones.rotate(rotationOf(two.id, 0), undefined), twos.rotate(rotationOf(one.id, 0), undefined)]
          : [ones.revoke(BigInt(two.id), undefined), twos.revoke(BigInt(one.id), undefined)];
      assert.deepEqual(
        (await Promise.all<Awaited<(typeof outcomes)[number]>>(outcomes))
          .map((each) => readOutcome(each))
          .toSorted(),
        ['done', 'unauthorized'],
      );
      for (const { id } of await store.accounts.listKeys()) await store.accounts.revokeKey(id);
    }
  });

  test(`${name}: a key that was rotated creates and rotates none, and still lists and revokes`, async (t) => {
    const { store, other, caller, second } = await prepare(t);
    const next = requireValue(await other.accounts.rotateKey(rotationOf(caller.id, DAY)));
    const keys = ownKeys(store, caller);
    for (const refused of [
      await create(keys),
      await keys.rotate(rotationOf(second.id, 0), undefined),
      await keys.rotate(rotationOf(caller.id, 0), undefined),
      await keys.rotate(rotationOf(next.record.id, 0), undefined),
    ]) {
      assert.equal(readOutcome(refused), 'insufficient_scope');
      assert.equal(
        messageOf(refused),
        `Key ${caller.id} was rotated into key ${next.record.id}, so it can no longer create or rotate keys: use key ${next.record.id}, or another key with keys:manage.`,
      );
    }
    assert.equal((await store.accounts.listKeys()).length, 3);
    assert.equal(readOutcome(await keys.revoke(BigInt(second.id), undefined)), 'done');
    assert.equal(readOutcome(await keys.revoke(BigInt(caller.id), undefined)), 'done');
    assert.equal(readOutcome(await create(ownKeys(store, next.record))), 'done');
  });

  test(`${name}: keys of an account create at most 100 keys in a UTC day, in both environments, and more from midnight on`, async (t) => {
    const { store, other, clock, passTime, accountId, caller } = await prepare(t);
    const { accounts } = store;
    const staging = await accounts.addKey(newKey(accountId, { scopes: SCOPES, environment: 'staging' }));
    const [keys, stagingKeys] = [ownKeys(store, caller), ownKeys(other, staging)];
    const repeated: Idempotency = {
      accountId,
      key: 'sha256 a',
      fingerprint: 'f',
      status: 201,
      location: '/account/keys/{id}',
    };
    let last = idIn(await create(keys, repeated));
    let created = 1;
    for (; created < MOST_KEYS_A_DAY / 2; created++)
      last = idIn(await keys.rotate(rotationOf(last, 0), undefined));
    let lastOfStaging = idIn(await create(stagingKeys));
    for (created++; created < MOST_KEYS_A_DAY - 1; created++)
      lastOfStaging = idIn(await stagingKeys.rotate(rotationOf(lastOfStaging, 0), undefined));
    // Neither creates a key, and operators are not limited.
    assert.equal(readOutcome(await create(keys, repeated)), 'replayed');
    assert.equal(readOutcome(await keys.rotate(rotationOf(999, 0), undefined)), 'not_found');
    await accounts.rotateKey(rotationOf((await accounts.addKey(newKey(accountId))).id, 0));
    const atOnce = await Promise.all([keys, stagingKeys, keys, stagingKeys].map((each) => create(each)));
    assert.deepEqual(atOnce.map((each) => readOutcome(each)).toSorted(), [
      'conflict',
      'conflict',
      'conflict',
      'done',
    ]);
    const midnight = new Date(Math.ceil(clock().unix / DAY) * DAY);
    for (const refused of [
      await create(keys),
      await create(stagingKeys, { ...repeated, key: 'sha256 b' }),
      await keys.rotate(rotationOf(last, 0), undefined),
    ]) {
      assert.equal(readOutcome(refused), 'conflict');
      assert.equal(
        messageOf(refused),
        `The account has created 100 keys in this UTC day: try again from ${midnight.toISOString()}.`,
      );
    }
    await accounts.addKey(newKey(accountId));
    assert.equal(readOutcome(await keys.revoke(BigInt(last), undefined)), 'done');
    const { id: strangerId } = await accounts.createAccount('other', 'pro', PLANS.pro);
    const stranger = await accounts.addKey(newKey(strangerId, { scopes: SCOPES }));
    assert.equal(readOutcome(await create(ownKeys(store, stranger))), 'done');

    await passTime(midnight.getTime() - Math.floor(clock().unix) - 1);
    assert.equal(readOutcome(await create(keys)), 'conflict');
    await passTime(1);
    assert.equal(readOutcome(await create(keys)), 'done');
  });
}
