// Contract: sections 3.12 and 6.
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from 'pino';
import { type Clock, MINUTE } from '../domain/clock.ts';
import { ServiceError } from '../domain/errors.ts';
import { keepWriting } from './keep-writing.ts';
import type { ServiceState } from './state.ts';
import type { OpenService, Task } from '../resources/feature.ts';
import type { RateLimiter } from '../limits/limiter.ts';
import type { Store } from '../resources/repositories.ts';

/** Milliseconds between two flushes. What a crash may lose: section 6.7. */
const FLUSH_INTERVAL = 1_000;

/**
 * Milliseconds between two writes that find out whether the database can be written, because nothing else may write for long.
 * Must be noticed within 10 s, also when a write hangs.
 */
const TOUCH_INTERVAL = 4_000;

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
  readonly store: Pick<Store, 'dropExpired' | 'usageHistory'>;
  readonly limiter: RateLimiter;
  /** In the order of the features. */
  readonly services: readonly OpenService[];
  /** Makes the pages that strangers may ask for. */
  readonly preparePages: (signal: AbortSignal) => Promise<void>;
  readonly clock: Clock;
  readonly state: ServiceState;
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
  /** What is in memory only, besides the counts of limits. */
  unwritten(): Readonly<Record<string, number>>;
}

/** Starts what the service does besides answering. */
export function startBackground({
  store,
  limiter,
  services,
  preparePages,
  clock,
  state,
  log,
}: Dependencies): Background {
  const mayWrite = () => state.isOpen;
  const abandoned = new AbortController();
  const leaving = new AbortController();
  const outOfTime = Promise.withResolvers<void>();
  const { signal } = abandoned;
  const unwritten = () =>
    Object.assign({}, ...services.map((service) => service.unwritten?.().counts)) as Record<string, number>;

  // What a stop finishes, because it is in memory only.
  const keeper = keepWriting(
    'a write to the store',
    async () => {
      await limiter.flush(leaving.signal);
      await tryAll([() => store.dropExpired(), ...services.map((service) => () => service.flush?.(signal))]);
    },
    { interval: FLUSH_INTERVAL, mayWrite, log },
  );

  const tasks = services.map((service) => {
    const start = ({ name, interval, isFinished, run }: Task) =>
      keepWriting(name, () => run(isFinished ? signal : leaving.signal), { interval, mayWrite, log });
    const { finished = [], left = [] } = Object.groupBy(service.tasks ?? [], ({ isFinished }) =>
      isFinished ? 'finished' : 'left',
    );
    return { service, finished: finished.map(start), left: left.map(start) };
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
    void preparePages(leaving.signal).catch((error: unknown) =>
      log.warn({ err: error }, 'the pages could not be prepared'),
    );
  }, PAGES_AFTER);
  leaving.signal.addEventListener('abort', () => clearTimeout(pages));
  let cleanedAt = clock().monotonic;
  const cleaning = keepWriting(
    'the deletion of what is old',
    async () => {
      if (clock().monotonic - cleanedAt < MINUTE) return;
      cleanedAt = clock().monotonic;
      await tryAll(services.map((service) => () => service.prune?.(leaving.signal)));
    },
    { interval: CLEANING_INTERVAL, mayWrite, log },
  );

  /** Resolves when the rounds that had begun are over, or there is no time for them. */
  let left = Promise.resolve();
  const leave = async () => {
    leaving.abort();
    const over = new AbortController();
    const rounds = tasks.toReversed().map(async ({ service, left: begun }) => {
      await Promise.all(begun.map((task) => task.stop()));
      await service.handOver?.(over.signal);
    });
    const late = wait(LEAVE_TIME, undefined, { signal: over.signal });
    await Promise.race([Promise.all([...rounds, touches.stop(), cleaning.stop()]), late]).finally(() =>
      over.abort(),
    );
  };

  let areCountsWritten = false;
  const writeCounts = async () => {
    await keeper.stop();
    if (!state.isOpen) throw new ServiceError('unavailable', COUNTS_LOST);
    await limiter.flushAll();
    areCountsWritten = true;
  };
  /** None waits for another one: the usage history may have much to write after an outage. */
  const finish = async ({ service, finished }: (typeof tasks)[number]) => {
    await Promise.all([service.flush && keeper.stop(), ...finished.map((task) => task.stop())]);
    await service.finish?.(signal);
  };
  /** What the time of a stop was too short for. */
  const loss = () => {
    const texts = services.flatMap((service) => service.unwritten?.().text ?? []);
    const lost = areCountsWritten ? texts : ['counts of limits', ...texts];
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
        // All are tried, even if one fails.
        const written = Promise.allSettled([writeCounts(), ...tasks.map(finish)]);
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

/** Does one after the other, also after one that fails, so that none starves the others. Rejects with the first failure. */
async function tryAll(parts: readonly (() => Promise<void> | undefined)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const part of parts) {
    try {
      await part();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}
