import type { Background } from './background.ts';
import type { OpenConsole } from './console-listener.ts';
import type { PublicApi } from './public-listener.ts';
import type { ServingGate } from './serving-gate.ts';
import type { Server } from 'node:http';
import type { Logger } from 'pino';
import type { RateLimiter } from '../limits/limiter.ts';
import type { OpenService } from '../resources/feature.ts';
import { closeServices } from '../resources/services.ts';

/** Milliseconds that a stop waits for the requests that were accepted. The rest of the 10 s is for counts and log. */
const DRAIN_TIME = 8_000;

/** Milliseconds after which a stop begins no further batch of usage. The rest is for the last one, the store and the log. */
const WRITE_TIME = 8_700;

interface Parts {
  readonly log: Logger;
  readonly servers: readonly Server[];
  readonly store: { close(): Promise<void> };
  readonly limiter: RateLimiter;
  /** In the order of the features. */
  readonly services: readonly OpenService[];
  readonly state: { isOpen: boolean; isDraining: boolean };
  readonly stopping: AbortController;
  readonly api: PublicApi;
  readonly console: OpenConsole | undefined;
  readonly background: Background;
  readonly gate: ServingGate;
  readonly checks: NodeJS.Timeout;
}

/** Turns readiness off, finishes what was accepted, writes all counts and closes the store; within 10 seconds. */
export async function stopService(parts: Parts): Promise<void> {
  const { state, stopping, api, console, background, gate, checks, servers, store, limiter, services, log } =
    parts;
  state.isDraining = true;
  log.info('stopping');
  const late = setTimeout(() => background.abandon(), WRITE_TIME);
  stopping.abort();
  await settled(() => !api.isBusy && console?.isBusy !== true, DRAIN_TIME);
  await Promise.all([api.abandon(), console?.abandon()]);
  for (const each of servers) {
    each.close();
    each.closeAllConnections();
  }
  clearInterval(checks);
  // The last counts may only be written under the lock, so it is taken again if possible.
  if (!state.isOpen) await gate.check();
  try {
    await background.stop();
  } catch (error) {
    const unwritten = background.unwritten();
    log.error({ err: error, unwritten }, 'the last counts could not be written down and are lost');
    throw error;
  } finally {
    clearTimeout(late);
    await gate.end();
    limiter.close();
    await closeServices(services, log);
    await store.close();
    log.info('stopped');
  }
}

/** Waits until `condition` holds, at most `milliseconds`. */
async function settled(condition: () => boolean, milliseconds: number): Promise<void> {
  const end = performance.now() + milliseconds;
  while (!condition() && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 10));
}
