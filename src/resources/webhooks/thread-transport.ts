// Contract: section 13. Why a thread: docs/design/webhooks.md.
import { type ResourceLimits, Worker } from 'node:worker_threads';
import type { Logger } from 'pino';
import { SECOND } from '../../domain/clock.ts';
import type { Found } from './addresses.ts';
import { LOOKUP_TIME } from './names.ts';
import type { TransportCall, TransportAnswer } from './sending-thread.ts';
import type { Answer, EndpointRequest, Transport, TransportSettings } from './transport.ts';

const ENTRY = new URL('sending-thread.ts', import.meta.url);

/** Megabytes. Nothing comes near, because connections and bytes are bounded by count. */
const HEAP_LIMIT: ResourceLimits = { maxOldGenerationSizeMb: 160, maxYoungGenerationSizeMb: 16 };

/** Milliseconds between two signs of life, while calls wait, and how many may be missing before the thread is ended. */
const SIGN_INTERVAL = SECOND;
const MOST_MISSING = 8;

/** Milliseconds before the next start of a thread that ended. They double each time, unless it had lived for long. */
const PAUSE = { least: SECOND / 8, most: 4 * SECOND, longLife: 60 * SECOND };

/** Milliseconds that a look-up waits for the thread beyond its own time. */
const LOOKUP_GRACE = SECOND / 2;

/** Starts a thread for a `ThreadTransport`. */
export function startSendingThread(workerData: TransportSettings, resourceLimits = HEAP_LIMIT): Worker {
  return new Worker(ENTRY, { workerData, resourceLimits });
}

interface Pending {
  readonly call: Exclude<TransportCall, 0>;
  readonly resolve: (value: unknown) => void;
}

const NOT_FOUND: Found = { failure: 'name_not_resolved' };
const NOT_ANSWERED: Answer = { failure: 'connection_failed' };

/** A transport on a thread of its own. It starts with the first call, and again after it has ended. */
export class ThreadTransport implements Transport {
  readonly #startThread: () => Worker;
  readonly #log: Pick<Logger, 'warn'>;
  #thread: Worker | undefined;
  /** Calls without an answer. While there is a thread, it has all of them. */
  readonly #pending = new Map<number, Pending>();
  #lastId = 0;
  #signs: NodeJS.Timeout | undefined;
  #missing = 0;
  #restart: NodeJS.Timeout | undefined;
  #pause: number = PAUSE.least;
  #isClosed = false;

  constructor(startThread: () => Worker, log: Pick<Logger, 'warn'>) {
    this.#startThread = startThread;
    this.#log = log;
  }

  /** A thread that ends, or that does not turn, takes none of its time. */
  async lookUp(hostname: string, accountId: number): Promise<Found> {
    const id = ++this.#lastId;
    const timer = setTimeout(() => this.#settle(id, NOT_FOUND), LOOKUP_TIME + LOOKUP_GRACE);
    const found = await this.#make([id, 'lookUp', hostname, accountId]);
    clearTimeout(timer);
    return (found ?? NOT_FOUND) as Found;
  }

  post(request: EndpointRequest): Promise<Answer | undefined> {
    return this.#make([++this.#lastId, 'post', request]) as Promise<Answer | undefined>;
  }

  async withdraw(webhookId: number): Promise<void> {
    if (this.#thread !== undefined) await this.#make([++this.#lastId, 'withdraw', webhookId]);
    // Without a thread, nothing has left.
    else
      for (const { call } of this.#pending.values())
        if (call[1] === 'post' && call[2].webhookId === webhookId) this.#settle(call[0], undefined);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#signs);
    clearTimeout(this.#restart);
    const thread = this.#thread;
    this.#thread = undefined;
    await thread?.terminate();
    for (const id of this.#pending.keys()) this.#settle(id, undefined);
  }

  async #make(call: Exclude<TransportCall, 0>): Promise<unknown> {
    if (this.#isClosed) return undefined;
    const { promise, resolve } = Promise.withResolvers<unknown>();
    this.#pending.set(call[0], { call, resolve });
    if (this.#thread !== undefined) this.#thread.postMessage(call);
    else if (this.#restart === undefined) this.#start();
    this.#watch();
    return promise;
  }

  #settle(id: number, value: unknown): void {
    this.#pending.get(id)?.resolve(value);
    this.#pending.delete(id);
  }

  #start(): void {
    const startedAt = performance.now();
    let failure: Error | undefined;
    const end = (error: Error) => this.#end(error, performance.now() - startedAt);
    try {
      const thread = this.#startThread();
      this.#thread = thread;
      this.#missing = 0;
      thread.on('message', (answer: TransportAnswer) => {
        this.#missing = 0;
        if (answer !== 0) this.#settle(...answer);
      });
      thread.on('error', (error: Error) => (failure = error));
      thread.on('exit', (code) => {
        // `close` ends it on purpose.
        if (thread === this.#thread) end(failure ?? new Error(`The thread ended with code ${code}.`));
      });
      for (const { call } of this.#pending.values()) thread.postMessage(call);
    } catch (error) {
      // The system has no memory for a thread now.
      end(error as Error);
    }
  }

  /** What was sent may have arrived, so it counts as failed. Names are looked up again. */
  #end(error: Error, lifetime: number): void {
    this.#thread = undefined;
    this.#log.warn({ err: error }, 'the thread that sends webhooks ended: it is started again');
    for (const { call } of this.#pending.values())
      if (call[1] !== 'lookUp') this.#settle(call[0], call[1] === 'post' ? NOT_ANSWERED : undefined);
    this.#pause = lifetime >= PAUSE.longLife ? PAUSE.least : Math.min(PAUSE.most, 2 * this.#pause);
    this.#restart = setTimeout(() => {
      this.#restart = undefined;
      if (this.#pending.size > 0) this.#start();
    }, this.#pause).unref();
  }

  /** Ends a thread that does not turn any more. Counts turns of this thread, which may have stood still itself. */
  #watch(): void {
    this.#signs ??= setInterval(() => {
      if (this.#pending.size === 0) {
        clearInterval(this.#signs);
        this.#signs = undefined;
      } else if (++this.#missing > MOST_MISSING) void this.#thread?.terminate();
      else this.#thread?.postMessage(0);
    }, SIGN_INTERVAL).unref();
  }
}
