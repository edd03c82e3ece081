// Contract: section 13. How instances share the work: docs/design/webhooks.md.
import type { Logger } from 'pino';
import type { Actor } from '../../domain/audit.ts';
import { Batcher } from '../../domain/batcher.ts';
import { type Clock, SECOND } from '../../domain/clock.ts';
import type { Json } from '../../domain/json.ts';
import { textFromInstant } from '../../domain/instant.ts';
import type { Result } from '../../domain/result.ts';
import type { Feed } from '../events/feed.ts';
import { eventJson, type EventRepository, type StoredEvent } from '../events/repository.ts';
import { isOfStreams, type StoredStream, type Stream, visibleStreams } from '../events/rules.ts';
import type { Delivery, WebhookRepository, WebhookRow } from './repository.ts';
import { FAILURES, findDisabling, type Outcome, retryDelay, signingSecrets } from './rules.ts';
import type { Sender } from './send.ts';
import type { SendingRepository, Settlement } from './sending.ts';

/** Attempts at once at one endpoint, and after a failed one. */
const AT_ONCE = { healthy: 5, failing: 1 } as const;

/** Events of an endpoint that are open or under way. The rest waits in the feed. */
const MOST_OPEN = 1_000;

/** Events of a page of the feed. */
const PAGE = 100;

/** Milliseconds after which a lease is renewed. */
const RENEWAL = 5 * SECOND;

/** Milliseconds that a stop waits for attempts under way. What they reach later is sent again by the next instance. */
const STOP_TIME = SECOND / 2;

/** Attempts after which the oldest ones of an endpoint are deleted. */
const PRUNED_EVERY = 500;

const FAULT = 'what a webhook was sent could not be written, so it is sent again';

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
  readonly webhooks: Pick<WebhookRepository, 'addTest'>;
  readonly sending: SendingRepository;
  readonly sender: Pick<Sender, 'send'>;
  readonly log: Logger;
}

/** An endpoint that this instance sends to. */
class Endpoint {
  webhook: WebhookRow;
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
  sendingCount = 0;
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
  readonly #underWay = new Set<Promise<void>>();
  /** What endpoints have done since the last write goes into the next one. */
  readonly #writes = new Batcher<'all', Endpoint, void>({ run: (_, endpoints) => this.#write(endpoints) });
  #renewedAt = Number.NEGATIVE_INFINITY;
  #isStopped = false;

  constructor(settings: DelivererSettings) {
    this.#settings = settings;
    settings.feed.listen((streams) => this.#notice(streams));
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
    for (const endpoint of this.#endpoints.values())
      if (streams.some((stream) => isOfStreams(stream, endpoint.streams))) {
        endpoint.hasMore = true;
        this.#work(endpoint);
      }
  }

  /** Takes and renews leases, and sends what is due. Call it every second. */
  async look(): Promise<void> {
    const { feed, sending, instance, clock } = this.#settings;
    if (this.#isStopped || !feed.hasBegun) return;
    let active = await sending.listActive();
    if (active.length === 0) {
      this.#refresh([]);
      return;
    }
    const now = await sending.now();
    const isFree = ({ leasedUntil }: WebhookRow) => leasedUntil === undefined || leasedUntil <= now;
    const mustRenew = this.#endpoints.size > 0 && clock().monotonic - this.#renewedAt >= RENEWAL;
    if (mustRenew || active.some(isFree)) {
      await sending.lease(instance);
      this.#renewedAt = clock().monotonic;
      active = await sending.listActive();
    }
    const mine = active.filter(
      ({ sender, leasedUntil }) => sender === instance && leasedUntil !== undefined && leasedUntil > now,
    );
    this.#refresh(mine);
    if (mine.length === 0) return;
    const counts = new Map(
      (await sending.countOpen(mine.map(({ id }) => id))).map((open) => [open.webhookId, open]),
    );
    for (const [id, endpoint] of this.#endpoints) {
      endpoint.openCount = counts.get(id)?.count ?? 0;
      endpoint.dueAt = counts.get(id)?.dueAt ?? Number.POSITIVE_INFINITY;
      if (endpoint.dueAt <= now) await this.#takeDue(endpoint, now);
      this.#work(endpoint);
    }
  }

  /** Ends all work: no attempt begins, and what is done in time is written. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    const { promise: over, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, STOP_TIME);
    await Promise.race([Promise.all(this.#underWay), over]);
    clearTimeout(timer);
    if (this.#endpoints.size > 0) await this.#settings.sending.release(this.#settings.instance);
    this.#endpoints.clear();
  }

  /** Sends a test now, once, whatever the types and the state of the webhook are. */
  async sendTest(actor: Actor, webhook: WebhookRow, id: string): Promise<Result<Delivery, 'not_found'>> {
    const { clock, webhooks } = this.#settings;
    const at = Math.floor(clock().unix);
    const data = `{"webhookId":${webhook.id}}`;
    const body = `{"id":"${id}","type":"webhook.test","timestamp":"${textFromInstant(at)}","data":${data}}`;
    const outcome = await this.#send(webhook, id, body as Json<unknown>);
    const event = { id: 0n, key: id, type: 'webhook.test' };
    return webhooks.addTest(actor, describeAttempt(webhook.id, event, 1, at, outcome));
  }

  #refresh(mine: readonly WebhookRow[]): void {
    const ids = new Set(mine.map(({ id }) => id));
    for (const id of this.#endpoints.keys()) if (!ids.has(id)) this.#endpoints.delete(id);
    for (const webhook of mine) {
      const known = this.#endpoints.get(webhook.id);
      // Attempts under way end with the old endpoint.
      if (known?.webhook.generation !== webhook.generation)
        this.#endpoints.set(webhook.id, new Endpoint(webhook));
      else known.webhook = webhook;
    }
  }

  /** Whether an endpoint still belongs to this instance in this form. */
  #has(endpoint: Endpoint): boolean {
    return !this.#isStopped && this.#endpoints.get(endpoint.webhook.id) === endpoint;
  }

  async #takeDue(endpoint: Endpoint, now: number): Promise<void> {
    // Before the list, because an attempt that is written meanwhile is still due in it.
    const busy = new Set([...endpoint.underWay, ...endpoint.queue.map(({ event }) => event.id)]);
    const due = await this.#settings.sending.listDue(endpoint.webhook.id, now, PAGE);
    const events = new Map(
      (await this.#settings.events.find(due.map(({ eventId }) => eventId))).map((event) => [event.id, event]),
    );
    const tasks = due.flatMap(({ eventId, attempts }): Task[] => {
      const event = events.get(eventId);
      return event === undefined || busy.has(eventId) ? [] : [{ event, attempts, isOpen: true }];
    });
    // Before new events, which have waited less.
    endpoint.queue.unshift(...tasks);
  }

  /** Begins as many attempts as the endpoint may get now. */
  #work(endpoint: Endpoint): void {
    if (!this.#has(endpoint) || endpoint.disable !== undefined) return;
    const most = endpoint.lastFailed ? AT_ONCE.failing : AT_ONCE.healthy;
    while (endpoint.sendingCount < most) {
      const task = endpoint.queue.shift();
      if (task === undefined) break;
      endpoint.underWay.add(task.event.id);
      endpoint.sendingCount++;
      this.#run(this.#attempt(endpoint, task));
    }
    const isShort = endpoint.queue.length < AT_ONCE.healthy;
    const room = MOST_OPEN - endpoint.openCount - endpoint.queue.length - endpoint.underWay.size;
    if (isShort && endpoint.hasMore && !endpoint.isReading && room > 0)
      this.#run(this.#read(endpoint, Math.min(PAGE, room)));
  }

  /** Follows work to its end. */
  #run(work: Promise<void>): void {
    const followed = work
      .catch((error: unknown) => {
        // After a stop, another instance goes on.
        if (!this.#isStopped) this.#settings.log.error({ err: error }, FAULT);
      })
      .finally(() => this.#underWay.delete(followed));
    this.#underWay.add(followed);
  }

  async #read(endpoint: Endpoint, limit: number): Promise<void> {
    endpoint.isReading = true;
    endpoint.hasMore = false;
    const { streams, position } = endpoint;
    try {
      const page = await this.#settings.events.list({ streams, after: position, limit });
      if (!this.#has(endpoint)) return;
      endpoint.position = page.next;
      if (page.items.length === limit) endpoint.hasMore = true;
      for (const event of page.items) {
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
    const { clock, random } = this.#settings;
    const at = Math.floor(clock().unix);
    const outcome = await this.#send(endpoint.webhook, event.key, eventJson(event));
    const now = Math.floor(clock().unix);
    endpoint.sendingCount--;
    endpoint.lastFailed = outcome.status === 'failed';
    endpoint.deliveries.push(describeAttempt(endpoint.webhook.id, event, attempts + 1, at, outcome));
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
    if (endpoint.disable !== undefined) endpoint.queue.length = 0;
    this.#work(endpoint);
    try {
      await this.#writes.add('all', endpoint);
      endpoint.underWay.delete(event.id);
    } catch (error) {
      // It begins anew from what is stored: the next look reads that again, and sends again what came after.
      if (this.#endpoints.get(endpoint.webhook.id) === endpoint) this.#endpoints.delete(endpoint.webhook.id);
      throw error;
    }
  }

  async #send(webhook: WebhookRow, id: string, body: Json<unknown>): Promise<Outcome> {
    const { sender, clock, log } = this.#settings;
    const secrets = signingSecrets(webhook, clock().unix);
    const outcome = await sender.send({ url: webhook.url, id, body, secrets });
    const result = outcome.status === 'failed' ? outcome.failure : outcome.status;
    this.counts.set(result, (this.counts.get(result) ?? 0) + 1);
    log.debug({ webhookId: webhook.id, host: new URL(webhook.url).host, outcome: result }, 'webhook');
    return outcome;
  }

  async #write(endpoints: readonly Endpoint[]): Promise<readonly void[]> {
    await this.#settings.sending.settle([...new Set(endpoints)].map((endpoint) => this.#take(endpoint)));
    return [];
  }

  #take(endpoint: Endpoint): Settlement {
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

function describeAttempt(
  webhookId: number,
  { id, key, type }: { readonly id: bigint; readonly key: string; readonly type: string },
  attempt: number,
  at: number,
  outcome: Outcome,
): Settlement['deliveries'][number] {
  const { status, httpStatus, durationMs } = outcome;
  return {
    webhookId,
    eventId: id,
    eventKey: key,
    type,
    attempt,
    at,
    status,
    ...(httpStatus !== undefined && { httpStatus }),
    ...(outcome.status === 'failed' && { failure: outcome.failure }),
    durationMs,
  };
}
