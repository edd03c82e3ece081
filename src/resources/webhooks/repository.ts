// Contract: section 13.
import { isDeepStrictEqual } from 'node:util';
import type { Scope } from '../../domain/scope.ts';
import type { Environment } from '../../domain/api-key.ts';
import { type Actor, type AuditChange, type AuditValues, SERVICE } from '../../domain/audit.ts';
import { DAY, SECOND } from '../../domain/clock.ts';
import { textFromInstant } from '../../domain/instant.ts';
import type { ErrorCode } from '../../domain/errors.ts';
import type { Idempotency, Repeatable } from '../../domain/idempotency.ts';
import { isCurrent, toJson } from '../../domain/json.ts';
import { Listeners } from '../../domain/listeners.ts';
import { firstId, mapPage, type Page, type PageQuery, toPage } from '../../domain/page.ts';
import type { Patch } from '../../domain/patch.ts';
import type { Failure, Result } from '../../domain/result.ts';
import type { Engine, Identified } from '../../storage/engine.ts';
import { empty, join, raw, type Row, type Sql, sql } from '../../storage/sql.ts';
import type { Stored } from '../../storage/table.ts';
import { answer, type Queries, type Transaction } from '../../storage/transaction.ts';
import { addAudit, countEntriesOfKeys } from '../audit/repository.ts';
import type { KeyRecord } from '../../domain/account.ts';
import { lockCaller, type LockedCaller, type RefusedCaller } from '../keys/caller.ts';
import type { AccountRepository } from '../accounts/repository.ts';
import { DISABLE_WEBHOOKS, type KeyRepository } from '../keys/repository.ts';
import {
  COUNT_MISSED,
  eventJson,
  LEAVE_ORIGINAL,
  type EventRepository,
  EVENTS,
  findEnd,
  findNext,
  findPlaceBehind,
  recordEvents,
  type StoredEvent,
} from '../events/repository.ts';
import { findStream, isOfStreams, type TypeFilter, type Viewer, visibleStreams } from '../events/rules.ts';
import {
  chooseStreams,
  type FormerChoice,
  isMeantFor,
  MOST_CHANGES_A_DAY,
  MOST_CHOICES,
  MOST_DELIVERIES,
  MOST_WEBHOOKS,
  REPLAY_INTERVAL,
  ROTATION_GRACE,
  testJson,
} from './rules.ts';
import type { WebhookPatch } from './schema.ts';
import { DELIVERIES, type DISABLED_REASONS, OPEN_EVENTS, WEBHOOKS } from './table.ts';

export { TABLES } from './table.ts';

export type WebhookRow = Stored<typeof WEBHOOKS>;
export type DeliveryRow = Stored<typeof DELIVERIES>;
type DisabledReason = (typeof DISABLED_REASONS)[number];

/** Whose webhooks: those of an account in one environment. */
export interface WebhookOwner {
  readonly accountId: number;
  readonly environment: Environment;
}

/** A webhook as its account sees it: never with its secret. */
export function toWebhook(webhook: WebhookRow) {
  const { id, url, types, description, disabledReason, createdAt, createdBy, missed } = webhook;
  return {
    id,
    url,
    types,
    description,
    enabled: disabledReason === undefined,
    disabledReason,
    createdAt: textFromInstant(createdAt),
    createdBy,
    missed,
  };
}

export type Webhook = ReturnType<typeof toWebhook>;

/** An attempt as its account sees it. */
export function toDelivery(delivery: DeliveryRow) {
  const { id, eventKey, type, attempt, at, status, httpStatus, failure, durationMs } = delivery;
  return {
    id,
    eventId: eventKey,
    type,
    attempt,
    at: textFromInstant(at),
    status,
    httpStatus,
    failure,
    durationMs,
  };
}

export type Delivery = ReturnType<typeof toDelivery>;

/** The attempt of a test, and whether the webhook is enabled. */
export type WebhookTest = Delivery & Pick<Webhook, 'enabled'>;

function isOwned({ accountId, environment }: WebhookOwner): Sql {
  return sql`account_id = ${accountId} AND environment = ${environment}`;
}

/** What writes of webhooks need of a key. */
const MANAGING: readonly Scope[] = ['webhooks:manage'];

/** Clients get the message of the operation instead. */
function notFound(id: number, owner?: WebhookOwner): Failure<'not_found'> {
  return { error: 'not_found', ...(owner === undefined && { message: `There is no webhook ${id}.` }) };
}

async function findWebhook(
  queries: Pick<Queries, 'select'>,
  id: number,
  owner: WebhookOwner | undefined,
  lock: Sql = empty,
): Promise<WebhookRow | undefined> {
  const owned = owner === undefined ? empty : sql`AND ${isOwned(owner)}`;
  const [webhook] = await queries.select(WEBHOOKS, sql`WHERE id = ${id} ${owned} ${lock}`);
  return webhook;
}

function lockWebhook(
  transaction: Transaction,
  id: number,
  owner?: WebhookOwner,
): Promise<WebhookRow | undefined> {
  return findWebhook(transaction, id, owner, transaction.dialect.forUpdate());
}

/** Writes changes that the sender must know. Undefined becomes null. */
async function changeWebhook(
  transaction: Transaction,
  webhook: WebhookRow,
  fields: Partial<Record<keyof WebhookRow, unknown>>,
): Promise<WebhookRow> {
  const changes = { ...fields, generation: webhook.generation + 1 } as Parameters<typeof WEBHOOKS.set>[0];
  await transaction.query(sql`UPDATE webhooks SET ${WEBHOOKS.set(changes)} WHERE id = ${webhook.id}`);
  return { ...webhook, ...changes } as WebhookRow;
}

/** The entry of a change. It shows the host of a URL only, because the rest can hold a secret. */
function describeChange(
  action: string,
  { id, accountId }: Pick<WebhookRow, 'id' | 'accountId'>,
  values: Pick<AuditChange, 'before' | 'after'> = {},
): AuditChange {
  return {
    action: `webhooks ${action}`,
    target: { kind: 'webhook', name: String(id) },
    accountId,
    ...values,
  };
}

function describeSettings({ url, types, scopes, description, disabledReason }: WebhookRow): AuditValues {
  return {
    host: new URL(url).host,
    types,
    scopes,
    description: description ?? null,
    enabled: disabledReason === undefined,
  };
}

/** Why the keys of a locked account change no more webhooks in this UTC day, or undefined if they may. */
async function refuseMore(
  transaction: Transaction,
  { caller, now }: LockedCaller,
): Promise<Failure<'conflict'> | undefined> {
  if (caller === undefined) return undefined;
  const midnight = now - (now % DAY);
  const changes = sql`target_kind = 'webhook'`;
  const made = await countEntriesOfKeys(transaction, caller.account.id, midnight, changes);
  if (made < MOST_CHANGES_A_DAY) return undefined;
  const message = `The keys of the account have changed webhooks ${MOST_CHANGES_A_DAY} times in this UTC day: try again from ${textFromInstant(midnight + DAY)}.`;
  return { error: 'conflict', message };
}

/** Those that the key still has. */
function keepScopes(scopes: readonly Scope[], caller: KeyRecord | undefined): readonly Scope[] {
  return scopes.filter((scope) => caller === undefined || caller.scopes.includes(scope));
}

/** What a change of a webhook begins with. */
interface Locked extends LockedCaller {
  readonly actor: Actor;
  readonly webhook: WebhookRow;
}

/** Makes a write of one webhook. It locks the caller, then the webhook of the owner, or of any account. */
function lockFirst<Rest extends readonly unknown[], Changed>(
  change: (transaction: Transaction, locked: Locked, ...rest: Rest) => Promise<Changed>,
) {
  return async (
    transaction: Transaction,
    actor: Actor,
    id: number,
    owner: WebhookOwner | undefined,
    ...rest: Rest
  ): Promise<Changed | Failure<RefusedCaller | 'not_found'>> => {
    const locked = await lockCaller(transaction, actor, MANAGING);
    if ('error' in locked) return locked;
    const webhook = await lockWebhook(transaction, id, owner);
    return webhook === undefined
      ? notFound(id, owner)
      : change(transaction, { ...locked.value, actor, webhook }, ...rest);
  };
}

/** A webhook to add, with who may see what it sends. */
export interface NewWebhookRow extends WebhookOwner {
  readonly url: string;
  readonly types: readonly TypeFilter[];
  readonly scopes: readonly Scope[];
  readonly description?: string | undefined;
  readonly secret: string;
  readonly createdBy: number;
}

/** `conflict`: the account has `MOST_WEBHOOKS` in this environment. It begins with what is committed after this. */
async function createWebhook(
  transaction: Transaction,
  actor: Actor,
  webhook: NewWebhookRow,
): Promise<Result<Webhook, RefusedCaller | 'conflict'>> {
  const locked = await lockCaller(transaction, actor, MANAGING);
  if ('error' in locked) return locked;
  const { caller } = locked.value;
  const { accountId } = webhook;
  // Of several at once, each sees those before it.
  await transaction.query(
    sql`SELECT id FROM accounts WHERE id = ${accountId} ${transaction.dialect.forUpdate()}`,
  );
  const others = await transaction.query(sql`SELECT 1 FROM webhooks WHERE ${isOwned(webhook)}`);
  if (others.length >= MOST_WEBHOOKS) return { error: 'conflict' };
  const refused = await refuseMore(transaction, locked.value);
  if (refused !== undefined) return refused;
  const now = Math.floor(await transaction.now());
  const row = {
    ...webhook,
    scopes: keepScopes(webhook.scopes, caller),
    createdAt: now,
    formerChoices: [],
    place: await findEnd(transaction),
    missed: 0,
    generation: 1,
  };
  const [added] = await transaction.query(sql`${WEBHOOKS.insert(row)} RETURNING ${WEBHOOKS.list}`);
  const created = WEBHOOKS.parse(added as Row);
  await addAudit(transaction, actor, describeChange('create', created, { after: describeSettings(created) }));
  return { value: toWebhook(created) };
}

/** What can be set of a webhook. A description of `undefined` is removed. */
type Settings = Partial<Pick<WebhookRow, 'url' | 'types' | 'scopes' | 'place' | 'formerChoices'>> & {
  readonly pointedBy?: number | undefined;
  readonly description?: string | undefined;
  readonly enabled?: boolean | undefined;
};

/** What settings change. Undefined: they are as they were. */
function findChanges(before: WebhookRow, { enabled, ...settings }: Settings) {
  const wasEnabled = before.disabledReason === undefined;
  const isEnabled = enabled ?? wasEnabled;
  const changes = {
    ...settings,
    disabledReason: isEnabled ? undefined : (before.disabledReason ?? 'request'),
    // The five days of failures begin anew.
    ...(isEnabled && !wasEnabled && { failingSince: undefined }),
  };
  const describe = (webhook: WebhookRow) => toJson({ ...toWebhook(webhook), scopes: webhook.scopes });
  const isSame = describe({ ...before, ...changes } as WebhookRow) === describe(before);
  return isSame ? undefined : { changes, wasEnabled, isEnabled };
}

/** Writes nothing when the settings are as they were. */
async function changeSettings(
  transaction: Transaction,
  actor: Actor,
  before: WebhookRow,
  settings: Settings,
): Promise<WebhookRow> {
  const found = findChanges(before, settings);
  if (found === undefined) return before;
  const { changes, wasEnabled, isEnabled } = found;
  const after = await changeWebhook(transaction, before, changes);
  if (wasEnabled && !isEnabled) await tellDisabled(transaction, actor, after);
  const action = isEnabled === wasEnabled ? 'update' : isEnabled ? 'enable' : 'disable';
  const values = { before: describeSettings(before), after: describeSettings(after) };
  await addAudit(transaction, actor, describeChange(action, before, values));
  return after;
}

async function tellDisabled(transaction: Transaction, actor: Actor, webhook: WebhookRow): Promise<void> {
  const stream = findStream('webhook.disabled', webhook);
  await recordEvents(transaction, [{ ...stream, actor, data: toJson(toWebhook(webhook)) }]);
}

/** A change by a key of the owner. */
export interface WebhookChange {
  readonly owner: WebhookOwner;
  readonly patch: Patch<WebhookPatch>;
  /** Those of the key. */
  readonly scopes: readonly Scope[];
  readonly ifMatch?: readonly string[] | undefined;
}

const MANY_CHOICES = {
  error: 'conflict',
  message: `The types have changed ${MOST_CHOICES} times while events wait: wait until the endpoint has them, or replay from now on.`,
} as const;

/** What must be known of the events that wait, when the webhook chooses others from now on. */
async function endChoice(
  transaction: Transaction,
  webhook: WebhookRow,
): Promise<Result<Pick<WebhookRow, 'place' | 'formerChoices'>, 'conflict'>> {
  const { types, scopes } = webhook;
  const end = await findEnd(transaction);
  const choices: readonly FormerChoice[] = [...webhook.formerChoices, { to: String(end), types, scopes }];
  let { place } = webhook;
  // What chose no event that waits is forgotten, from the oldest on.
  for (const [index, { to }] of choices.entries()) {
    const { streams } = chooseStreams({ ...webhook, formerChoices: choices }, place);
    const next = BigInt(to) > place ? await findNext(transaction, streams, place) : undefined;
    if (next !== undefined && next <= BigInt(to)) {
      const formerChoices = choices.slice(index);
      return formerChoices.length > MOST_CHOICES ? MANY_CHOICES : { value: { place, formerChoices } };
    }
    if (BigInt(to) > place) place = BigInt(to);
  }
  return { value: { place, formerChoices: [] } };
}

/** A key that chooses where events go, or which, gets no events that it may not see itself. */
const updateWebhook = lockFirst(async function (
  transaction,
  locked,
  { patch: { fields, issue }, scopes, ifMatch }: WebhookChange,
): Promise<Result<Webhook, 'precondition_failed' | 'invalid_request' | 'conflict'>> {
  const { actor, caller, webhook: before } = locked;
  if (!isCurrent(ifMatch, toJson(toWebhook(before)))) return { error: 'precondition_failed' };
  if (issue !== undefined) return { error: 'invalid_request', message: issue };
  const { url = before.url, description = before.description, enabled } = fields;
  const isChosen = fields.url !== undefined || fields.types !== undefined;
  const choice = {
    types: (fields.types ?? before.types) as readonly TypeFilter[],
    scopes: isChosen ? keepScopes(scopes, caller) : before.scopes,
  };
  const isSame = isDeepStrictEqual(choice, { types: before.types, scopes: before.scopes });
  const ended = isSame ? { value: {} } : await endChoice(transaction, before);
  if ('error' in ended) return ended;
  const settings = {
    url,
    ...(url !== before.url && { pointedBy: caller?.id }),
    ...choice,
    ...ended.value,
    description: description ?? undefined,
    enabled,
  };
  const isChange = findChanges(before, settings) !== undefined;
  const refused = isChange ? await refuseMore(transaction, locked) : undefined;
  return refused ?? { value: toWebhook(await changeSettings(transaction, actor, before, settings)) };
});

/** By an operator. Enabling goes on from its place. */
async function switchWebhook(
  transaction: Transaction,
  actor: Actor,
  id: number,
  enabled: boolean,
): Promise<Result<Webhook, 'not_found'>> {
  const webhook = await lockWebhook(transaction, id);
  if (webhook === undefined) return notFound(id);
  return { value: toWebhook(await changeSettings(transaction, actor, webhook, { enabled })) };
}

const removeWebhook = lockFirst(async function (
  transaction,
  locked,
  ifMatch: readonly string[] | undefined,
): Promise<Result<undefined, 'precondition_failed' | 'conflict'>> {
  const { actor, webhook } = locked;
  const { id } = webhook;
  if (!isCurrent(ifMatch, toJson(toWebhook(webhook)))) return { error: 'precondition_failed' };
  const refused = await refuseMore(transaction, locked);
  if (refused !== undefined) return refused;
  await transaction.run(
    sql`DELETE FROM deliveries WHERE webhook_id = ${id}`,
    sql`DELETE FROM open_events WHERE webhook_id = ${id}`,
    sql`DELETE FROM webhooks WHERE id = ${id}`,
  );
  await addAudit(
    transaction,
    actor,
    describeChange('delete', webhook, { before: describeSettings(webhook) }),
  );
  return { value: undefined };
});

/** `conflict`: the last rotation is less than a day ago. Until a day has passed, both secrets sign. */
const rotateSecret = lockFirst(async function (
  transaction,
  locked,
  secret: string,
): Promise<Result<Webhook, 'conflict'>> {
  const { actor, webhook } = locked;
  const now = Math.floor(await transaction.now());
  const { rotatedAt } = webhook;
  if (rotatedAt !== undefined && now < rotatedAt + ROTATION_GRACE) return { error: 'conflict' };
  const refused = await refuseMore(transaction, locked);
  if (refused !== undefined) return refused;
  const changes = { secret, oldSecret: webhook.secret, rotatedAt: now };
  const rotated = await changeWebhook(transaction, webhook, changes);
  await addAudit(transaction, actor, describeChange('rotate', webhook));
  return { value: toWebhook(rotated) };
});

/** From when on events are sent again. */
interface Replaying {
  /** Unix milliseconds. */
  readonly since: number;
  /** Milliseconds that events are kept. */
  readonly kept: number;
}

/** Why no events are sent again at the instant `now`, or undefined if they are. */
function refuseReplay(
  { replayedAt = Number.NEGATIVE_INFINITY }: WebhookRow,
  { since, kept }: Replaying,
  now: number,
): Failure<'gone' | 'invalid_request' | 'rate_limit_exceeded'> | undefined {
  if (since > now) return { error: 'invalid_request', message: 'since must not lie in the future.' };
  if (since < now - kept) return { error: 'gone' };
  const wait = replayedAt + REPLAY_INTERVAL - now;
  return wait > 0 ? { error: 'rate_limit_exceeded', retryAfter: Math.ceil(wait / SECOND) } : undefined;
}

/**
 * Moves the place of a webhook. Open events stay. `found`: the place of `since` as it was before this transaction. `gone`:
 * events of `since` may be deleted already. `invalid_request`: it lies in the future. `rate_limit_exceeded`: the last
 * replay was less than `REPLAY_INTERVAL` ago, whoever wanted it.
 */
const replayEvents = lockFirst(async function (
  transaction,
  locked,
  replaying: Replaying,
  found: bigint,
): Promise<Result<Webhook, 'gone' | 'invalid_request' | 'rate_limit_exceeded' | 'conflict'>> {
  const { actor, webhook } = locked;
  const now = Math.floor(await transaction.now());
  const refused = refuseReplay(webhook, replaying, now) ?? (await refuseMore(transaction, locked));
  if (refused !== undefined) return refused;
  const { since } = replaying;
  // Events that wait for their places may be older than `since`.
  await findEnd(transaction);
  const place = await findPlaceBehind(transaction, since, found);
  const moved = await changeWebhook(transaction, webhook, { place, formerChoices: [], replayedAt: now });
  const after = { since: textFromInstant(since) };
  await addAudit(transaction, actor, describeChange('replay', webhook, { after }));
  return { value: toWebhook(moved) };
});

/** Lets an event wait for its next attempt, also one that waits already. */
export async function openEvent(
  transaction: Transaction,
  event: Omit<Stored<typeof OPEN_EVENTS>, 'id'>,
): Promise<void> {
  await transaction.query(sql`${OPEN_EVENTS.insert(event)}
    ON CONFLICT (webhook_id, event_id) DO UPDATE SET attempts = excluded.attempts, due_at = excluded.due_at`);
}

/** Sends the event of an attempt again, now. `gone`: the event is no longer kept, or the attempt was a test. */
const redeliverEvent = lockFirst(async function (
  transaction,
  locked,
  deliveryId: number,
): Promise<Result<Delivery, 'not_found' | 'gone' | 'conflict'>> {
  const { actor, webhook } = locked;
  const { id } = webhook;
  const [delivery] = await transaction.select(
    DELIVERIES,
    sql`WHERE id = ${deliveryId} AND webhook_id = ${id}`,
  );
  if (delivery === undefined) return { error: 'not_found' };
  const { eventId } = delivery;
  const [event] = await transaction.select(EVENTS, sql`WHERE id = ${eventId}`);
  // A key that may see less may have chosen the URL since.
  if (event === undefined || !isOfStreams(event, visibleStreams(webhook))) return { error: 'gone' };
  const refused = await refuseMore(transaction, locked);
  if (refused !== undefined) return refused;
  const dueAt = Math.floor(await transaction.now());
  await openEvent(transaction, { webhookId: id, eventId, attempts: 0, dueAt });
  await changeWebhook(transaction, webhook, {});
  await addAudit(
    transaction,
    actor,
    describeChange('redeliver', webhook, { after: { event: delivery.eventKey } }),
  );
  return { value: toDelivery(delivery) };
});

/** Disables an endpoint, and tells its account. */
export async function disableWebhook(
  transaction: Transaction,
  webhook: WebhookRow,
  reason: DisabledReason,
): Promise<void> {
  const disabled = await changeWebhook(transaction, webhook, { disabledReason: reason });
  await tellDisabled(transaction, SERVICE, disabled);
  await addAudit(transaction, SERVICE, describeChange('disable', webhook, { after: { reason } }));
}

/** The webhooks that a key added, or last pointed somewhere. */
function isOfKey(keyId: number): Sql {
  return sql`(created_by = ${keyId} OR pointed_by = ${keyId})`;
}

async function disableOfKey(
  transaction: Transaction,
  actor: Actor,
  { id, account, environment }: KeyRecord,
): Promise<void> {
  const owner = { accountId: account.id, environment };
  const webhooks = await transaction.select(
    WEBHOOKS,
    sql`WHERE ${isOwned(owner)} AND ${isOfKey(id)} ORDER BY id ${transaction.dialect.forUpdate()}`,
  );
  for (const webhook of webhooks) await changeSettings(transaction, actor, webhook, { enabled: false });
}

/** Disables all endpoints, because the database is a copy: nobody must be told twice. */
async function disableCopied(transaction: Transaction): Promise<void> {
  const enabled = await transaction.select(WEBHOOKS, sql`WHERE disabled_reason IS NULL ORDER BY id`);
  for (const webhook of enabled) await disableWebhook(transaction, webhook, 'copied');
}

/** Counts what endpoints miss because these events are deleted, the oldest of the feed, and moves their places behind them. */
async function countMissed(transaction: Transaction, events: readonly StoredEvent[]): Promise<void> {
  const last = events.at(-1);
  if (last === undefined) return;
  const unsent = await transaction.query<readonly [webhookId: bigint]>(
    sql`DELETE FROM open_events WHERE event_id <= ${last.id} RETURNING webhook_id`,
  );
  const lost = Map.groupBy(unsent, ([webhookId]) => Number(webhookId));
  const behind = await transaction.select(
    WEBHOOKS,
    sql`WHERE place < ${last.id} OR ${transaction.dialect.isAnyOf('id', [...lost.keys()])}
      ORDER BY id ${transaction.dialect.forUpdate()}`,
  );
  for (const webhook of behind) {
    const passed = events.filter((event) => event.id > webhook.place && isMeantFor(webhook, event));
    const missed = webhook.missed + passed.length + (lost.get(webhook.id)?.length ?? 0);
    const place = webhook.place < last.id ? last.id : webhook.place;
    if (missed > webhook.missed) await changeWebhook(transaction, webhook, { missed, place });
  }
  await transaction.query(sql`UPDATE webhooks SET place = ${last.id} WHERE place < ${last.id}`);
}

/** Deletes the oldest attempts of a webhook beyond those that stay listed. */
export async function pruneDeliveries(transaction: Transaction, webhookId: number): Promise<void> {
  await transaction.query(sql`DELETE FROM deliveries WHERE webhook_id = ${webhookId} AND id <= (
    SELECT id FROM deliveries WHERE webhook_id = ${webhookId} ORDER BY id DESC LIMIT 1 OFFSET ${MOST_DELIVERIES})`);
}

/** Whether a test may be sent: what leaves is not taken back, so the caller is checked before it, and again with `addTest`. */
const beginTest = lockFirst(
  async (transaction, locked): Promise<Result<undefined, 'conflict'>> =>
    (await refuseMore(transaction, locked)) ?? { value: undefined },
);

/** `not_found`: the webhook was deleted while the test was sent. */
async function addTest(
  transaction: Transaction,
  actor: Actor,
  test: Omit<DeliveryRow, 'id'>,
): Promise<Result<WebhookTest, RefusedCaller | 'not_found'>> {
  const locked = await lockCaller(transaction, actor, MANAGING);
  if ('error' in locked) return locked;
  const webhook = await lockWebhook(transaction, test.webhookId);
  if (webhook === undefined) return { error: 'not_found' };
  const [id] = await transaction.add(DELIVERIES, [test]);
  await pruneDeliveries(transaction, webhook.id);
  // Several tests at once can have begun before the last entry of the day.
  if ((await refuseMore(transaction, locked.value)) === undefined)
    await addAudit(transaction, actor, describeChange('test', webhook, { after: { status: test.status } }));
  const { enabled } = toWebhook(webhook);
  return { value: { ...toDelivery({ ...test, id: Number(id) }), enabled } };
}

export const ANSWERS = [
  answer(DISABLE_WEBHOOKS, disableOfKey),
  answer(COUNT_MISSED, countMissed),
  answer(LEAVE_ORIGINAL, disableCopied),
];

export const WRITES = {
  create: createWebhook,
  update: updateWebhook,
  remove: removeWebhook,
  rotate: rotateSecret,
  replay: replayEvents,
  redeliver: redeliverEvent,
  switch: switchWebhook,
  beginTest,
  addTest,
};

/** A webhook as operators list it, with the name of its account. */
export type ListedWebhook = WebhookRow & { readonly account: string };

function parseListed(row: Row): ListedWebhook {
  return { ...WEBHOOKS.parse(row), account: String(row.at(-1)) };
}

const SELECT_LISTED = sql`SELECT ${WEBHOOKS.listAs('w')}, a.name
  FROM webhooks w JOIN accounts a ON a.id = w.account_id`;

interface WebhookQuery extends PageQuery {
  readonly environment?: Environment | undefined;
  readonly accountId?: number | undefined;
  /** Only those that this key added, or last pointed somewhere. */
  readonly keyId?: number | undefined;
  /** Only those that fail, or that the service disabled. */
  readonly isFailing?: boolean | undefined;
}

interface DeliveryQuery extends PageQuery {
  readonly status?: DeliveryRow['status'] | undefined;
}

export type WebhookRepository = ReturnType<typeof open>;

export function open(
  engine: Engine,
  _settings: unknown,
  {
    accounts,
    events,
    keys: { confirm, revocations },
  }: {
    readonly accounts: Pick<AccountRepository, 'changes'>;
    readonly events: Pick<EventRepository, 'placeAll' | 'findPlace'>;
    readonly keys: Pick<KeyRepository, 'confirm' | 'revocations'>;
  },
) {
  /** A listener resolves when nothing leaves any more by what was before. */
  const changes = new Listeners<[webhookIds: readonly number[]]>();
  /** Tells whoever sends of what happened to these webhooks. */
  async function tellOf(which: Sql): Promise<void> {
    const changed = await engine.select(WEBHOOKS, sql`WHERE ${which}`);
    await changes.tell(changed.map(({ id }) => id));
  }
  accounts.changes.listen(async (id, { suspended }) => {
    if (suspended !== undefined) await tellOf(sql`account_id = ${id}`);
  });
  revocations.listen(async (keyId, { disablesWebhooks = false }) => {
    if (disablesWebhooks) await tellOf(isOfKey(keyId));
  });

  /** Ends when whoever sends knows of the change, also if nobody knows whether it was made. */
  async function tell<T>(id: number, change: Promise<T>): Promise<T> {
    try {
      return await change;
    } finally {
      await changes.tell([id]);
    }
  }

  /** What became of a change that a key can make. */
  const settle = <R extends object>(actor: Actor, id: number, change: Promise<R>) =>
    tell(id, confirm(actor, MANAGING, change));

  async function get(id: number, owner?: WebhookOwner): Promise<Result<WebhookRow, 'not_found'>> {
    const webhook = await findWebhook(engine, id, owner);
    return webhook === undefined ? notFound(id, owner) : { value: webhook };
  }

  /** The body of an attempt, if its event is kept and the viewer may see it. */
  async function findBody({ eventId, eventKey, webhookId, at }: DeliveryRow, viewer: Viewer) {
    if (eventId === 0n) return testJson(eventKey, webhookId, at);
    const [event] = await engine.select(EVENTS, sql`WHERE id = ${eventId}`);
    return event !== undefined && isOfStreams(event, visibleStreams(viewer)) ? eventJson(event) : undefined;
  }
  return {
    changes,
    /** With its secrets: `toWebhook` is what others may see. */
    get,
    /** Newest first. An account has few. */
    list: (owner: WebhookOwner): Promise<readonly WebhookRow[]> =>
      engine.select(WEBHOOKS, sql`WHERE ${isOwned(owner)} ORDER BY id DESC`),
    /** For operators, newest first. */
    async listAll(query: WebhookQuery): Promise<Page<ListedWebhook>> {
      const { environment, accountId, keyId, isFailing = false, cursor, limit } = query;
      const conditions = [
        sql`w.id <= ${firstId(cursor)}`,
        ...(environment === undefined ? [] : [sql`w.environment = ${environment}`]),
        ...(accountId === undefined ? [] : [sql`w.account_id = ${accountId}`]),
        ...(keyId === undefined ? [] : [isOfKey(keyId)]),
        ...(isFailing
          ? [sql`(w.failing_since IS NOT NULL OR w.disabled_reason IN ('gone', 'failing', 'copied'))`]
          : []),
      ];
      const rows = await engine.query(sql`${SELECT_LISTED} WHERE ${join(conditions, ' AND ')}
        ORDER BY w.id DESC LIMIT ${raw(String(limit + 1))}`);
      return toPage(rows.map(parseListed), limit);
    },
    /** Those that a key added or last pointed somewhere, newest first. */
    async listOfKey(keyId: number) {
      const webhooks = await engine.select(WEBHOOKS, sql`WHERE ${isOfKey(keyId)} ORDER BY id DESC`);
      return webhooks.map(({ id, url, disabledReason }) => ({
        id,
        url,
        enabled: disabledReason === undefined,
      }));
    },
    /** For operators. */
    async find(id: number): Promise<Result<ListedWebhook, 'not_found'>> {
      const [row] = await engine.query(sql`${SELECT_LISTED} WHERE w.id = ${id}`);
      return row === undefined ? notFound(id) : { value: parseListed(row) };
    },
    /** The answer has no secret, so that no record of a repeated request has one. */
    async create(actor: Actor, webhook: NewWebhookRow, idempotency?: Idempotency) {
      await events.placeAll();
      return engine.writeOnce(idempotency, createWebhook, actor, webhook);
    },
    async update(actor: Actor, id: number, change: WebhookChange) {
      const { types, url } = change.patch.fields;
      if (types !== undefined || url !== undefined) await events.placeAll();
      return settle(actor, id, engine.write(updateWebhook, actor, id, change.owner, change));
    },
    remove: (actor: Actor, id: number, owner: WebhookOwner, ifMatch?: readonly string[]) =>
      settle(actor, id, engine.write(removeWebhook, actor, id, owner, ifMatch)),
    rotate: (actor: Actor, id: number, owner: WebhookOwner, secret: string, idempotency?: Idempotency) =>
      settle(actor, id, engine.writeOnce(idempotency, rotateSecret, actor, id, owner, secret)),
    async replay<Key extends Idempotency | undefined = undefined>(
      actor: Actor,
      id: number,
      owner: WebhookOwner | undefined,
      replaying: Replaying,
      idempotency?: Key,
    ) {
      const webhook = await findWebhook(engine, id, owner);
      const isRefused =
        webhook === undefined ||
        refuseReplay(webhook, replaying, Math.floor(await engine.now())) !== undefined;
      // Before the transaction, which holds locks: the search reads as much as an import has added.
      const found = isRefused ? 0n : await events.findPlace(replaying.since);
      const written = engine.writeOnce(idempotency, replayEvents, actor, id, owner, replaying, found);
      return settle(actor, id, written);
    },
    redeliver: (
      actor: Actor,
      id: number,
      owner: WebhookOwner,
      deliveryId: number,
      idempotency?: Idempotency,
    ) => settle(actor, id, engine.writeOnce(idempotency, redeliverEvent, actor, id, owner, deliveryId)),
    /** The attempts of a webhook, newest first. */
    async listDeliveries(
      id: number,
      owner: WebhookOwner | undefined,
      { limit, cursor, status }: DeliveryQuery,
    ): Promise<Result<Page<Delivery>, 'not_found'>> {
      const found = await get(id, owner);
      if ('error' in found) return found;
      const columns = { webhook_id: id, ...(status !== undefined && { status }) };
      const end = sql`${engine.dialect.newest(columns, firstId(cursor))} LIMIT ${raw(String(limit + 1))}`;
      const rows = await engine.select(DELIVERIES, end);
      return { value: mapPage(toPage(rows, limit), toDelivery) };
    },
    /**
     * An attempt with its body, as the feed has it: undefined if the event is no longer kept, or if the scopes may not see it.
     */
    async getDelivery(id: number, owner: WebhookOwner, deliveryId: number, scopes: readonly Scope[]) {
      const found = await get(id, owner);
      if ('error' in found) return found;
      const [delivery] = await engine.select(
        DELIVERIES,
        sql`WHERE id = ${deliveryId} AND webhook_id = ${id}`,
      );
      if (delivery === undefined) return notFound(id, owner);
      const body = await findBody(delivery, { ...owner, scopes });
      return { value: { webhook: found.value, delivery, body } };
    },
    /** Enables or disables an endpoint for an operator. */
    switch: (actor: Actor, id: number, enabled: boolean) =>
      tell(id, engine.write(switchWebhook, actor, id, enabled)),
    /** For what is more than a write. */
    doOnce: <Key extends Idempotency | undefined, T extends Identified, Code extends ErrorCode>(
      actor: Actor,
      idempotency: Key,
      work: (claimed: Key) => Promise<Repeatable<T, Code, Key>>,
    ) => confirm(actor, MANAGING, engine.doOnce(idempotency, work)),
    /** Call it before a test is sent. */
    beginTest: (actor: Actor, id: number, owner: WebhookOwner) => engine.write(beginTest, actor, id, owner),
    addTest: (actor: Actor, test: Omit<DeliveryRow, 'id'>, idempotency?: Idempotency) =>
      engine.writeOnce(idempotency, addTest, actor, test),
  };
}
