// Contract: sections 3.12 and 6.
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from 'pino';
import { auditRetention } from './audit-retention.ts';
import type { LimitWatch } from './limit-watch.ts';
import { type Clock, MINUTE } from '../domain/clock.ts';
import { ServiceError } from '../domain/errors.ts';
import { repeatRounds } from '../domain/rounds.ts';
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

const NOT_HANDED_OVER = 'the webhooks could not be handed over: another instance takes them within 30 s';

/** Milliseconds between two looks whether a minute is over, after which what is old is deleted. */
const CLEANING_INTERVAL = 5_000;

/** Milliseconds after the start, when requests have found their way, until pages are made. */
const PAGES_AFTER = 3_000;

const COUNTS_LOST = 'The last counts are lost: the database could not be used when the service stopped.';

/** Milliseconds that `stop` waits for what is being written when `abandon` is called. */
const LAST_WRITE_TIME = 300;

/** Milliseconds that a stop waits for the rounds of work that it leaves. */
const LEAVE_TIME = 800;

interface Dependencies {
  readonly store: Store;
  readonly limiter: RateLimiter;
  readonly keyUses: KeyUses;
  readonly usage: UsageCounts;
  /** Makes the pages that strangers may ask for. */
  readonly preparePages: (signal: AbortSignal) => Promise<void>;
  readonly clock: Clock;
  readonly state: ServiceState;
  readonly feed: Feed;
  readonly limitWatch: LimitWatch;
  /** Undefined with WEBHOOKS=off. */
  readonly deliverer: Deliverer | undefined;
  /** Milliseconds that events are kept. */
  readonly eventsKept: number;
  /** Milliseconds that entries of keys stay in the audit log. */
  readonly auditKept: number;
  readonly log: Logger;
}

export interface Background {
  /** Resolves when the flush of counts that has begun is over. */
  idle(): Promise<void>;
  /** From now on, no round begins of work that another instance or the next start goes on with. */
  leave(): void;
  /** Ends all tasks, and writes what is in memory only. Rejects when some of it could not be written. Call `leave` before. */
  stop(): Promise<void>;
  /** The time for the stop is over: no further batch of usage begins, and `stop` soon rejects if it has not settled. */
  abandon(): void;
  /** What is in memory only: requests for the usage history, of how many keys, and keys whose last use is not written. */
  unwritten(): { readonly requests: number; readonly keys: number; readonly lastUses: number };
}

/** Starts what the service does besides answering: it writes counts and expires orders. */
export function startBackground(dependencies: Dependencies): Background {
  const { store, limiter, keyUses, usage, clock, state, feed, limitWatch, deliverer, eventsKept, log } =
    dependencies;
  const mayWrite = () => state.isOpen;
  const abandoned = new AbortController();
  const leaving = new AbortController();
  const outOfTime = Promise.withResolvers<void>();
  const { signal } = abandoned;
  const unwritten = () => ({ ...usage.unwritten, lastUses: keyUses.unwritten });

  // What a stop finishes, because it is in memory only.
  const keeper = keepWriting(
    'a write to the store',
    async () => {
      await limiter.flush(leaving.signal);
      await keyUses.flush(signal);
      await store.dropExpired();
      await limitWatch.flush();
    },
    { interval: FLUSH_INTERVAL, mayWrite, log },
  );
  const history = keepWriting('the usage history', () => usage.flush(signal), {
    interval: USAGE_INTERVAL,
    mayWrite,
    log,
  });

  // What a stop leaves. Each goes on in rounds until `leaving` aborts.
  const expiry = keepWriting(
    'the expiry of orders',
    () => repeatRounds(() => store.orders.expireDue(), leaving.signal),
    {
      interval: EXPIRY_INTERVAL,
      mayWrite,
      log,
    },
  );
  const events = keepWriting('the feed of events', () => feed.look(leaving.signal), {
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
  const pages = setTimeout(() => {
    // The first request for a page tries again.
    void dependencies
      .preparePages(leaving.signal)
      .catch((error: unknown) => log.warn({ err: error }, 'the pages could not be prepared'));
  }, PAGES_AFTER);
  leaving.signal.addEventListener('abort', () => clearTimeout(pages));
  const pruneAudit = auditRetention(dependencies);
  let cleanedAt = clock().monotonic;
  const cleaning = keepWriting(
    'the deletion of what is old',
    async () => {
      if (clock().monotonic - cleanedAt < MINUTE) return;
      cleanedAt = clock().monotonic;
      await store.usageHistory.prune();
      await store.operators.prune();
      await store.passkeys.prune();
      await store.events.prune(eventsKept, leaving.signal);
      await store.keys.recordExpiring(leaving.signal);
      await pruneAudit(leaving.signal);
    },
    { interval: CLEANING_INTERVAL, mayWrite, log },
  );

  /** Resolves when the rounds that had begun are over, or there is no time for them. */
  let left = Promise.resolve();
  const leave = async () => {
    leaving.abort();
    const over = new AbortController();
    const handedOver = deliveries
      .stop()
      .then(() => deliverer?.stop())
      .catch((error: unknown) => {
        if (!over.signal.aborted) log.warn({ err: error }, NOT_HANDED_OVER);
      });
    const rounds = [expiry, events, touches, cleaning].map((task) => task.stop());
    const late = wait(LEAVE_TIME, undefined, { signal: over.signal });
    await Promise.race([Promise.all([handedOver, ...rounds]), late]).finally(() => over.abort());
  };

  let areCountsWritten = false;
  const writeCounts = async () => {
    await keeper.stop();
    if (!state.isOpen) throw new ServiceError('unavailable', COUNTS_LOST);
    await limiter.flushAll();
    areCountsWritten = true;
  };
  const writeRest = async () => {
    await keeper.stop();
    await keyUses.flushAll(signal);
    await limitWatch.flush();
  };
  const writeHistory = async () => {
    await history.stop();
    await usage.flush(signal);
  };
  /** What the time of a stop was too short for. */
  const loss = () => {
    const { requests, lastUses } = unwritten();
    const lost = [
      ...(areCountsWritten ? [] : ['counts of limits']),
      ...(requests > 0 ? [`${requests} requests of the usage history`] : []),
      ...(lastUses > 0 ? [`the last use of ${lastUses} keys`] : []),
    ];
    return lost.length === 0
      ? undefined
      : new ServiceError('unavailable', `Counts are lost: a stop had no time to write ${lost.join(', ')}.`);
  };
  return {
    idle: () => keeper.idle(),
    leave() {
      left = leave();
    },
    async stop() {
      try {
        // All are tried, even if one fails. None waits for the usage history, which may have much to write after an outage.
        const written = Promise.allSettled([writeCounts(), writeRest(), writeHistory()]);
        const ends = (await Promise.race([written, outOfTime.promise])) ?? [];
        for (const end of ends) if (end.status === 'rejected') throw end.reason;
        const error = loss();
        if (error !== undefined) throw error;
      } finally {
        await left;
      }
    },
    abandon() {
      abandoned.abort();
      setTimeout(outOfTime.resolve, LAST_WRITE_TIME).unref();
    },
    unwritten,
  };
}
