// Contract: section 6.
import type { Logger } from 'pino';

/** Milliseconds between two flushes. A crash loses at most the counts of this time. */
const FLUSH_INTERVAL = 1_000;

/**
 * Runs `write` every `interval` milliseconds while `mayWrite` allows it, never twice at a time, and `writeAll` at the end. An outage is
 * logged when it begins and when it ends.
 */
export function keepWriting(
  write: () => Promise<void>,
  writeAll: () => Promise<void>,
  { interval = FLUSH_INTERVAL, mayWrite, log }: { interval?: number; mayWrite: () => boolean; log: Logger },
): { idle: () => Promise<void>; stop: () => Promise<void> } {
  let failing = false;
  let last = Promise.resolve();
  const attempt = async () => {
    try {
      await write();
      if (failing) log.info('writes to the store succeed again');
      failing = false;
    } catch (error) {
      if (!failing) log.error({ err: error }, 'a write to the store failed; the service tries again');
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
    async stop() {
      clearInterval(timer);
      await last;
      await writeAll();
    },
  };
}
