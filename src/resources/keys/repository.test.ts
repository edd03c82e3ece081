// Contract: section 3.14.
import { STORES } from '../../../test/storage/stores.ts';
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { KeyRecord } from '../../domain/account.ts';
import { SCOPES } from '../../domain/scope.ts';
import { DAY, MINUTE } from '../../domain/clock.ts';
import { PLANS } from '../../domain/plan.ts';
import type { Actor } from '../../domain/audit.ts';
import type { Idempotency } from '../../domain/idempotency.ts';
import { MOST_KEYS_A_DAY } from './rules.ts';
import type { Store } from '../repositories.ts';
import { addKey, changeAccount, createAccount, ROOT } from '../../../test/support/store.ts';
import { newApiKey, newKey, readOutcome, requireValue } from '../../../test/storage/fixture.ts';

const REVOKED = 'The API key has been revoked: use another one.';
const SUSPENDED = 'The account of this API key is suspended: ask the operator of this service.';
const EXPIRED = 'The API key has expired: use a newer one.';

function messageOf(result: object): unknown {
  return 'message' in result ? result.message : undefined;
}

const idIn = (result: Awaited<ReturnType<OwnKeys['create' | 'rotate']>>) =>
  'value' in result ? result.value.id : Number.NaN;

type OwnKeys = ReturnType<typeof ownKeys>;

/** The keys of the account of `caller`, with `caller` as the actor. */
function ownKeys({ keys }: Store, { id: callerId, account, environment }: KeyRecord) {
  const actor: Actor = { kind: 'key', id: callerId };
  return {
    create: (idempotency?: Idempotency) =>
      keys.create(actor, newKey(account.id, { key: newApiKey(environment) }), idempotency),
    rotate: (id: number, grace: number, idempotency?: Idempotency) =>
      keys.rotate(actor, { id, key: newApiKey(environment), grace }, idempotency),
    revoke: (id: number, ifMatch?: readonly string[]) => keys.revoke(actor, id, { ifMatch }),
  };
}

for (const [name, fresh] of STORES) {
  /** An account with keys that manage keys, as two instances see them. */
  async function prepare(t: TestContext, { count = 2 } = {}) {
    const fixture = await fresh(t);
    const { store } = fixture;
    const { id: accountId } = await createAccount(store.accounts, 'acme', 'pro', PLANS.pro);
    const callers: KeyRecord[] = [];
    while (callers.length < count)
      callers.push(await addKey(store.keys, newKey(accountId, { scopes: SCOPES })));
    const [caller, second] = callers;
    assert.ok(caller !== undefined && second !== undefined);
    const other = await fixture.another();
    return { ...fixture, store, other, accountId, caller, second };
  }

  for (const [change, message, make] of [
    ['revoked', REVOKED, async ({ keys }: Store, id: number) => void (await keys.revoke(ROOT, id))],
    [
      'replaced without a grace',
      EXPIRED,
      async ({ keys }: Store, id: number) =>
        void (await keys.rotate(ROOT, { id, key: newApiKey(), grace: 0 })),
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
      assert.equal(readOutcome(await keys.create(repeated)), 'done');
      await make(other, caller.id, accountId);
      const before = await store.keys.listAll();
      for (const refused of [
        await keys.create(),
        await keys.create(repeated),
        await keys.create({ ...repeated, fingerprint: 'g', status: 201, location: '/account/keys/{id}' }),
        await keys.create({ ...repeated, key: 'sha256 b' }),
        await keys.rotate(second.id, 1_000),
        await keys.rotate(caller.id, 1_000, { ...repeated, key: 'sha256 c' }),
        await keys.rotate(999, 1_000),
        await keys.revoke(second.id),
        await keys.revoke(caller.id),
        await keys.revoke(999, ['"a"']),
      ])
        assert.deepEqual([readOutcome(refused), messageOf(refused)], ['unauthorized', message]);
      assert.deepEqual(await store.keys.listAll(), before);
      if (message === SUSPENDED) await changeAccount(other.accounts, accountId, { suspended: false });
      assert.deepEqual(
        (await store.keys.listAll()).map(({ id, revokedAt }) => [id, revokedAt]),
        before.map(({ id, revokedAt }) => [id, revokedAt]),
      );
    });
  }

  test(`${name}: a key that expires meanwhile changes no key`, async (t) => {
    const { store, passTime, clock, accountId, second } = await prepare(t);
    const expiresAt = Math.floor(clock().unix) + MINUTE;
    const caller = await addKey(store.keys, newKey(accountId, { scopes: SCOPES, expiresAt }));
    const keys = ownKeys(store, caller);
    assert.equal(readOutcome(await keys.create()), 'done');
    await passTime(MINUTE);
    for (const refused of [
      await keys.create(),
      await keys.rotate(second.id, 0),
      await keys.revoke(second.id),
    ])
      assert.deepEqual([readOutcome(refused), messageOf(refused)], ['unauthorized', EXPIRED]);
  });

  test(`${name}: an instance that refused a revoked key knows it as revoked from then on`, async (t) => {
    const { store, other, accountId } = await prepare(t);
    for (const use of [
      (keys: OwnKeys) => keys.create(),
      (keys: OwnKeys) =>
        keys.create({
          accountId,
          key: 'sha256 a',
          fingerprint: 'f',
          status: 201,
          location: '/account/keys/{id}',
        }),
      (keys: OwnKeys) => keys.rotate(1, 0),
      (keys: OwnKeys) => keys.revoke(1),
    ]) {
      const settings = newKey(accountId, { scopes: SCOPES });
      const hash = settings.key.hash();
      const { id } = await addKey(other.keys, settings);
      const known = await store.keys.findByHash(hash);
      assert.ok(known !== undefined);
      await other.keys.revoke(ROOT, id);
      assert.equal(readOutcome(await use(ownKeys(store, known))), 'unauthorized');
      assert.notEqual((await store.keys.findByHash(hash))?.revokedAt, undefined);
    }
  });

  test(`${name}: no key that a key creates comes after its revocation, at whatever moment that comes`, async (t) => {
    const { store, other, accountId } = await prepare(t);
    for (let round = 0; round < 8; round++) {
      const caller = await addKey(store.keys, newKey(accountId, { scopes: SCOPES }));
      const instances = [store, other].map((each) => ownKeys(each, caller));
      const requests = instances.flatMap((keys) => [keys.create(), keys.create(), keys.create()]);
      // Before any of them is done, after the first, or after the second.
      await requests[(round % 3) - 1];
      const revoked = other.keys.revoke(ROOT, caller.id);
      requests.push(...instances.flatMap((keys) => [keys.create(), keys.create()]));
      await revoked;
      const late = await Promise.all(instances.map((keys) => keys.create()));
      assert.deepEqual(
        late.map((outcome) => readOutcome(outcome)),
        ['unauthorized', 'unauthorized'],
      );
      const codes = (await Promise.all(requests)).map((outcome) => readOutcome(outcome));
      const entries = (await store.audit.list({ limit: 100, accountId })).items.toSorted(
        (a, b) => a.id - b.id,
      );
      const end = entries.find(
        ({ action, target }) => action === 'keys revoke' && target.name === `${caller.id}`,
      );
      const made = entries.filter(({ actor }) => actor.kind === 'key' && actor.id === caller.id);
      assert.equal(made.length, codes.filter((code) => code === 'done').length);
      for (const { id } of made) assert.ok(id < (end?.id ?? 0));
      for (const key of await store.keys.listAll())
        if (key.id !== caller.id) await store.keys.revoke(ROOT, key.id);
    }
  });

  test(`${name}: of two keys that replace or revoke each other at once, one does, and neither waits for ever`, async (t) => {
    const { store, other, accountId } = await prepare(t);
    for (let round = 0; round < 10; round++) {
      const one = await addKey(store.keys, newKey(accountId, { scopes: SCOPES }));
      const two = await addKey(store.keys, newKey(accountId, { scopes: SCOPES }));
      const [ones, twos] = [ownKeys(store, one), ownKeys(other, two)];
      const outcomes =
        round % 2 === 0
          ? [ones.rotate(two.id, 0), twos.rotate(one.id, 0)]
          : [ones.revoke(two.id), twos.revoke(one.id)];
      assert.deepEqual(
        (await Promise.all<Awaited<(typeof outcomes)[number]>>(outcomes))
          .map((outcome) => readOutcome(outcome))
          .toSorted(),
        ['done', 'unauthorized'],
      );
      for (const { id } of await store.keys.listAll()) await store.keys.revoke(ROOT, id);
    }
  });

  test(`${name}: a key that was rotated creates and rotates none, and still lists and revokes`, async (t) => {
    const { store, other, caller, second } = await prepare(t);
    const next = requireValue(await other.keys.rotate(ROOT, { id: caller.id, key: newApiKey(), grace: DAY }));
    const keys = ownKeys(store, caller);
    for (const refused of [
      await keys.create(),
      await keys.rotate(second.id, 0),
      await keys.rotate(caller.id, 0),
      await keys.rotate(next.id, 0),
    ]) {
      assert.equal(readOutcome(refused), 'insufficient_scope');
      assert.equal(
        messageOf(refused),
        `Key ${caller.id} was rotated into key ${next.id}, so it can no longer create or rotate keys: use key ${next.id}, or another key with keys:manage.`,
      );
    }
    assert.equal((await store.keys.listAll()).length, 3);
    assert.equal(readOutcome(await keys.revoke(second.id)), 'done');
    assert.equal(readOutcome(await keys.revoke(caller.id)), 'done');
    assert.equal(readOutcome(await ownKeys(store, next).create()), 'done');
  });

  test(`${name}: keys of an account create at most 100 keys in a UTC day, in both environments, and more from midnight on`, async (t) => {
    const { store, other, clock, passTime, accountId, caller } = await prepare(t);
    const { accounts } = store;
    const staging = await addKey(
      store.keys,
      newKey(accountId, { scopes: SCOPES, key: newApiKey('staging') }),
    );
    const [keys, stagingKeys] = [ownKeys(store, caller), ownKeys(other, staging)];
    const repeated: Idempotency = {
      accountId,
      key: 'sha256 a',
      fingerprint: 'f',
      status: 201,
      location: '/account/keys/{id}',
    };
    let last = idIn(await keys.create(repeated));
    let created = 1;
    for (; created < MOST_KEYS_A_DAY / 2; created++) last = idIn(await keys.rotate(last, 0));
    let lastOfStaging = idIn(await stagingKeys.create());
    for (created++; created < MOST_KEYS_A_DAY - 1; created++)
      lastOfStaging = idIn(await stagingKeys.rotate(lastOfStaging, 0));
    // Neither creates a key, and operators are not limited.
    assert.equal(readOutcome(await keys.create(repeated)), 'conflict');
    assert.equal(readOutcome(await keys.rotate(999, 0)), 'not_found');
    const { id: extra } = await addKey(store.keys, newKey(accountId));
    await store.keys.rotate(ROOT, { id: extra, key: newApiKey(), grace: 0 });
    const atOnce = await Promise.all([keys, stagingKeys, keys, stagingKeys].map((each) => each.create()));
    assert.deepEqual(atOnce.map((outcome) => readOutcome(outcome)).toSorted(), [
      'conflict',
      'conflict',
      'conflict',
      'done',
    ]);
    const midnight = new Date(Math.ceil(clock().unix / DAY) * DAY);
    for (const refused of [
      await keys.create(),
      await stagingKeys.create({ ...repeated, key: 'sha256 b' }),
      await keys.rotate(last, 0),
    ]) {
      assert.equal(readOutcome(refused), 'conflict');
      assert.equal(
        messageOf(refused),
        `The account has created 100 keys in this UTC day: try again from ${midnight.toISOString()}.`,
      );
    }
    await addKey(store.keys, newKey(accountId));
    assert.equal(readOutcome(await keys.revoke(last)), 'done');
    const { id: strangerId } = await createAccount(accounts, 'other', 'pro', PLANS.pro);
    const stranger = await addKey(store.keys, newKey(strangerId, { scopes: SCOPES }));
    assert.equal(readOutcome(await ownKeys(store, stranger).create()), 'done');

    await passTime(midnight.getTime() - Math.floor(clock().unix) - 1);
    assert.equal(readOutcome(await keys.create()), 'conflict');
    await passTime(1);
    assert.equal(readOutcome(await keys.create()), 'done');
  });
}
