// Contract: sections 3.12 and 6.
import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { LimitWatch } from './limit-watch.ts';
import type { ChangeLog } from './change-log.ts';
import { type Clock, MINUTE } from '../domain/clock.ts';
import { ServiceError } from '../domain/errors.ts';
import type { KeyUses, UsageCounts } from '../observability/key-usage.ts';
import { keepWriting } from './keep-writing.ts';
import type { ServiceState } from './running.ts';
import type { RateLimiter } from '../limits/limiter.ts';
import type { Deliverer } from '../resources/webhooks/deliverer.ts';
import type { Feed } from '../resources/events/feed.ts';
import type { Store } from '../resources/repositories.ts';

/** Milliseconds between two flushes. What a crash may lose: section 6.7. */
const FLUSH_INTERVAL = 1_000;

/** Milliseconds between two looks for orders whose time has passed. Their animals must be available within a second. */
const EXPIRY_INTERVAL = 500;

/** Milliseconds between two looks for endpoints to take and retries that are due. */
const DELIVERY_INTERVAL = 1_000;

/** Milliseconds between two writes of the usage history. What a crash may lose: section 6.9. */
const USAGE_INTERVAL = 5_000;

/**
 * Milliseconds between two writes that find out whether the database can be written, because nothing else may write for long.
 * Must be noticed within 10 s, also when a write hangs.
 */
const TOUCH_INTERVAL = 4_000;

const COUNTS_LOST = 'The last counts are lost: the database could not be used when the service stopped.';

const OUT_OF_TIME = 'Counts are lost: the database did not take all of them in the time of a stop.';

/** Milliseconds that `stop` waits for what is being written when `abandon` is called. */
const LAST_WRITE_TIME = 300;

interface Dependencies {
  readonly store: Store;
  readonly limiter: RateLimiter;
  readonly keyUses: KeyUses;
  readonly usage: UsageCounts;
  readonly changeLog: ChangeLog;
  readonly clock: Clock;
  readonly state: ServiceState;
  readonly feed: Feed;
  readonly limitWatch: LimitWatch;
  /** Undefined with WEBHOOKS=off. */
  readonly deliverer: Deliverer | undefined;
  /** Milliseconds that events are kept. */
  readonly eventsKept: number;
  readonly log: Logger;
}

export interface Background {
  /** Resolves when the flush of counts that has begun is over. */
  idle(): Promise<void>;
  /** No order expires from now on, except by a request. Resolves when the last sweep is over. */
  stopExpiry(): Promise<void>;
  /** Ends all tasks, and writes everything that is in memory. Rejects when some of it could not be written. */
  stop(): Promise<void>;
  /** The time for the stop is over: no further batch of usage begins, and `stop` soon rejects if it has not settled. */
  abandon(): void;
  /** What is in memory only: requests for the usage history, of how many keys, and keys whose last use is not written. */
  unwritten(): { readonly requests: number; readonly keys: number; readonly lastUses: number };
}

/** Starts what the service does besides answering: it writes counts, expires orders and logs changes. */
export function startBackground(dependencies: Dependencies): Background {
  const {
    store,
    limiter,
    keyUses,
    usage,
    changeLog,
    clock,
    state,
    feed,
    limitWatch,
    deliverer,
    eventsKept,
    log,
  } = dependencies;
  const mayWrite = () => state.isOpen;
  const abandoned = new AbortController();
  const outOfTime = Promise.withResolvers<never>();
  const { signal } = abandoned;
  const unwritten = () => ({ ...usage.unwritten, lastUses: keyUses.unwritten });
  const keeper = keepWriting(
    'a write to the store',
    async () => {
      await limiter.flush();
      await keyUses.flush(signal);
      await store.dropExpired();
      await changeLog.logNotices();
      await limitWatch.flush();
    },
    { interval: FLUSH_INTERVAL, mayWrite, log },
  );
  const expiry = keepWriting(
    'the expiry of orders',
    async () => {
      while (!state.isDraining && (await store.orders.expireDue()));
    },
    { interval: EXPIRY_INTERVAL, mayWrite, log },
  );
  const events = keepWriting('the feed of events', () => feed.look(), {
    interval: store.events.lookInterval,
    mayWrite,
    log,
  });
  const deliveries = keepWriting('the delivery of events', async () => deliverer?.look(), {
    interval: DELIVERY_INTERVAL,
    mayWrite,
    log,
  });
  const name = randomUUID();
  const touches = keepWriting('writing to the database', () => store.usageHistory.touch(name), {
    interval: TOUCH_INTERVAL,
    mayWrite,
    log,
    onChange: (isFailing) => {
      state.isWritable = !isFailing;
    },
  });
  let prunedAt = clock().monotonic;
  const history = keepWriting(
    'the usage history',
    async () => {
      await usage.flush(signal);
      if (clock().monotonic - prunedAt < MINUTE) return;
      prunedAt = clock().monotonic;
      await store.usageHistory.prune();
      await store.operators.prune();
      await store.passkeys.prune();
      await store.events.prune(eventsKept);
      await store.keys.recordExpiring();
    },
    { interval: USAGE_INTERVAL, mayWrite, log },
  );
  return {
    idle: () => keeper.idle(),
    stopExpiry: () => expiry.stop(),
    async stop() {
      // All are tried, even if one fails. None waits for the usage history, which may have much to write after an outage.
      const written = Promise.allSettled([
        keeper
          .stop()
          .then(() =>
            state.isOpen ? limiter.flushAll() : Promise.reject(new ServiceError('unavailable', COUNTS_LOST)),
          ),
        keeper.stop().then(() => keyUses.flushAll(signal)),
        history.stop().then(() => usage.flush(signal)),
        expiry.stop(),
        touches.stop(),
        events.stop(),
        deliveries.stop().then(() => deliverer?.stop()),
      ]);
      const ends = await Promise.race([written, outOfTime.promise]);
      for (const end of ends) if (end.status === 'rejected') throw end.reason;
      const { requests, lastUses } = unwritten();
      if (requests > 0 || lastUses > 0) throw new ServiceError('unavailable', OUT_OF_TIME);
    },
    abandon() {
      abandoned.abort();
      setTimeout(
        () => outOfTime.reject(new ServiceError('unavailable', OUT_OF_TIME)),
        LAST_WRITE_TIME,
      ).unref();
    },
    unwritten,
  };
}
