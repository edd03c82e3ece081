import type { Logger } from 'pino';
import type { Store } from '../resources/repositories.ts';

interface GateOptions {
  readonly store: Pick<Store, 'check'>;
  /** What the gate opens and closes. */
  readonly state: { isOpen: boolean };
  /** Writes the counts and reads them from the store again, because another service may have counted meanwhile. */
  readonly reload: () => Promise<void>;
  readonly log: Logger;
}

/** Closed while the store cannot be relied on. Then nothing is admitted or counted (docs/design/sqlite.md and docs/design/postgres.md). */
export class ServingGate {
  readonly #options: GateOptions;
  /** Whether another service may have counted. */
  #isStale = false;
  #reason: string | undefined;
  /** Whether a check was called for since the last one began. */
  #isDue = false;
  #running: Promise<void> | undefined;
  #hasEnded = false;

  constructor(options: GateOptions) {
    this.#options = options;
  }

  /** Opens or closes the gate by the state of the store from now on. Never rejects. Does nothing after `end`. */
  check(): Promise<void> {
    if (this.#hasEnded) return Promise.resolve();
    this.#isDue = true;
    this.#running ??= this.#run().finally(() => (this.#running = undefined));
    return this.#running;
  }

  /** Resolves when no check runs any more. A check that ends after the store would take the lock again. */
  async end(): Promise<void> {
    this.#hasEnded = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#isDue) {
      this.#isDue = false;
      await this.#checkOnce().catch((error: Error) => this.#close(error));
    }
  }

  async #checkOnce(): Promise<void> {
    const { store, state, reload, log } = this.#options;
    if ((await store.check()) === 'retaken') this.#isStale = true;
    if (this.#isStale) await reload();
    this.#isStale = false;
    // Another check is due: the store may be lost again.
    if (state.isOpen || this.#isDue) return;
    state.isOpen = true;
    this.#reason = undefined;
    log.info('requests are answered again');
  }

  #close(error: Error): void {
    this.#options.state.isOpen = false;
    // Every check of an outage gives the same reason. It is logged once.
    if (error.message === this.#reason) return;
    this.#reason = error.message;
    this.#options.log.error({ err: error }, 'requests are refused with 503 for now');
  }
}
