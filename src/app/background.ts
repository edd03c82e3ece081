// Contract: sections 3.12 and 6.
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from 'pino';
import { type Clock, SECOND } from '../domain/clock.ts';
import { ServiceError } from '../domain/errors.ts';
import { runEvery } from './run-every.ts';
import type { ServiceState } from './state.ts';
import type { OpenService, Task } from '../resources/feature.ts';
import type { RateLimiter } from '../limits/limiter.ts';
import type { Store } from '../resources/repositories.ts';

/**
 * Milliseconds between two writes that find out whether the database can be written, because nothing else may write for long.
 * Must be noticed within 10 s, also when a write hangs.
 */
const TOUCH_INTERVAL = 4_000;

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
  readonly services: readonly OpenService[];
  /** Makes the pages that strangers may ask for. */
  readonly preparePages: (signal: AbortSignal) => Promise<void>;
  /** Aborts when a stop begins: from then on, no round begins of work that another instance or the next start goes on with. */
  readonly stopping: AbortSignal;
  readonly clock: Clock;
  readonly state: ServiceState;
  readonly log: Logger;
}

export interface Background {
  /** Resolves when the flush of counts of limits that has begun is over. */
  idle(): Promise<void>;
  /** Ends all tasks, and writes what is in memory only. Rejects when some of it could not be written. Abort `stopping` before. */
  stop(): Promise<void>;
  /** The time for the stop is over: no further batch of usage begins, and `stop` soon rejects if it has not settled. */
  abandon(): void;
  /** What is in memory only, besides the counts of limits. */
  unwritten(): readonly string[];
}

/** Starts what the service does besides answering. */
export function startBackground(dependencies: Dependencies): Background {
  const { store, limiter, services, preparePages, stopping, clock, state, log } = dependencies;
  const abandoned = new AbortController();
  const outOfTime = Promise.withResolvers<void>();
  const options = { mayRun: () => state.isOpen, clock, log };
  const writer = randomUUID();

  const counts = runEvery('the counts of limits', () => limiter.flush(stopping), {
    ...options,
    interval: SECOND,
  });
  const touches = runEvery('writing to the database', () => store.usageHistory.touch(writer), {
    ...options,
    interval: TOUCH_INTERVAL,
    onChange: (isFailing) => {
      state.isWritable = !isFailing;
    },
  });
  const expired = {
    name: 'the deletion of expired answers',
    interval: SECOND,
    run: () => store.dropExpired(),
  };
  const tasks = [expired, ...services.flatMap((service) => service.tasks ?? [])].map((task: Task) => {
    const { name, interval, atStop } = task;
    const signal = atStop?.finish === undefined ? stopping : abandoned.signal;
    return { atStop, runner: runEvery(name, () => task.run(signal), { ...options, interval }) };
  });
  const pages = setTimeout(() => {
    // The first request for a page tries again.
    void preparePages(stopping).catch((error: unknown) =>
      log.warn({ err: error }, 'the pages could not be prepared'),
    );
  }, PAGES_AFTER);

  /** Resolves when the rounds that had begun are over, or there is no time for them. */
  let left = Promise.resolve();
  const leave = async () => {
    clearTimeout(pages);
    const over = new AbortController();
    const rounds = tasks.map(async ({ runner, atStop }) => {
      if (atStop?.finish !== undefined) return;
      await runner.stop();
      await atStop?.handOver?.(over.signal);
    });
    const late = wait(LEAVE_TIME, undefined, { signal: over.signal });
    await Promise.race([Promise.all([...rounds, touches.stop()]), late]).finally(() => over.abort());
  };
  stopping.addEventListener('abort', () => {
    left = leave();
  });

  let areCountsWritten = false;
  const writeCounts = async () => {
    await counts.stop();
    if (!state.isOpen) throw new ServiceError('unavailable', COUNTS_LOST);
    await limiter.flushAll();
    areCountsWritten = true;
  };
  const unwritten = () => tasks.flatMap(({ atStop }) => atStop?.unwritten?.() ?? []);
  /** What the time of a stop was too short for. */
  const loss = () => {
    const lost = [...(areCountsWritten ? [] : ['counts of limits']), ...unwritten()];
    return lost.length === 0
      ? undefined
      : new ServiceError('unavailable', `Counts are lost: a stop had no time to write ${lost.join(', ')}.`);
  };
  return {
    idle: () => counts.idle(),
    async stop() {
      try {
        // None waits for another one: the usage history may have much to write after an outage.
        const writes = tasks.map(async ({ runner, atStop }) => {
          if (atStop?.finish === undefined) return;
          await runner.stop();
          await atStop.finish(abandoned.signal);
        });
        // All are tried, even if one fails.
        const written = Promise.allSettled([writeCounts(), ...writes]);
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
