// Contract: sections 3.12 and 6.
import type { Logger } from 'pino';

interface Keeper {
  /** Resolves when the run that has begun is over. */
  idle(): Promise<void>;
  /** No run begins from now on. Resolves when the last one is over. */
  stop(): Promise<void>;
}

/**
 * Runs `write` every `interval` milliseconds while `mayWrite` allows it, never twice at a time. An outage is logged when
 * it begins and when it ends, as a failure of `task`.
 */
export function keepWriting(
  task: string,
  write: () => Promise<void>,
  { interval, mayWrite, log }: { interval: number; mayWrite: () => boolean; log: Logger },
): Keeper {
  let failing = false;
  let isStopped = false;
  let last = Promise.resolve();
  const attempt = async () => {
    try {
      await write();
      if (failing) log.info(`${task} succeeds again`);
      failing = false;
    } catch (error) {
      // A stop says itself what it could not write.
      if (!failing && !isStopped) log.error({ err: error }, `${task} failed; the service tries again`);
      failing = true;
    }
  };
  let busy = false;
  const timer = setInterval(() => {
    if (busy || !mayWrite()) return;
    busy = true;
    last = attempt().finally(() => {
      busy = false;
    });
  }, interval);
  return {
    idle: () => last,
    stop() {
      isStopped = true;
      clearInterval(timer);
      return last;
    },
  };
}
