import { after } from 'node:test';

/** How long something that a test starts lives: as long as the test, or as long as all tests of a file. */
export interface Lifetime {
  after(stop: () => unknown): void;
  /** Aborted when all that was given to `after` is done. */
  readonly signal: AbortSignal;
}

/** Ends after the last test of the file. What lives in it is shared: each test uses accounts of its own. */
export function lifetimeOfFile(): Lifetime {
  const { lifetime, end } = beginLifetime();
  after(end);
  return lifetime;
}

export function beginLifetime() {
  const stops: (() => unknown)[] = [];
  const over = new AbortController();
  const lifetime: Lifetime = { after: (stop) => void stops.push(stop), signal: over.signal };
  const end = async () => {
    for (const stop of stops.splice(0)) await stop();
    over.abort();
  };
  return { lifetime, end };
}

const { lifetime, end } = beginLifetime();
let isShared = false;
after(() => (isShared ? undefined : end()));

/** Ends after the last test of this process, which several files may share. */
export const PROCESS: Lifetime = lifetime;

/**
 * For the program that runs several files in this process: PROCESS lives until it calls `end`. The hooks of the process run
 * as soon as one file is done and no other has begun.
 */
export function shareProcess(): { end(): Promise<void> } {
  isShared = true;
  return { end };
}
