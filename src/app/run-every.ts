// Contract: sections 3.12 and 6.
import type { Logger } from 'pino';
import type { Clock } from '../domain/clock.ts';

/** Milliseconds between two looks at the clock whether a longer interval is over. */
const LOOK_INTERVAL = 5_000;

interface RunnerOptions {
  /** Milliseconds. */
  readonly interval: number;
  readonly mayRun: () => boolean;
  readonly clock: Clock;
  readonly log: Logger;
  /**
   * Called when an outage begins and when it ends. With it, a run that takes longer than `interval` counts as failed until it
   * is over, because a disk can hang.
   */
  readonly onChange?: (isFailing: boolean) => void;
}

interface Runner {
  /** Resolves when the run that has begun is over. */
  idle(): Promise<void>;
  /** No run begins from now on. Resolves when the last one is over. */
  stop(): Promise<void>;
}

/**
 * Runs `run` every `interval` milliseconds while `mayRun` allows it, never twice at a time. An outage is logged when
 * it begins and when it ends, as a failure of `task`.
 */
export function runEvery(
  task: string,
  run: () => Promise<void>,
  { interval, mayRun, clock, log, onChange }: RunnerOptions,
): Runner {
  let failing = false;
  let isStopped = false;
  let last = Promise.resolve();
  const fail = (error: unknown) => {
    // A stop says itself what it could not write.
    if (!failing && !isStopped) log.error({ err: error }, `${task} failed; the service tries again`);
    failing = true;
    onChange?.(true);
  };
  const attempt = async () => {
    try {
      await run();
      if (failing) log.info(`${task} succeeds again`);
      failing = false;
      onChange?.(false);
    } catch (error) {
      fail(error);
    }
  };
  let busy = false;
  let begunAt = clock().monotonic;
  const timer = setInterval(
    () => {
      if (busy && onChange !== undefined) fail(new Error(`It has taken ${interval} ms and is not over.`));
      const now = clock().monotonic;
      if (busy || !mayRun() || (interval > LOOK_INTERVAL && now - begunAt < interval)) return;
      begunAt = now;
      busy = true;
      last = attempt().finally(() => {
        busy = false;
      });
    },
    Math.min(interval, LOOK_INTERVAL),
  );
  return {
    idle: () => last,
    stop() {
      isStopped = true;
      clearInterval(timer);
      return last;
    },
  };
}
