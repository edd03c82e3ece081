import { after } from 'node:test';

/** How long something that a test starts lives: as long as the test, or as long as all tests of a file. */
export interface Lifetime {
  after(stop: () => unknown): void;
  /** Aborted when all that was given to `after` is done. */
  readonly signal: AbortSignal;
}

/** Ends after the last test of the file. What lives in it is shared: each test uses accounts of its own. */
export function lifetimeOfFile(): Lifetime {
  const stops: (() => unknown)[] = [];
  const over = new AbortController();
  after(async () => {
    for (const stop of stops) await stop();
    over.abort();
  });
  return { after: (stop) => void stops.push(stop), signal: over.signal };
}
