// Contract: section 13.
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { SCOPES } from '../../domain/scope.ts';
import { SECOND } from '../../domain/clock.ts';
import { PLANS } from '../../domain/plan.ts';
import { requireValue } from '../../../test/storage/fixture.ts';
import { STORES } from '../../../test/storage/stores.ts';
import { changeAccount, createAccount, ROOT } from '../../../test/support/store.ts';
import { test } from '../../../test/support/test.ts';
import { visibleStreams } from '../events/rules.ts';
import type { WebhookOwner } from './repository.ts';
import { LEASE, type Settlement } from './sending.ts';

const SECRET = `whsec_${'A'.repeat(43)}=`;

for (const [name, fresh] of STORES) {
  const prepare = async (t: TestContext) => {
    const fixture = await fresh(t);
    const { store } = fixture;
    const { webhooks, sending, events } = store;
    const account = await createAccount(store.accounts, 'shop', 'free', PLANS.free);
    const owner: WebhookOwner = { accountId: account.id, environment: 'production' };
    const add = async (settings: Partial<WebhookOwner> = {}) => {
      const url = 'https://shop.example/hook';
      const webhook = { ...owner, url, types: ['*'], scopes: SCOPES, secret: SECRET, createdBy: 1 } as const;
      return requireValue(await webhooks.create(ROOT, { ...webhook, ...settings })).id;
    };
    const get = async (id: number) => requireValue(await webhooks.get(id));
    const listActive = async () => (await sending.listActive()).map(({ id }) => id);
    /** The endpoints that an instance has now. */
    const listLeased = async (instance: string) => {
      const now = await sending.now();
      const active = await sending.listActive();
      return active
        .filter(({ sender, leasedUntil = 0 }) => sender === instance && leasedUntil > now)
        .map(({ id }) => id);
    };
    const attempt = (webhookId: number, eventId: bigint): Settlement['deliveries'][number] => ({
      webhookId,
      eventId,
      eventKey: `event ${eventId}`,
      type: 'pet.created',
      attempt: 1,
      at: 1_000,
      status: 'failed',
      failure: 'timeout',
      durationMs: 5,
    });
    /** What the instance `one` writes of an endpoint. */
    const describe = async (webhookId: number, changes: Partial<Settlement> = {}): Promise<Settlement> => {
      const { generation, place } = await get(webhookId);
      const nothing = { deliveries: [], open: [], closed: [], failingSince: undefined, disable: undefined };
      return { webhookId, instance: 'one', generation, place, ...nothing, prunes: false, ...changes };
    };
    const listDeliveries = async (id: number) =>
      requireValue(await webhooks.listDeliveries(id, owner, { limit: 100 })).items.map(
        ({ eventId }) => eventId,
      );
    const listOpen = async (id: number) =>
      (await sending.listDue(id, Number.MAX_SAFE_INTEGER, 100)).map(
        ({ eventId, attempts, dueAt }) => [eventId, attempts, dueAt] as const,
      );
    const countDisabled = async () => {
      await events.place();
      const streams = visibleStreams({ ...owner, scopes: SCOPES }, ['webhook.*']);
      return (await events.list({ streams, after: undefined, limit: 100 })).items.length;
    };
    return {
      ...fixture,
      webhooks,
      sending,
      owner,
      add,
      get,
      listActive,
      listLeased,
      attempt,
      describe,
      listDeliveries,
      listOpen,
      countDisabled,
    };
  };

  test(`${name}: a look reads what may have changed of an endpoint, and no more`, async (t) => {
    const { sending, add } = await prepare(t);
    const id = await add();
    await sending.lease('one');
    const [active] = await sending.listActive();
    assert.deepEqual(Object.keys(active ?? {}), ['id', 'generation', 'sender', 'leasedUntil']);
    assert.deepEqual([active?.id, active?.generation, active?.sender], [id, 1, 'one']);
  });

  test(`${name}: no two instances have one endpoint at once, and together they have all`, async (t) => {
    const { sending, another, store, owner, add, listLeased } = await prepare(t);
    const other = await createAccount(store.accounts, 'other', 'free', PLANS.free);
    const ids: number[] = [];
    for (let count = 0; count < 8; count++)
      ids.push(await add(), await add({ ...owner, accountId: other.id }));
    const instances = { one: sending, two: (await another()).sending, three: (await another()).sending };
    const leased = () => Promise.all(Object.keys(instances).map(listLeased));
    const leaseAll = () =>
      Promise.all(Object.entries(instances).map(([instance, { lease }]) => lease(instance)));
    for (let turn = 0; turn < 8; turn++) await leaseAll();
    const first = await leased();
    assert.deepEqual(
      first.flat().toSorted((one, next) => one - next),
      ids,
    );
    for (const { length } of first) assert.ok(length >= 3, `${length}`);
    // Others do not take what is renewed.
    await leaseAll();
    assert.deepEqual(await leased(), first);
  });

  test(`${name}: a lease that is not renewed is taken by another instance, and not before`, async (t) => {
    const { sending, add, listLeased, passTime } = await prepare(t);
    const id = await add();
    await sending.lease('one');
    await passTime(LEASE - SECOND);
    await sending.lease('two');
    assert.deepEqual([await listLeased('one'), await listLeased('two')], [[id], []]);
    await sending.lease('one');
    await passTime(SECOND);
    await sending.lease('two');
    assert.deepEqual([await listLeased('one'), await listLeased('two')], [[id], []]);
    await passTime(LEASE);
    await sending.lease('two');
    assert.deepEqual([await listLeased('one'), await listLeased('two')], [[], [id]]);
  });

  test(`${name}: an instance that stops frees its endpoints, and only those`, async (t) => {
    const { sending, add, listLeased } = await prepare(t);
    const first = await add();
    await sending.lease('one');
    const second = await add();
    await sending.lease('two');
    await sending.release('one');
    await sending.lease('three');
    assert.deepEqual(await listLeased('one'), []);
    assert.deepEqual(await listLeased('two'), [second]);
    assert.deepEqual(await listLeased('three'), [first]);
  });

  test(`${name}: disabled endpoints, those of suspended accounts and of other environments get nothing`, async (t) => {
    const { store, webhooks, owner, add, listActive, listLeased, sending } = await prepare(t);
    const other = await createAccount(store.accounts, 'other', 'free', PLANS.free);
    const id = await add();
    const disabled = await add();
    await add({ environment: 'staging' });
    const suspended = await add({ ...owner, accountId: other.id });
    requireValue(await webhooks.switch(ROOT, disabled, false));
    await changeAccount(store.accounts, other.id, { suspended: true });
    assert.deepEqual(await listActive(), [id]);
    await sending.lease('one');
    assert.deepEqual(await listLeased('one'), [id]);
    await changeAccount(store.accounts, other.id, { suspended: false });
    requireValue(await webhooks.switch(ROOT, disabled, true));
    assert.deepEqual(await listActive(), [id, disabled, suspended]);
  });

  test(`${name}: attempts, open events, place and failures of an endpoint are written together`, async (t) => {
    const { sending, add, get, describe, attempt, listOpen, listDeliveries } = await prepare(t);
    const id = await add();
    await sending.lease('one');
    const open = [
      { eventId: 3n, attempts: 1, dueAt: 7_000 },
      { eventId: 2n, attempts: 2, dueAt: 6_000 },
    ];
    const deliveries = [attempt(id, 2n), attempt(id, 3n)];
    await sending.settle([await describe(id, { place: 3n, failingSince: 5_000, deliveries, open })]);
    assert.deepEqual([(await get(id)).place, (await get(id)).failingSince], [3n, 5_000]);
    assert.deepEqual(await listDeliveries(id), ['event 3', 'event 2']);
    assert.deepEqual(await listOpen(id), [
      [2n, 2, 6_000],
      [3n, 1, 7_000],
    ]);
    assert.deepEqual(await sending.countOpen([id]), [{ webhookId: id, count: 2, dueAt: 6_000 }]);
    const again = [{ eventId: 3n, attempts: 2, dueAt: 9_000 }];
    await sending.settle([await describe(id, { closed: [2n], open: again })]);
    assert.deepEqual(await listOpen(id), [[3n, 2, 9_000]]);
    assert.equal((await get(id)).failingSince, undefined);
    assert.deepEqual(await sending.listDue(id, 8_999, 10), []);
  });

  test(`${name}: only the sender of the current form of an endpoint moves its place or disables it`, async (t) => {
    const { sending, add, get, describe, attempt, listOpen, listDeliveries } = await prepare(t);
    const id = await add();
    await sending.lease('one');
    const before = await get(id);
    const open = [{ eventId: 9n, attempts: 1, dueAt: 7_000 }];
    for (const [index, changes] of [
      { generation: before.generation - 1 },
      { instance: 'two' },
      { place: undefined },
    ].entries()) {
      const all = { place: 9n, failingSince: 5_000, disable: 'failing', open, ...changes } as const;
      await sending.settle([await describe(id, { ...all, deliveries: [attempt(id, 9n)] })]);
      assert.deepEqual(await get(id), before);
      // What was sent was sent, and what waits must not be lost.
      assert.equal((await listDeliveries(id)).length, index + 1);
      assert.deepEqual(await listOpen(id), [[9n, 1, 7_000]]);
    }
  });

  test(`${name}: an endpoint is disabled once, though several attempts say so`, async (t) => {
    const { sending, add, get, describe, countDisabled } = await prepare(t);
    const id = await add();
    await sending.lease('one');
    const gone = await describe(id, { disable: 'gone' });
    await sending.settle([gone]);
    await sending.settle([gone]);
    await sending.settle([await describe(id, { disable: 'failing' })]);
    assert.equal((await get(id)).disabledReason, 'gone');
    assert.equal(await countDisabled(), 1);
  });

  test(`${name}: what was sent to a webhook that was deleted meanwhile leaves nothing`, async (t) => {
    const { sending, webhooks, owner, add, get, describe, attempt, listOpen, listDeliveries } =
      await prepare(t);
    const [id, other] = [await add(), await add()];
    await sending.lease('one');
    const open = [{ eventId: 9n, attempts: 1, dueAt: 7_000 }];
    const settlements = await Promise.all(
      [other, id].map((webhookId) =>
        describe(webhookId, { place: 9n, open, deliveries: [attempt(webhookId, 9n)] }),
      ),
    );
    requireValue(await webhooks.remove(ROOT, id, owner));
    await sending.settle(settlements);
    assert.deepEqual(await listOpen(id), []);
    assert.equal((await get(other)).place, 9n);
    assert.deepEqual(await listDeliveries(other), ['event 9']);
  });
}
