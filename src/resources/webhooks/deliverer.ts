// Contract: section 13. How instances share the work: docs/design/webhooks.md.
import { setImmediate as letOthersRun } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Actor } from '../../domain/audit.ts';
import { Batcher } from '../../domain/batcher.ts';
import { chunksOf } from '../../domain/chunks.ts';
import type { RefusedCaller } from '../keys/caller.ts';
import { type Clock, SECOND } from '../../domain/clock.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { Idempotency, Repeatable } from '../../domain/idempotency.ts';
import type { Json } from '../../domain/json.ts';
import { reasonOf } from '../../domain/startup-error.ts';
import { Outages } from '../../observability/outages.ts';
import type { Feed } from '../events/feed.ts';
import { eventJson, type EventRepository, type StoredEvent } from '../events/repository.ts';
import { isOfStreams, type StoredStream, type Stream, visibleStreams } from '../events/rules.ts';
import type { WebhookOwner, WebhookRepository, WebhookRow, WebhookTest } from './repository.ts';
import {
  chooseStreams,
  FAILURES,
  findDisabling,
  isOwnEnd,
  type Outcome,
  retryDelay,
  signingSecrets,
  testJson,
} from './rules.ts';
import type { Sender } from './sender.ts';
import type { ActiveEndpoint, SendingRepository, Settlement } from './sending.ts';

/** Attempts at once at one endpoint, and after a failed one. */
const AT_ONCE = { healthy: 5, failing: 1 } as const;

/** Events of an endpoint that are open or under way. The rest waits in the feed. */
const MOST_OPEN = 1_000;

/** Endpoints that begin to read or to send in one turn of the event loop. */
const WORKED_AT_ONCE = 50;

/** Events of a page of the feed. */
const PAGE = 100;

/** Milliseconds after which a lease is renewed. */
const RENEWAL = 5 * SECOND;

/** Milliseconds that a stop waits for attempts under way. What they reach later is sent again by the next instance. */
const STOP_TIME = SECOND / 2;

/** Attempts after which the oldest ones of an endpoint are deleted. */
const PRUNED_EVERY = 500;

/** How often a test is made anew because its webhook changed before it left. */
const MOST_TRIES = 3;

const CHANGING = {
  error: 'conflict',
  message: 'The webhook was changed several times while the test waited: send it again.',
} as const;

const SUSPENDED = { error: 'conflict', message: 'The account is suspended: nothing is sent to it.' } as const;

const UNWRITTEN = 'what a webhook was sent could not be written, so it is sent again';

/** An event on its way to one endpoint. */
interface Task {
  readonly event: StoredEvent;
  /** Attempts that were made. */
  readonly attempts: number;
  readonly isOpen: boolean;
}

interface DelivererSettings {
  /** Tells instances apart. */
  readonly instance: string;
  readonly clock: Clock;
  readonly random: () => number;
  readonly events: Pick<EventRepository, 'list' | 'find'>;
  readonly feed: Pick<Feed, 'hasBegun' | 'listen'>;
  readonly webhooks: Pick<WebhookRepository, 'get' | 'addTest' | 'changes'>;
  readonly sending: SendingRepository;
  readonly sender: Pick<Sender, 'send' | 'withdraw'>;
  readonly log: Logger;
}

/** An endpoint that this instance sends to, in one form. A change of its webhook makes another one. */
class Endpoint {
  readonly webhook: WebhookRow;
  /** Those that new events must belong to. */
  streams: readonly Stream[];
  /** Read up to here. */
  position: bigint;
  /** Whether the feed may have events after `position`. */
  hasMore = true;
  isReading = false;
  readonly queue: Task[] = [];
  /** Events after the place of the webhook, in their order: their ids, and whether they are delivered or open. */
  readonly passed: { readonly id: bigint; isDone: boolean }[] = [];
  /** Ids of events that are sent now, or whose attempts are not written yet. */
  readonly underWay = new Set<bigint>();
  openCount = 0;
  dueAt = Number.POSITIVE_INFINITY;
  failingSince: number | undefined;
  lastFailed: boolean;
  place: bigint;
  attempts = 0;
  readonly deliveries: Settlement['deliveries'][number][] = [];
  readonly open: Settlement['open'][number][] = [];
  readonly closed: bigint[] = [];
  disable: Settlement['disable'];

  constructor(webhook: WebhookRow) {
    this.webhook = webhook;
    this.streams = visibleStreams(webhook, webhook.types);
    this.position = webhook.place;
    this.place = webhook.place;
    this.failingSince = webhook.failingSince;
    this.lastFailed = webhook.failingSince !== undefined;
  }

  /** Moves the place behind the events that are done. */
  advance(): void {
    while (this.passed[0]?.isDone) this.place = (this.passed.shift() as { id: bigint }).id;
  }
}

/** Sends the events of the feed to the endpoints that this instance has leased. */
export class Deliverer {
  readonly #settings: DelivererSettings;
  /** Attempts by what became of them. */
  readonly counts = new Map<string, number>(['succeeded', ...FAILURES].map((outcome) => [outcome, 0]));
  readonly #endpoints = new Map<number, Endpoint>();
  /** Attempts under way by webhook, also those of its former forms. */
  readonly #sending = new Map<number, number>();
  /** For each read of webhooks that runs now, those that have changed since it began: what it finds of them may be old. */
  readonly #reads = new Set<Set<number>>();
  /** Webhooks whose tests have not left, as they were read. */
  readonly #tests = new Set<WebhookRow>();
  /** Reads, attempts and writes: a stop waits for them. */
  readonly #running = new Set<Promise<void>>();
  readonly #outages = new Outages();
  /** What endpoints have done since the last write goes into the next one. */
  readonly #writes = new Batcher<'all', Endpoint, void>({ run: (_, endpoints) => this.#write(endpoints) });
  #renewedAt = Number.NEGATIVE_INFINITY;
  #isTaking = false;
  #isStopped = false;

  constructor(settings: DelivererSettings) {
    this.#settings = settings;
    settings.feed.listen((streams) => this.#notice(streams));
    settings.webhooks.changes.listen((webhookIds) => this.change(webhookIds));
  }

  /** Unix milliseconds: when the oldest event was written that an endpoint of this instance has not taken yet. */
  get oldestUndelivered(): number | undefined {
    let oldest: number | undefined;
    for (const { queue, lastFailed } of this.#endpoints.values()) {
      const event = lastFailed ? undefined : queue.find(({ isOpen }) => !isOpen)?.event;
      if (event !== undefined && event.at < (oldest ?? Number.POSITIVE_INFINITY)) oldest = event.at;
    }
    return oldest;
  }

  /** Called with the streams that got events. */
  #notice(streams: readonly StoredStream[]): void {
    this.#run(
      this.#workInTurns((endpoint) => {
        endpoint.hasMore ||= streams.some((stream) => isOfStreams(stream, endpoint.streams));
      }),
    );
  }

  /** Begins what each endpoint may get now, some in a turn of the event loop. `update` comes before. */
  async #workInTurns(update: (endpoint: Endpoint) => void): Promise<void> {
    for (const endpoints of chunksOf([...this.#endpoints.values()], WORKED_AT_ONCE)) {
      for (const endpoint of endpoints) {
        update(endpoint);
        this.#work(endpoint);
      }
      if (endpoints.length === WORKED_AT_ONCE) await letOthersRun();
    }
  }

  /**
   * Brings changes of webhooks that are committed into force: when it resolves, no request leaves any more that was made before. The
   * next look goes on with the webhooks as they are then.
   */
  async change(webhookIds: readonly number[]): Promise<void> {
    for (const changed of this.#reads) for (const id of webhookIds) changed.add(id);
    await Promise.all(webhookIds.map((id) => this.#drop(id)));
  }

  async #drop(webhookId: number): Promise<void> {
    this.#endpoints.delete(webhookId);
    await this.#settings.sender.withdraw(webhookId);
  }

  /** Takes and renews leases, learns of changes, and sends what is due. Call it every second. */
  async look(): Promise<void> {
    if (this.#isStopped || !this.#settings.feed.hasBegun) return;
    const changed = new Set<number>();
    this.#reads.add(changed);
    try {
      await this.#checkTests();
      await this.#refresh(await this.#listMine(), changed);
    } finally {
      this.#reads.delete(changed);
    }
    if (this.#endpoints.size === 0) return;
    const { sending } = this.#settings;
    const counts = new Map(
      (await sending.countOpen([...this.#endpoints.keys()])).map((open) => [open.webhookId, open]),
    );
    await this.#workInTurns((endpoint) => {
      const open = counts.get(endpoint.webhook.id);
      endpoint.openCount = open?.count ?? 0;
      endpoint.dueAt = open?.dueAt ?? Number.POSITIVE_INFINITY;
    });
    // The next look must not wait for it, because it learns of changes.
    this.#run(this.#takeAllDue());
  }

  /** The endpoints that this instance has leased. */
  async #listMine(): Promise<readonly ActiveEndpoint[]> {
    const { sending, instance, clock } = this.#settings;
    let active = await sending.listActive();
    if (active.length === 0) return [];
    const now = await sending.now();
    const isFree = ({ leasedUntil }: ActiveEndpoint) => leasedUntil === undefined || leasedUntil <= now;
    const mustRenew = this.#endpoints.size > 0 && clock().monotonic - this.#renewedAt >= RENEWAL;
    if (mustRenew || active.some(isFree)) {
      await sending.lease(instance);
      this.#renewedAt = clock().monotonic;
      active = await sending.listActive();
    }
    return active.filter((webhook) => webhook.sender === instance && !isFree(webhook));
  }

  /** Ends all work: no attempt begins, and what is done in time is written. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    const { promise: over, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, STOP_TIME);
    await Promise.race([Promise.all(this.#running), over]);
    clearTimeout(timer);
    if (this.#endpoints.size > 0) await this.#settings.sending.release(this.#settings.instance);
    this.#endpoints.clear();
  }

  /** Sends a test now, once, whatever the types and the state of the webhook are. `key`: the id of the test. */
  async sendTest(
    actor: Actor,
    id: number,
    owner: WebhookOwner,
    key: string,
    idempotency?: Idempotency,
  ): Promise<Repeatable<WebhookTest, RefusedCaller | 'not_found' | 'conflict'>> {
    const { clock, webhooks, sending } = this.#settings;
    const event = { id: 0n, key, type: 'webhook.test' };
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const at = Math.floor(clock().unix);
      const changed = new Set<number>();
      this.#reads.add(changed);
      let sent: Promise<Outcome | undefined>;
      let test: WebhookRow;
      try {
        const found = await webhooks.get(id, owner);
        if ('error' in found) return found;
        const [served] = await sending.findServed([id]);
        // Nothing may wait from here to the sender, which learns of later changes.
        if (changed.has(id)) continue;
        if (served === undefined) return SUSPENDED;
        test = found.value;
        sent = this.#send(test, key, testJson(key, id, at), true);
      } finally {
        this.#reads.delete(changed);
      }
      this.#tests.add(test);
      const outcome = await sent.finally(() => this.#tests.delete(test));
      if (outcome !== undefined)
        return webhooks.addTest(actor, newDelivery(id, event, 1, at, outcome), idempotency);
    }
    return CHANGING;
  }

  /** Withdraws tests of webhooks that another process has changed, or whose account it has suspended. */
  async #checkTests(): Promise<void> {
    const { sending, sender } = this.#settings;
    const tests = [...this.#tests];
    if (tests.length === 0) return;
    const rows = new Map((await sending.findServed(tests.map(({ id }) => id))).map((row) => [row.id, row]));
    const changed = tests.filter(({ id, generation }) => rows.get(id)?.generation !== generation);
    await Promise.all(changed.map(({ id }) => sender.withdraw(id)));
  }

  /**
   * Drops the endpoints that are not these, in this form, and reads those that are new. `changed`: those that these rows may show as they
   * were.
   */
  async #refresh(mine: readonly ActiveEndpoint[], changed: ReadonlySet<number>): Promise<void> {
    const generations = new Map(mine.map(({ id, generation }) => [id, generation]));
    const old = [...this.#endpoints.values()].filter(
      ({ webhook: { id, generation } }) => generations.get(id) !== generation,
    );
    await Promise.all(old.map(({ webhook: { id } }) => this.#drop(id)));
    const added = mine.filter(({ id }) => !this.#endpoints.has(id)).map(({ id }) => id);
    for (const webhook of await this.#settings.sending.findServed(added)) {
      const { id, generation } = webhook;
      // One that has changed since the list may no longer be this instance's: the next look reads it.
      if (!changed.has(id) && generations.get(id) === generation && !this.#endpoints.has(id))
        this.#endpoints.set(id, new Endpoint(webhook));
    }
  }

  /** Whether an endpoint still belongs to this instance in this form. */
  #has(endpoint: Endpoint): boolean {
    return !this.#isStopped && this.#endpoints.get(endpoint.webhook.id) === endpoint;
  }

  /** One endpoint after the other, so that requests do not wait for connections behind them. */
  async #takeAllDue(): Promise<void> {
    if (this.#isTaking) return;
    this.#isTaking = true;
    try {
      const waiting = [...this.#endpoints.values()].filter(({ dueAt }) => Number.isFinite(dueAt));
      const now = waiting.length === 0 ? 0 : await this.#settings.sending.now();
      for (const endpoint of waiting)
        if (endpoint.dueAt <= now && this.#has(endpoint)) await this.#takeDue(endpoint, now);
    } finally {
      this.#isTaking = false;
    }
  }

  async #takeDue(endpoint: Endpoint, now: number): Promise<void> {
    const { webhook } = endpoint;
    // Before the list, because an attempt that is written meanwhile is still due in it.
    const busy = new Set([...endpoint.underWay, ...endpoint.queue.map(({ event }) => event.id)]);
    const due = await this.#settings.sending.listDue(webhook.id, now, PAGE);
    const events = new Map(
      (await this.#settings.events.find(due.map(({ eventId }) => eventId))).map((event) => [event.id, event]),
    );
    const visible = visibleStreams(webhook);
    for (const { eventId, attempts } of due.toReversed()) {
      const event = events.get(eventId);
      if (event === undefined || busy.has(eventId)) continue;
      // Before new events, which have waited less.
      if (isOfStreams(event, visible)) endpoint.queue.unshift({ event, attempts, isOpen: true });
      // A key that may see less has chosen the URL since.
      else endpoint.closed.push(eventId);
    }
    this.#work(endpoint);
    if (endpoint.closed.length > 0) await this.#writes.add('all', endpoint);
  }

  /** Begins as many attempts as the endpoint may get now. */
  #work(endpoint: Endpoint): void {
    if (!this.#has(endpoint) || endpoint.disable !== undefined) return;
    const most = endpoint.lastFailed ? AT_ONCE.failing : AT_ONCE.healthy;
    const { id } = endpoint.webhook;
    for (let sending = this.#sending.get(id) ?? 0; sending < most; sending++) {
      const task = endpoint.queue.shift();
      if (task === undefined) break;
      endpoint.underWay.add(task.event.id);
      this.#sending.set(id, sending + 1);
      this.#run(this.#attempt(endpoint, task));
    }
    const isShort = endpoint.queue.length < AT_ONCE.healthy;
    const begun = endpoint.openCount + endpoint.queue.length + endpoint.underWay.size;
    const room = MOST_OPEN - Math.max(begun, endpoint.passed.length);
    if (isShort && endpoint.hasMore && !endpoint.isReading && room > 0)
      this.#run(this.#read(endpoint, Math.min(PAGE, room)));
  }

  /** Follows work to its end. */
  #run(work: Promise<void>): void {
    const followed = work
      .catch((error: unknown) => {
        // After a stop, another instance goes on.
        if (this.#isStopped) return;
        const { log, clock } = this.#settings;
        const cause = error instanceof ServiceError ? (error.cause ?? error) : error;
        if (this.#outages.begins(reasonOf(cause), clock().monotonic)) log.error({ err: cause }, UNWRITTEN);
      })
      .finally(() => this.#running.delete(followed));
    this.#running.add(followed);
  }

  async #read(endpoint: Endpoint, limit: number): Promise<void> {
    endpoint.isReading = true;
    endpoint.hasMore = false;
    const { webhook, position } = endpoint;
    const { streams, to } = chooseStreams(webhook, position);
    try {
      const page = await this.#settings.events.list({ streams, after: position, limit });
      if (!this.#has(endpoint)) return;
      endpoint.position = to !== undefined && page.next > to ? to : page.next;
      // Behind `to` other streams follow.
      if (to !== undefined || page.items.length === limit) endpoint.hasMore = true;
      for (const event of page.items) {
        if ((to !== undefined && event.id > to) || isOwnEnd(webhook, event)) continue;
        endpoint.passed.push({ id: event.id, isDone: false });
        endpoint.queue.push({ event, attempts: 0, isOpen: false });
      }
    } catch (error) {
      endpoint.hasMore = true;
      throw error;
    } finally {
      endpoint.isReading = false;
    }
    this.#work(endpoint);
  }

  async #attempt(endpoint: Endpoint, { event, attempts, isOpen }: Task): Promise<void> {
    const { clock, random, sender } = this.#settings;
    const at = Math.floor(clock().unix);
    const { webhook } = endpoint;
    const outcome = await this.#send(webhook, event.key, eventJson(event)).finally(() => {
      const sending = (this.#sending.get(webhook.id) ?? 0) - 1;
      if (sending > 0) this.#sending.set(webhook.id, sending);
      else this.#sending.delete(webhook.id);
    });
    if (outcome === undefined) {
      endpoint.underWay.delete(event.id);
      // It begins anew with this event, unless its webhook is disabled now.
      if (endpoint.disable === undefined && this.#has(endpoint)) await this.#drop(webhook.id);
      this.#workOn(webhook.id);
      return;
    }
    const now = Math.floor(clock().unix);
    endpoint.lastFailed = outcome.status === 'failed';
    endpoint.deliveries.push(newDelivery(webhook.id, event, attempts + 1, at, outcome));
    if (outcome.status === 'succeeded') {
      endpoint.failingSince = undefined;
      if (isOpen) endpoint.closed.push(event.id);
    } else {
      endpoint.failingSince ??= now;
      endpoint.disable ??= findDisabling(outcome, endpoint.failingSince, now);
      const delay = retryDelay(attempts + 1, random(), outcome.retryAfter);
      if (delay !== undefined) {
        endpoint.open.push({ eventId: event.id, attempts: attempts + 1, dueAt: now + delay });
        // The next look counts exactly.
        if (!isOpen) endpoint.openCount++;
      } else if (isOpen) endpoint.closed.push(event.id);
    }
    const passed = endpoint.passed.find(({ id }) => id === event.id);
    if (passed !== undefined) passed.isDone = true;
    endpoint.advance();
    if (endpoint.disable !== undefined) {
      endpoint.queue.length = 0;
      if (this.#has(endpoint)) await sender.withdraw(webhook.id);
    }
    this.#workOn(webhook.id);
    try {
      await this.#writes.add('all', endpoint);
      endpoint.underWay.delete(event.id);
    } catch (error) {
      // It begins anew from what is stored: the next look reads that again, and sends again what came after.
      if (this.#endpoints.get(webhook.id) === endpoint) await this.#drop(webhook.id);
      throw error;
    }
  }

  /** Begins the next attempts of the present form of an endpoint. */
  #workOn(webhookId: number): void {
    const endpoint = this.#endpoints.get(webhookId);
    if (endpoint !== undefined) this.#work(endpoint);
  }

  /** Undefined: it was withdrawn before it left. */
  async #send(
    webhook: WebhookRow,
    id: string,
    body: Json<unknown>,
    isTest = false,
  ): Promise<Outcome | undefined> {
    const { sender, clock, log } = this.#settings;
    const secrets = signingSecrets(webhook, clock().unix);
    const { id: webhookId, accountId, url } = webhook;
    const outcome = await sender.send({ webhookId, accountId, url, id, body, secrets, isTest });
    if (outcome === undefined) return undefined;
    const result = outcome.status === 'failed' ? outcome.failure : outcome.status;
    this.counts.set(result, (this.counts.get(result) ?? 0) + 1);
    log.debug({ webhookId: webhook.id, host: new URL(webhook.url).host, outcome: result }, 'webhook');
    return outcome;
  }

  async #write(endpoints: readonly Endpoint[]): Promise<readonly void[]> {
    await this.#settings.sending.settle(
      [...new Set(endpoints)].map((endpoint) => this.#takeSettlement(endpoint)),
    );
    return [];
  }

  /** What the endpoint has done since the last write. It is written once. */
  #takeSettlement(endpoint: Endpoint): Settlement {
    const { webhook, place, failingSince, disable } = endpoint;
    const deliveries = endpoint.deliveries.splice(0);
    const before = endpoint.attempts;
    endpoint.attempts += deliveries.length;
    return {
      webhookId: webhook.id,
      instance: this.#settings.instance,
      generation: webhook.generation,
      // What was not written may lie before the place of an endpoint that began anew.
      place: this.#endpoints.get(webhook.id) === endpoint ? place : undefined,
      deliveries,
      open: endpoint.open.splice(0),
      closed: endpoint.closed.splice(0),
      failingSince,
      disable,
      prunes: Math.floor(endpoint.attempts / PRUNED_EVERY) > Math.floor(before / PRUNED_EVERY),
    };
  }
}

function newDelivery(
  webhookId: number,
  { id, key, type }: { readonly id: bigint; readonly key: string; readonly type: string },
  attempt: number,
  at: number,
  outcome: Outcome,
): Settlement['deliveries'][number] {
  const { status, httpStatus, durationMs, sentAt } = outcome;
  return {
    webhookId,
    eventId: id,
    eventKey: key,
    type,
    attempt,
    at,
    ...(sentAt !== undefined && { sentAt }),
    status,
    ...(httpStatus !== undefined && { httpStatus }),
    ...(outcome.status === 'failed' && { failure: outcome.failure }),
    durationMs,
  };
}
