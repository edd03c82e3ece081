import { answerError } from './answer-error.ts';
import type { WithResponse } from './api-promise.ts';
import { type CallOptions, checkCallOptions } from './call-options.ts';
import { readDeprecation } from './deprecation.ts';
import { AbortError, ConnectionError, type PetStoreError, RateLimitError } from './errors.ts';
import { type Answer, exchange } from './exchange.ts';
import type { Refusal } from './gate.ts';
import { given } from './given.ts';
import { type OperationId, OPERATIONS } from './operations.ts';
import type { Settings } from './options.ts';
import { type RateLimit, type RateLimitReading, readRateLimit } from './rate-limit.ts';
import { backoff, retryAfter, waitAfter } from './retry-timing.ts';
import { gateOf, type ClientRuntime } from './runtime.ts';

/** One call of an operation. It must be safe to send it twice. */
export interface Call<Result> {
  readonly operation: OperationId;
  /** The values of the path's parameters, in their order. */
  readonly path?: readonly string[];
  /** Undefined values are left out. */
  readonly query?: Readonly<Record<string, string | number | bigint | undefined>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly options: CallOptions;
  /** Reads a 2xx answer. Throws when the answer is incomplete. */
  readonly read: (answer: Answer) => Result;
}

/** The end of one try: a result, or an error with the wait before the next try. Undefined: do not retry. */
type Try<Result> =
  | WithResponse<Result>
  | { readonly error: PetStoreError; readonly wait: number | undefined };

/** Sends calls, and retries them after the wait that the service asks for. */
export class Transport {
  readonly #settings: Settings;
  readonly #runtime: ClientRuntime;
  readonly #deprecated = new Set<string>();
  #rateLimit: RateLimit | undefined;

  constructor(settings: Settings, runtime: ClientRuntime) {
    this.#settings = settings;
    this.#runtime = runtime;
  }

  get rateLimit(): RateLimit | undefined {
    return this.#rateLimit;
  }

  /** @throws PetStoreError when there is no result within the tries and the wait that the settings allow. */
  async send<Result>(call: Call<Result>): Promise<WithResponse<Result>> {
    checkCallOptions(call.options);
    const { signal } = call.options;
    try {
      return await this.#repeat(call);
    } catch (error) {
      throw signal?.aborted && error === signal.reason ? new AbortError(signal) : error;
    }
  }

  async #repeat<Result>(call: Call<Result>): Promise<WithResponse<Result>> {
    const { operation } = call;
    const { maxTries = this.#settings.maxTries, signal = new AbortController().signal } = call.options;
    const { now, sleep } = this.#runtime;
    const deadline = now() + this.#settings.maxWait;
    for (let tries = 1; ; tries++) {
      const tried = await this.#try(call, deadline, tries);
      if ('data' in tried) return tried;
      const { error, wait } = tried;
      if (wait === undefined || tries >= maxTries) throw error;
      const isLate = now() + wait > deadline;
      // After a refusal, all requests with this key wait at the gate. It refuses this call when it would be late.
      const waitsAtGate = error instanceof RateLimitError;
      if (isLate && !waitsAtGate) throw error;
      if (!isLate) {
        const rounded = Math.ceil(wait);
        this.#settings.logger?.warn(
          `petstore-client: ${operation} is tried again in ${rounded} ms: ${error.message}`,
          { operation, tries, status: error.status, requestId: error.requestId, wait: rounded },
        );
      }
      if (!waitsAtGate) await sleep(wait, signal);
    }
  }

  async #try<Result>(call: Call<Result>, deadline: number, tries: number): Promise<Try<Result>> {
    const { baseUrl, apiKey, pace, fetch, logger } = this.#settings;
    const { signal, timeout = this.#settings.timeout } = call.options;
    const url = baseUrl + target(call);
    // Created here, so that a header that cannot be sent is the caller's error and not a failure of the network.
    const headers = new Headers({
      Accept: 'application/json',
      Authorization: `Bearer ${apiKey}`,
      ...call.headers,
    });
    const { operation, body } = call;
    const { method } = OPERATIONS[operation];
    const init = { method, headers, ...(body !== undefined && { body }) };

    const gate = gateOf(this.#runtime, baseUrl, apiKey);
    const pass = await gate.enter({ deadline, pace, signal });
    let reading: RateLimitReading | undefined;
    let outcome: Refusal | 'admitted' | 'unanswered' = 'unanswered';
    let answer: Answer;
    let ended: Try<Result>;
    try {
      answer = await exchange(url, init, { fetch, timeout, signal, runtime: this.#runtime });
      const unix = this.#runtime.unix();
      reading = readRateLimit(answer.headers, unix);
      const asked = retryAfter(answer.headers, unix);
      ended = this.#resultOf(call, answer, { tries, asked, rateLimit: reading?.rateLimit });
      if ('error' in ended && ended.error instanceof RateLimitError) outcome = { error: ended.error, asked };
      // A 5xx does not show that the limit admits requests again.
      else if (answer.status < 500) outcome = 'admitted';
    } catch (error) {
      if (!(error instanceof ConnectionError)) throw error;
      return { error, wait: backoff(tries, this.#runtime.random()) };
    } finally {
      gate.leave(pass, reading, outcome);
    }
    if (reading?.rateLimit !== undefined) this.#rateLimit = reading.rateLimit;
    const { status, requestId } = answer;
    const duration = Math.round(this.#runtime.now() - pass.sentAt);
    logger?.debug(`petstore-client: ${operation} was answered with ${status} after ${duration} ms`, {
      operation,
      tries,
      status,
      requestId,
      duration,
    });
    this.#noticeDeprecation(operation, answer.headers);
    return ended;
  }

  #resultOf<Result>(
    call: Call<Result>,
    answer: Answer,
    {
      tries,
      asked,
      rateLimit,
    }: { tries: number; asked: number | undefined; rateLimit: RateLimit | undefined },
  ): Try<Result> {
    const { status, headers, requestId } = answer;
    const { random, unix } = this.#runtime;
    if (status < 200 || status > 299) {
      const retryAt = asked === undefined ? undefined : new Date(Math.ceil(unix() + asked));
      return {
        error: answerError(answer, retryAt, rateLimit),
        wait: waitAfter(status, asked, tries, random()),
      };
    }
    try {
      return { data: call.read(answer), response: { status, headers, requestId, rateLimit } };
    } catch (cause) {
      const message = `The answer to ${call.operation} is not one of the Pet Store service.`;
      throw new ConnectionError(message, { status, requestId, cause });
    }
  }

  /** Reports each operation once. */
  #noticeDeprecation(operation: string, headers: Headers): void {
    if (this.#deprecated.has(operation)) return;
    const deprecation = readDeprecation(operation, headers);
    if (deprecation === undefined) return;
    this.#deprecated.add(operation);
    this.#settings.onDeprecation(deprecation);
  }
}

/** Path and query of a call, below the base address. */
function target<Result>({ operation, path = [], query = {} }: Call<Result>): string {
  const values = [...path];
  const its = OPERATIONS[operation];
  const known: readonly string[] = its.query;
  const filled = its.path.replace(/\{\w+\}/g, () => encodeURIComponent(values.shift() ?? ''));
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (!known.includes(name))
      throw new TypeError(`There is no parameter "${name}". The parameters are ${known.join(', ')}.`);
    if (value === undefined) continue;
    if (typeof value === 'object')
      throw new TypeError(`${name} must be a string or a number, but ${given(value)} was given.`);
    parameters.set(name, String(value));
  }
  const search = parameters.toString();
  return search === '' ? filled : `${filled}?${search}`;
}
