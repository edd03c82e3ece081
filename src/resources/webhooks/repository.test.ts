// Contract: section 13.
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Actor } from '../../domain/audit.ts';
import { type Scope, SCOPES } from '../../domain/scope.ts';
import { DAY, HOUR, SECOND } from '../../domain/clock.ts';
import type { Idempotency } from '../../domain/idempotency.ts';
import { entityTag, toJson } from '../../domain/json.ts';
import type { Patch } from '../../domain/patch.ts';
import { PLANS } from '../../domain/plan.ts';
import { addPets, newApiKey, newKey, readOutcome, REX, requireValue } from '../../../test/storage/fixture.ts';
import { STORES } from '../../../test/storage/stores.ts';
import { addKey, createAccount, ROOT } from '../../../test/support/store.ts';
import { test } from '../../../test/support/test.ts';
import { visibleStreams } from '../events/rules.ts';
import { toWebhook, type NewWebhookRow, type WebhookOwner } from './repository.ts';
import { MOST_CHANGES_A_DAY, MOST_DELIVERIES, MOST_WEBHOOKS, REPLAY_INTERVAL } from './rules.ts';
import type { WebhookPatch } from './schema.ts';
import type { Settlement } from './sending.ts';

const KEY = { kind: 'key', id: 1 } as const;
const SECRETS = ['A', 'B', 'C'].map((letter) => `whsec_${letter.repeat(43)}=`);
const URL_WITH_TOKEN = 'https://shop.example/hook?token=hidden';

/** A patch as the HTTP layer reads it. */
const patch = (fields: Partial<WebhookPatch>, issue?: string): Patch<WebhookPatch> => ({
  fields,
  names: Object.keys(fields),
  issue,
});

for (const [name, fresh] of STORES) {
  const prepare = async (t: TestContext) => {
    const fixture = await fresh(t);
    const { store } = fixture;
    const { webhooks, events, sending } = store;
    const account = await createAccount(store.accounts, 'shop', 'free', PLANS.free);
    const owner: WebhookOwner = { accountId: account.id, environment: 'production' };
    assert.equal((await addKey(store.keys, newKey(account.id, { scopes: SCOPES }))).id, KEY.id);
    // No test replays the event of this key.
    await events.place();
    await fixture.passTime(DAY);
    const other = await createAccount(store.accounts, 'other', 'free', PLANS.free);
    const strangers: readonly WebhookOwner[] = [
      { ...owner, accountId: other.id },
      { ...owner, environment: 'staging' },
    ];
    const row = (settings: Partial<NewWebhookRow> = {}): NewWebhookRow => ({
      ...owner,
      url: URL_WITH_TOKEN,
      types: ['*'],
      scopes: SCOPES,
      secret: SECRETS[0] ?? '',
      createdBy: 1,
      ...settings,
    });
    const add = async (settings: Partial<NewWebhookRow> = {}) =>
      requireValue(await webhooks.create(KEY, row(settings)));
    const get = async (id: number) => requireValue(await webhooks.get(id));
    const change = (id: number, fields: Partial<WebhookPatch>, scopes: readonly Scope[] = SCOPES) =>
      webhooks.update(KEY, id, { owner, patch: patch(fields), scopes });
    /** Adds animals, and gives the places of their events. */
    const addEvents = async (count: number): Promise<readonly bigint[]> => {
      const { last: after } = await events.findBounds();
      await addPets(
        store.pets,
        Array.from({ length: count }, () => REX),
      );
      await events.place();
      const streams = visibleStreams({ ...owner, scopes: SCOPES }, ['pet.*']);
      return (await events.list({ streams, after, limit: 100 })).items.map(({ id }) => id);
    };
    /** Types and data of the events of the account, without those of animals. */
    const listEvents = async () => {
      await events.place();
      const streams = visibleStreams({ ...owner, scopes: SCOPES }, ['webhook.*']);
      const { items } = await events.list({ streams, after: undefined, limit: 100 });
      return items.map(({ type, data }) => [type, JSON.parse(data)]);
    };
    const listAudit = async () =>
      (await store.audit.list({ limit: 100 })).items
        .filter(({ target }) => target.kind === 'webhook')
        .toReversed();
    /** Writes what a sender did. It must have the lease. */
    const settle = async (webhookId: number, settlement: Partial<Settlement>) => {
      await sending.lease('sender');
      const { generation, place } = await get(webhookId);
      const nothing = { deliveries: [], open: [], closed: [], failingSince: undefined, disable: undefined };
      const defaults = { webhookId, instance: 'sender', generation, place, ...nothing, prunes: false };
      await sending.settle([{ ...defaults, ...settlement }]);
    };
    const attempt = (webhookId: number, eventId: bigint, status: 'succeeded' | 'failed' = 'succeeded') => ({
      webhookId,
      eventId,
      eventKey: `event ${eventId}`,
      type: 'pet.created',
      attempt: 1,
      at: 1_000,
      status,
      ...(status === 'failed' && { httpStatus: 503, failure: 'status' }),
      durationMs: 5,
    });
    return {
      ...fixture,
      webhooks,
      events,
      sending,
      owner,
      strangers,
      row,
      add,
      get,
      change,
      addEvents,
      listEvents,
      listAudit,
      settle,
      attempt,
    };
  };

  test(`${name}: a new webhook is listed without its secret, newest first, for its account and environment only`, async (t) => {
    const { webhooks, owner, strangers, add, clock } = await prepare(t);
    const first = await add({ types: ['order.*', 'pet.created'], description: 'The shop.' });
    const second = await add();
    assert.deepEqual(first, {
      id: first.id,
      url: URL_WITH_TOKEN,
      types: ['order.*', 'pet.created'],
      description: 'The shop.',
      enabled: true,
      disabledReason: undefined,
      createdAt: first.createdAt,
      createdBy: 1,
      missed: 0,
    });
    assert.ok(Math.abs(Date.parse(first.createdAt) - clock().unix) < 60_000, first.createdAt);
    assert.deepEqual((await webhooks.list(owner)).map(toWebhook), [second, first]);
    for (const stranger of strangers) {
      assert.deepEqual(await webhooks.list(stranger), []);
      assert.deepEqual(await webhooks.get(first.id, stranger), { error: 'not_found' });
    }
  });

  test(`${name}: a new webhook begins with what is committed after it`, async (t) => {
    const { addEvents, add, get, events, owner } = await prepare(t);
    const before = await addEvents(2);
    const { id } = await add();
    assert.equal((await get(id)).place, before.at(-1));
    const after = await addEvents(2);
    const streams = visibleStreams({ ...owner, scopes: SCOPES }, ['pet.*']);
    const page = await events.list({ streams, after: (await get(id)).place, limit: 10 });
    assert.deepEqual(
      page.items.map((event) => event.id),
      after,
    );
  });

  test(`${name}: an account has at most 10 webhooks in an environment, however many are added at once`, async (t) => {
    const { store, another, row, webhooks, owner } = await prepare(t);
    const stores = [store, await another()];
    const added = await Promise.all(
      Array.from({ length: 14 }, (_, index) =>
        (stores[index % 2] ?? store).webhooks.create(KEY, row()).then(readOutcome),
      ),
    );
    assert.equal(added.filter((outcome) => outcome === 'done').length, MOST_WEBHOOKS);
    assert.equal(added.filter((outcome) => outcome === 'conflict').length, 4);
    assert.equal(readOutcome(await webhooks.create(KEY, row({ environment: 'staging' }))), 'done');
    const [newest] = await webhooks.list(owner);
    await webhooks.remove(KEY, newest?.id ?? 0, owner);
    assert.equal(readOutcome(await webhooks.create(KEY, row())), 'done');
    assert.equal(readOutcome(await webhooks.create(KEY, row())), 'conflict');
  });

  test(`${name}: a repeated create gets its first answer, which has no secret`, async (t) => {
    const { webhooks, row, owner } = await prepare(t);
    const once: Idempotency = {
      accountId: owner.accountId,
      key: 'sha256 create',
      fingerprint: 'a'.repeat(64),
      status: 201,
      location: '/webhooks/{id}',
    };
    requireValue(await webhooks.create(KEY, row(), once));
    const repeated = await webhooks.create(KEY, row({ secret: SECRETS[1] ?? '' }), once);
    assert.equal(readOutcome(repeated), 'replayed');
    assert.doesNotMatch(JSON.stringify(repeated), /whsec_|secret/);
    assert.equal((await webhooks.list(owner)).length, 1);
  });

  test(`${name}: a patch changes what it names, and its sender learns of it`, async (t) => {
    const { add, get, change } = await prepare(t);
    const { id } = await add({ description: 'old' });
    const { generation } = await get(id);
    const changed = requireValue(
      await change(id, { url: 'https://new.example/', types: ['key.*'], description: 'new' }),
    );
    assert.deepEqual(changed, toWebhook(await get(id)));
    assert.deepEqual(
      [changed.url, changed.types, changed.description, changed.enabled],
      ['https://new.example/', ['key.*'], 'new', true],
    );
    assert.equal((await get(id)).generation, generation + 1);
    const without = requireValue(await change(id, { description: null }));
    assert.equal(without.description, undefined);
    assert.equal(without.url, 'https://new.example/');
  });

  test(`${name}: a patch that changes nothing writes nothing`, async (t) => {
    const { add, get, change, listAudit, listEvents } = await prepare(t);
    const { id, url } = await add();
    const before = await get(id);
    const audit = await listAudit();
    for (const fields of [{}, { url }, { types: ['*'] }, { enabled: true }, { description: null }])
      requireValue(await change(id, fields));
    assert.deepEqual(await get(id), before);
    assert.deepEqual(await listAudit(), audit);
    assert.deepEqual(await listEvents(), []);
  });

  test(`${name}: a key that changes the URL or the types lets a webhook see only what the key may see`, async (t) => {
    const { add, get, change } = await prepare(t);
    for (const fields of [{ url: 'https://new.example/' }, { types: ['pet.*'] }, { types: ['*'] }]) {
      const { id } = await add();
      await change(id, { description: 'x', enabled: false }, ['webhooks:manage']);
      assert.deepEqual((await get(id)).scopes, SCOPES);
      await change(id, fields, ['webhooks:manage']);
      assert.deepEqual((await get(id)).scopes, ['webhooks:manage']);
    }
  });

  test(`${name}: no write of webhooks is done for a key that has ended or lost the scope`, async (t) => {
    const { store, webhooks, owner, add, row, settle, attempt, addEvents, get, clock, passTime } =
      await prepare(t);
    const { id } = await add();
    const [place = 0n] = await addEvents(1);
    await settle(id, { place, deliveries: [attempt(id, place)] });
    const before = await get(id);
    const writes = (actor: Actor) => [
      webhooks.create(actor, row()),
      webhooks.update(actor, id, { owner, patch: patch({ url: 'https://new.example/' }), scopes: SCOPES }),
      webhooks.rotate(actor, id, owner, SECRETS[1] ?? ''),
      webhooks.replay(actor, id, owner, { since: 0, kept: DAY }),
      webhooks.redeliver(actor, id, owner, 1),
      webhooks.beginTest(actor, id, owner),
      webhooks.addTest(actor, attempt(id, 0n)),
      webhooks.remove(actor, id, owner),
    ];
    const caller = async (scopes = SCOPES, expiresAt?: number) =>
      (await addKey(store.keys, newKey(owner.accountId, { scopes, expiresAt }))).id;
    const revoked = await caller();
    await store.keys.revoke(ROOT, revoked);
    const rotated = await caller();
    requireValue(await store.keys.rotate(ROOT, { id: rotated, key: newApiKey(), grace: 0 }));
    const expired = await caller(SCOPES, Math.floor(clock().unix) + HOUR);
    await passTime(2 * HOUR);
    const without = await caller(SCOPES.filter((scope) => scope !== 'webhooks:manage'));
    for (const [keyId, code] of [
      [revoked, 'unauthorized'],
      [rotated, 'unauthorized'],
      [expired, 'unauthorized'],
      [without, 'insufficient_scope'],
    ] as const)
      for (const written of await Promise.all(writes({ kind: 'key', id: keyId })))
        assert.equal(readOutcome(written), code);
    assert.deepEqual(await get(id), before);
    assert.equal((await webhooks.list(owner)).length, 1);
  });

  test(`${name}: the keys of an account make at most 200 changes of webhooks in a UTC day`, async (t) => {
    const { store, webhooks, owner, add, row, settle, attempt, addEvents, get, change, clock, passTime } =
      await prepare(t);
    // Just after midnight.
    await passTime(DAY - (clock().unix % DAY) + HOUR);
    const { id } = await add();
    const [place = 0n] = await addEvents(1);
    await settle(id, { place, deliveries: [attempt(id, place)] });
    const { id: second } = await addKey(store.keys, newKey(owner.accountId, { scopes: SCOPES }));
    const other: Actor = { kind: 'key', id: second };
    const describe = (description: string, actor: Actor = KEY) =>
      webhooks.update(actor, id, { owner, patch: patch({ description }), scopes: SCOPES });
    for (let made = 1; made < MOST_CHANGES_A_DAY - 1; made++)
      requireValue(await describe(`x${made}`, made % 2 === 0 ? KEY : other));
    // One more is left, also for several at once.
    const atOnce = await Promise.all([KEY, other, KEY].map((actor, index) => describe(`y${index}`, actor)));
    assert.deepEqual(atOnce.map(readOutcome).toSorted(), ['conflict', 'conflict', 'done']);
    const before = await get(id);
    const entries = async () =>
      (await store.audit.list({ limit: 1_000, accountId: owner.accountId })).items.filter(
        ({ actor, target }) => actor.kind === 'key' && target.kind === 'webhook',
      ).length;
    assert.equal(await entries(), MOST_CHANGES_A_DAY);
    const midnight = new Date(Math.ceil(clock().unix / DAY) * DAY).toISOString();
    for (const refused of [
      await webhooks.create(KEY, row()),
      await webhooks.create(other, row()),
      await change(id, { enabled: false }),
      await webhooks.rotate(KEY, id, owner, SECRETS[1] ?? ''),
      await webhooks.replay(KEY, id, owner, { since: Math.floor(clock().unix) - HOUR, kept: DAY }),
      await webhooks.redeliver(KEY, id, owner, 1),
      await webhooks.beginTest(KEY, id, owner),
      await webhooks.remove(KEY, id, owner),
    ])
      assert.deepEqual(refused, {
        error: 'conflict',
        message: `The keys of the account have changed webhooks 200 times in this UTC day: try again from ${midnight}.`,
      });
    // A test that had begun is kept, and other refusals come first. What changes nothing, and an operator, is not limited.
    requireValue(await webhooks.addTest(KEY, attempt(id, 0n)));
    assert.equal(readOutcome(await webhooks.remove(KEY, 999, owner)), 'not_found');
    requireValue(await change(id, { description: before.description ?? '' }));
    assert.deepEqual(await get(id), before);
    assert.equal(await entries(), MOST_CHANGES_A_DAY);
    requireValue(await webhooks.switch(ROOT, id, false));
    requireValue(await store.keys.revoke(ROOT, second, { disablesWebhooks: true }));
    await passTime(DAY);
    requireValue(await change(id, { enabled: true }));
  });

  test(`${name}: a revocation disables the webhooks that the key added or last pointed somewhere, when it is told to`, async (t) => {
    const { store, webhooks, owner, row, change, get, listEvents } = await prepare(t);
    const { id: keyId } = await addKey(store.keys, newKey(owner.accountId, { scopes: SCOPES }));
    const key: Actor = { kind: 'key', id: keyId };
    const create = async (actor: Actor & { kind: 'key' }) =>
      requireValue(await webhooks.create(actor, row({ createdBy: actor.id }))).id;
    const [added, pointed, described, other] = [
      await create(key),
      await create(KEY),
      await create(KEY),
      await create(KEY),
    ];
    const by = (id: number, fields: Partial<WebhookPatch>) =>
      webhooks.update(key, id, { owner, patch: patch(fields), scopes: SCOPES });
    requireValue(await by(pointed, { url: 'https://new.example/' }));
    requireValue(await by(described, { description: 'Mine.', types: ['pet.*'], url: URL_WITH_TOKEN }));
    requireValue(await by(other, { url: 'https://new.example/' }));
    requireValue(await change(other, { url: URL_WITH_TOKEN }));
    const list = async () =>
      (await webhooks.listAll({ keyId, limit: 100, cursor: undefined })).items.map(({ id }) => id);
    assert.deepEqual(await list(), [pointed, added]);
    const states = async () =>
      Promise.all([added, pointed, described, other].map(async (id) => (await get(id)).disabledReason));
    requireValue(await store.keys.revoke(ROOT, keyId));
    assert.deepEqual(await states(), [undefined, undefined, undefined, undefined]);
    // A key that is revoked stays as it is; its webhooks need not.
    requireValue(await store.keys.revoke(ROOT, keyId, { disablesWebhooks: true }));
    assert.deepEqual(await states(), ['request', 'request', undefined, undefined]);
    requireValue(await store.keys.revoke(ROOT, keyId, { disablesWebhooks: true }));
    assert.equal((await listEvents()).length, 2);
    const { id: plain } = await addKey(
      store.keys,
      newKey(owner.accountId, { scopes: ['pets:read', 'keys:manage'] }),
    );
    const refused = await store.keys.revoke({ kind: 'key', id: plain }, KEY.id, { disablesWebhooks: true });
    assert.equal(readOutcome(refused), 'insufficient_scope');
    assert.equal(requireValue(await store.keys.find(KEY.id)).revokedAt, undefined);
    assert.deepEqual(await states(), ['request', 'request', undefined, undefined]);
  });

  test(`${name}: a patch is checked in the order 404, 412, 400`, async (t) => {
    const { webhooks, add, get, owner, strangers } = await prepare(t);
    const { id } = await add();
    const wrong = patch({ description: 'x' }, 'types must be an array.');
    const update = (by: WebhookOwner, ifMatch?: readonly string[]) =>
      webhooks.update(KEY, id, { owner: by, patch: wrong, scopes: SCOPES, ifMatch });
    const tag = entityTag(toJson(toWebhook(await get(id))));
    for (const stranger of strangers)
      assert.deepEqual(await update(stranger, ['"other"']), { error: 'not_found' });
    assert.deepEqual(await update(owner, ['"other"']), { error: 'precondition_failed' });
    assert.deepEqual(await update(owner, [tag]), { error: 'invalid_request', message: wrong.issue });
    assert.equal((await get(id)).description, undefined);
  });

  test(`${name}: a secret is rotated once in 24 hours, and the old one stays until then`, async (t) => {
    const { webhooks, add, get, owner, strangers, passTime } = await prepare(t);
    const [first = '', second = '', third = ''] = SECRETS;
    const { id } = await add();
    const rotate = (secret: string, by = owner) => webhooks.rotate(KEY, id, by, secret);
    for (const stranger of strangers)
      assert.deepEqual(await rotate(second, stranger), { error: 'not_found' });
    assert.deepEqual(requireValue(await rotate(second)), toWebhook(await get(id)));
    assert.deepEqual(await rotate(third), { error: 'conflict' });
    await passTime(DAY - 1_000);
    assert.deepEqual(await rotate(third), { error: 'conflict' });
    const { secret, oldSecret } = await get(id);
    assert.deepEqual([secret, oldSecret], [second, first]);
    await passTime(1_000);
    requireValue(await rotate(third));
    assert.equal((await get(id)).oldSecret, second);
  });

  test(`${name}: a webhook is deleted with its attempts and open events`, async (t) => {
    const { webhooks, sending, add, settle, attempt, addEvents, owner, strangers, listAudit } =
      await prepare(t);
    const { id } = await add();
    const kept = await add();
    const [event = 0n] = await addEvents(1);
    for (const webhookId of [id, kept.id])
      await settle(webhookId, {
        deliveries: [attempt(webhookId, event, 'failed')],
        open: [{ eventId: event, attempts: 1, dueAt: 5 }],
      });
    for (const stranger of strangers)
      assert.deepEqual(await webhooks.remove(KEY, id, stranger), { error: 'not_found' });
    assert.deepEqual(await webhooks.remove(KEY, id, owner, ['"other"']), { error: 'precondition_failed' });
    requireValue(await webhooks.remove(KEY, id, owner));
    assert.deepEqual(await webhooks.remove(KEY, id, owner), { error: 'not_found' });
    assert.deepEqual(await sending.countOpen([id, kept.id]), [{ webhookId: kept.id, count: 1, dueAt: 5 }]);
    assert.equal((await listAudit()).at(-1)?.action, 'webhooks delete');
    const query = { limit: 10 };
    assert.deepEqual(await webhooks.listDeliveries(id, owner, query), { error: 'not_found' });
    assert.equal(requireValue(await webhooks.listDeliveries(kept.id, owner, query)).items.length, 1);
  });

  test(`${name}: attempts are listed newest first, in pages, by status, for their account only`, async (t) => {
    const { webhooks, add, settle, attempt, owner, strangers } = await prepare(t);
    const { id } = await add();
    const second = await add();
    const statuses = ['succeeded', 'failed', 'failed', 'succeeded'] as const;
    await settle(id, { deliveries: statuses.map((status, index) => attempt(id, BigInt(index + 1), status)) });
    await settle(second.id, { deliveries: [attempt(second.id, 9n)] });
    const list = async (query: object, by: WebhookOwner | undefined = owner) => {
      const page = requireValue(await webhooks.listDeliveries(id, by, { limit: 10, ...query }));
      return { events: page.items.map(({ eventId }) => eventId), next: page.next };
    };
    const first = await list({ limit: 3 });
    assert.deepEqual(first.events, ['event 4', 'event 3', 'event 2']);
    assert.deepEqual((await list({ limit: 3, cursor: first.next })).events, ['event 1']);
    assert.deepEqual((await list({ status: 'failed' }, undefined)).events, ['event 3', 'event 2']);
    assert.deepEqual((await list({ status: 'succeeded' })).events, ['event 4', 'event 1']);
    for (const stranger of strangers)
      assert.deepEqual(await webhooks.listDeliveries(id, stranger, { limit: 10 }), { error: 'not_found' });
    const { items } = requireValue(await webhooks.listDeliveries(id, owner, { limit: 10, status: 'failed' }));
    assert.deepEqual(items[0], {
      id: items[0]?.id,
      eventId: 'event 3',
      type: 'pet.created',
      attempt: 1,
      at: '1970-01-01T00:00:01.000Z',
      status: 'failed',
      httpStatus: 503,
      failure: 'status',
      durationMs: 5,
    });
  });

  test(`${name}: the newest 10,000 attempts are kept, also when only tests are sent`, async (t) => {
    const { webhooks, add, settle, attempt, owner } = await prepare(t);
    const { id } = await add();
    const some = Array.from({ length: 1_001 }, (_, index) => attempt(id, BigInt(index + 1)));
    for (let written = 0; written < 10; written++) await settle(id, { deliveries: some });
    const list = async (cursor?: bigint) =>
      requireValue(await webhooks.listDeliveries(id, owner, { limit: 1, cursor })).items[0]?.id;
    const newest = requireValue(await webhooks.addTest(KEY, { ...attempt(id, 0n), type: 'webhook.test' }));
    assert.equal(await list(), newest.id);
    const oldest = newest.id - MOST_DELIVERIES + 1;
    assert.equal(await list(BigInt(oldest + 1)), oldest);
    assert.equal(await list(BigInt(oldest)), undefined);
  });

  test(`${name}: the test of a webhook that is deleted meanwhile leaves nothing`, async (t) => {
    const { webhooks, add, attempt, owner, listAudit } = await prepare(t);
    const { id } = await add();
    requireValue(await webhooks.remove(KEY, id, owner));
    assert.deepEqual(await webhooks.addTest(KEY, attempt(id, 0n)), { error: 'not_found' });
    assert.equal((await listAudit()).length, 2);
  });

  test(`${name}: a redelivery makes its event due now, with all attempts`, async (t) => {
    const { webhooks, sending, add, get, settle, attempt, addEvents, owner, strangers } = await prepare(t);
    const { id } = await add();
    const [event = 0n, done = 0n] = await addEvents(2);
    await settle(id, {
      place: done,
      deliveries: [attempt(id, event, 'failed'), attempt(id, done)],
      open: [{ eventId: event, attempts: 7, dueAt: (await sending.now()) + DAY }],
    });
    const { items } = requireValue(await webhooks.listDeliveries(id, owner, { limit: 10 }));
    const { generation } = await get(id);
    for (const delivery of items) {
      for (const stranger of strangers)
        assert.deepEqual(await webhooks.redeliver(KEY, id, stranger, delivery.id), { error: 'not_found' });
      assert.deepEqual(await webhooks.redeliver(KEY, id, owner, delivery.id), { value: delivery });
    }
    const due = await sending.listDue(id, (await sending.now()) + HOUR, 10);
    assert.deepEqual(
      due
        .map(({ eventId, attempts }) => [eventId, attempts])
        .toSorted(([one], [two]) => Number(one) - Number(two)),
      [
        [event, 0],
        [done, 0],
      ],
    );
    assert.ok((await get(id)).generation > generation);
    const second = await add();
    assert.deepEqual(await webhooks.redeliver(KEY, second.id, owner, items[0]?.id ?? 0), {
      error: 'not_found',
    });
  });

  test(`${name}: what is no longer kept, and a test, is not delivered again`, async (t) => {
    const { webhooks, events, add, settle, attempt, addEvents, owner, passTime } = await prepare(t);
    const { id } = await add();
    const [event = 0n] = await addEvents(1);
    await settle(id, { place: event, deliveries: [attempt(id, event)] });
    requireValue(await webhooks.addTest(KEY, { ...attempt(id, 0n), type: 'webhook.test' }));
    await passTime(31 * DAY);
    await events.prune(30 * DAY);
    const { items } = requireValue(await webhooks.listDeliveries(id, owner, { limit: 10 }));
    assert.equal(items.length, 2);
    for (const delivery of items)
      assert.deepEqual(await webhooks.redeliver(KEY, id, owner, delivery.id), { error: 'gone' });
  });

  test(`${name}: an endpoint begins with what is committed after it was added, also while events wait for their places`, async (t) => {
    const { store, events, add, get } = await prepare(t);
    await addPets(store.pets, [REX, REX]);
    const { id } = await add({ types: ['pet.*'] });
    const [pet] = await addPets(store.pets, [{ ...REX, name: 'Max' }]);
    await events.place();
    const { place: after, ...viewer } = await get(id);
    const page = await events.list({ streams: visibleStreams(viewer, viewer.types), after, limit: 100 });
    assert.deepEqual(
      page.items.map(({ data }) => data),
      [toJson(pet)],
    );
  });

  test(`${name}: a change of the types ends the choice before where it was made, also while events wait for their places`, async (t) => {
    const { store, events, add, get, change } = await prepare(t);
    const { id } = await add({ types: ['pet.*'] });
    const { place } = await get(id);
    await addPets(store.pets, [REX]);
    requireValue(await change(id, { types: ['pet.created', 'order.*'] }));
    await events.place();
    const { last } = await events.findBounds();
    const changed = await get(id);
    assert.equal(changed.place, place);
    assert.deepEqual(changed.formerChoices, [{ to: String(last), types: ['pet.*'], scopes: SCOPES }]);
    // The same types, and the same scopes.
    requireValue(await change(id, { url: 'https://other.example/hook' }));
    assert.deepEqual((await get(id)).formerChoices, changed.formerChoices);
  });

  test(`${name}: a replay since now sends nothing that was committed before, also while events wait for their places`, async (t) => {
    const { store, webhooks, events, sending, add, get, owner, passTime } = await prepare(t);
    const { id } = await add();
    await addPets(store.pets, [REX, REX]);
    await passTime(1_000);
    requireValue(await webhooks.replay(KEY, id, owner, { since: await sending.now(), kept: DAY }));
    await events.place();
    assert.equal((await get(id)).place, (await events.findBounds()).last);
  });

  test(`${name}: a replay moves the place back and forward, and open events stay`, async (t) => {
    const { webhooks, sending, add, get, settle, addEvents, owner, strangers, passTime } = await prepare(t);
    const { id } = await add();
    const { place: start } = await get(id);
    const [first = 0n] = await addEvents(1);
    await passTime(HOUR);
    const between = await sending.now();
    await passTime(HOUR);
    const [second = 0n] = await addEvents(1);
    await settle(id, { place: second, open: [{ eventId: first, attempts: 1, dueAt: 5 }] });
    const replay = (since: number, by: WebhookOwner | undefined = owner) =>
      webhooks.replay(KEY, id, by, { since, kept: 30 * DAY });
    const { generation } = await get(id);
    assert.deepEqual(requireValue(await replay(between)), toWebhook(await get(id)));
    assert.deepEqual([(await get(id)).place, (await get(id)).generation], [first, generation + 1]);
    await passTime(HOUR);
    requireValue(await replay(between - 2 * HOUR, undefined));
    assert.equal((await get(id)).place, start);
    await passTime(HOUR);
    requireValue(await replay(await sending.now()));
    assert.equal((await get(id)).place, second);
    assert.equal((await sending.countOpen([id]))[0]?.count, 1);
    for (const stranger of strangers)
      assert.deepEqual(await replay(between, stranger), { error: 'not_found' });
    const now = await sending.now();
    assert.deepEqual(await replay(now + HOUR), {
      error: 'invalid_request',
      message: 'since must not lie in the future.',
    });
    assert.deepEqual(await replay(now - 30 * DAY - HOUR), { error: 'gone' });
    assert.equal((await get(id)).place, second);
  });

  test(`${name}: a webhook is replayed once in 10 minutes, whoever asks and on whatever instance`, async (t) => {
    const { webhooks, sending, add, get, owner, another, passTime } = await prepare(t);
    const { id } = await add();
    const { id: other } = await add();
    const replaying = { since: await sending.now(), kept: DAY };
    const instances = [webhooks, (await another()).webhooks];
    const replayBoth = async (by: WebhookOwner | undefined = owner) =>
      Promise.all(instances.map((each) => each.replay(KEY, id, by, replaying)));
    const { generation } = await get(id);
    const both = await replayBoth();
    const refused = both.find((each) => 'error' in each);
    assert.deepEqual(refused, { error: 'rate_limit_exceeded', retryAfter: 600 });
    assert.equal(both.filter((each) => 'value' in each).length, 1);
    assert.equal((await get(id)).generation, generation + 1);
    requireValue(await webhooks.replay(KEY, other, owner, replaying));
    await passTime(REPLAY_INTERVAL - 5 * SECOND);
    for (const each of await replayBoth(undefined))
      assert.ok('error' in each && each.error === 'rate_limit_exceeded');
    await passTime(5 * SECOND);
    assert.equal((await replayBoth()).filter((each) => 'value' in each).length, 1);
  });

  test(`${name}: a replay that is refused is not counted`, async (t) => {
    const { webhooks, sending, add, owner } = await prepare(t);
    const { id } = await add();
    const now = await sending.now();
    const replay = (since: number) => webhooks.replay(KEY, id, owner, { since, kept: DAY });
    assert.ok('error' in (await replay(now + HOUR)));
    assert.ok('error' in (await replay(now - 2 * DAY)));
    requireValue(await replay(now));
  });

  test(`${name}: whoever disables an endpoint, its account is told once; enabling goes on from its place`, async (t) => {
    const { webhooks, add, get, change, settle, listEvents, listAudit } = await prepare(t);
    const disabled: object[] = [];
    const check = async (id: number, reason: string) => {
      const described = toWebhook(await get(id));
      assert.deepEqual([described.enabled, described.disabledReason], [false, reason]);
      disabled.push(JSON.parse(toJson(described)));
      assert.deepEqual(
        await listEvents(),
        disabled.map((webhook) => ['webhook.disabled', webhook]),
      );
    };
    const { id } = await add();
    const { place } = await get(id);
    requireValue(await change(id, { enabled: false }));
    requireValue(await change(id, { enabled: false, description: 'x' }));
    requireValue(await change(id, { description: null }));
    await check(id, 'request');
    assert.equal(requireValue(await webhooks.switch(ROOT, id, true)).enabled, true);
    requireValue(await webhooks.switch(ROOT, id, false));
    await check(id, 'request');
    requireValue(await change(id, { enabled: true }));
    await settle(id, { failingSince: 1_000, disable: 'failing' });
    await check(id, 'failing');
    assert.equal((await get(id)).failingSince, 1_000);
    requireValue(await change(id, { enabled: true }));
    assert.equal((await get(id)).failingSince, undefined);
    assert.equal((await get(id)).place, place);
    assert.deepEqual(
      (await listAudit()).map(({ action, actor }) => `${action} ${actor.kind}`),
      [
        'webhooks create key',
        'webhooks disable key',
        'webhooks update key',
        'webhooks update key',
        'webhooks enable system',
        'webhooks disable system',
        'webhooks enable key',
        'webhooks disable system',
        'webhooks enable key',
      ],
    );
    assert.deepEqual(await webhooks.switch(ROOT, 99, true), {
      error: 'not_found',
      message: 'There is no webhook 99.',
    });
  });

  test(`${name}: in a copy, every endpoint that was enabled is disabled, in all environments`, async (t) => {
    const { events, add, get, change, listEvents } = await prepare(t);
    const { id } = await add();
    const stopped = await add();
    const staging = await add({ environment: 'staging' });
    await change(stopped.id, { enabled: false });
    await events.beginFeed('0123456789ab');
    await events.beginFeed('0123456789ab');
    const reasons = await Promise.all([id, stopped.id, staging.id].map(get));
    assert.deepEqual(
      reasons.map(({ disabledReason }) => disabledReason),
      ['copied', 'request', 'copied'],
    );
    assert.equal((await listEvents()).length, 2);
  });

  test(`${name}: events that are deleted before an endpoint got them are missed`, async (t) => {
    const { add, get, change, settle, sending, events, addEvents, passTime } = await prepare(t);
    const pets = await add({ types: ['pet.*'] });
    const orders = await add({ types: ['order.*'] });
    const blind = await add({ types: ['pet.*'], scopes: ['webhooks:manage'] });
    const ready = await add({ types: ['pet.*'] });
    const places = await addEvents(4);
    const [first = 0n, second = 0n] = places;
    await settle(ready.id, { place: places.at(-1) ?? 0n });
    await settle(pets.id, { place: second, open: [{ eventId: first, attempts: 1, dueAt: 5 }] });
    await change(pets.id, { enabled: false });
    const before = await Promise.all([pets, orders, blind, ready].map(({ id }) => get(id)));
    await passTime(31 * DAY);
    const [kept = 0n] = await addEvents(1);
    await events.prune(30 * DAY);
    await events.prune(30 * DAY);
    const [missing, ...others] = await Promise.all([pets, orders, blind, ready].map(({ id }) => get(id)));
    // The open one, and two that its place had not passed.
    assert.equal(missing?.missed, 3);
    assert.ok((missing?.generation ?? 0) > (before[0]?.generation ?? 0));
    assert.deepEqual(await sending.countOpen([pets.id]), []);
    for (const [index, other] of others.entries())
      assert.deepEqual([other.missed, other.generation], [0, before[index + 1]?.generation]);
    for (const { place } of [...others, missing]) assert.ok(place !== undefined && place < kept);
    for (const { place } of [...others, missing]) assert.ok(place !== undefined && place >= kept - 1n);
  });

  test(`${name}: operators list webhooks of all accounts, of one, or those that fail`, async (t) => {
    const { webhooks, add, change, settle, strangers } = await prepare(t);
    const good = await add();
    const bad = await add();
    const gone = await add();
    const stopped = await add();
    const foreign = await add({ ...strangers[0] });
    const staging = await add({ ...strangers[1] });
    await settle(bad.id, { failingSince: 1_000 });
    await settle(gone.id, { disable: 'gone' });
    await change(stopped.id, { enabled: false });
    const list = async (query: object) =>
      (await webhooks.listAll({ limit: 10, ...query })).items.map(({ id, account }) => `${account} ${id}`);
    assert.deepEqual(
      await list({}),
      [staging, foreign, stopped, gone, bad, good].map(({ id }) =>
        id === foreign.id ? `other ${id}` : `shop ${id}`,
      ),
    );
    assert.deepEqual(await list({ environment: 'staging' }), [`shop ${staging.id}`]);
    assert.deepEqual(await list({ accountId: strangers[0]?.accountId }), [`other ${foreign.id}`]);
    assert.deepEqual(await list({ isFailing: true }), [`shop ${gone.id}`, `shop ${bad.id}`]);
    const first = await webhooks.listAll({ limit: 4 });
    assert.deepEqual(await list({ cursor: first.next }), [`shop ${bad.id}`, `shop ${good.id}`]);
    assert.equal(requireValue(await webhooks.find(foreign.id)).account, 'other');
    assert.deepEqual(await webhooks.find(99), { error: 'not_found', message: 'There is no webhook 99.' });
  });

  test(`${name}: the audit log shows changes with hosts, and no secret`, async (t) => {
    const { store, webhooks, add, change, settle, attempt, addEvents, owner, listAudit, sending } =
      await prepare(t);
    const { id } = await add();
    await change(id, { url: 'https://user.example:8443/hook?token=hidden', types: ['pet.*'] });
    await webhooks.rotate(KEY, id, owner, SECRETS[1] ?? '');
    const [event = 0n] = await addEvents(1);
    await settle(id, { deliveries: [attempt(id, event)] });
    requireValue(await webhooks.addTest(KEY, attempt(id, 0n)));
    const { items } = requireValue(await webhooks.listDeliveries(id, owner, { limit: 10 }));
    requireValue(await webhooks.redeliver(KEY, id, owner, items.at(-1)?.id ?? 0));
    requireValue(await webhooks.replay(KEY, id, owner, { since: await sending.now(), kept: DAY }));
    await settle(id, { disable: 'gone' });
    requireValue(await webhooks.remove(KEY, id, owner));
    const audit = await listAudit();
    assert.deepEqual(
      audit.map(({ action, actor }) => `${action} ${actor.kind}`),
      [
        'webhooks create key',
        'webhooks update key',
        'webhooks rotate key',
        'webhooks test key',
        'webhooks redeliver key',
        'webhooks replay key',
        'webhooks disable system',
        'webhooks delete key',
      ],
    );
    assert.deepEqual(audit[0]?.after, {
      host: 'shop.example',
      types: ['*'],
      scopes: SCOPES,
      description: null,
      enabled: true,
    });
    for (const { accountId, target } of audit)
      assert.deepEqual([accountId, target], [owner.accountId, { kind: 'webhook', name: String(id) }]);
    const all = JSON.stringify(await store.audit.list({ limit: 100 }), (_, value) =>
      typeof value === 'bigint' ? String(value) : value,
    );
    assert.match(all, /user\.example:8443/);
    assert.doesNotMatch(all, /whsec_|hidden/);
  });
}
