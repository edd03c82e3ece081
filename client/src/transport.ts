import { answerError } from './answer-error.ts';
import { readDeprecation } from './deprecation.ts';
import { ConnectionError, type PetStoreError, RateLimitError } from './errors.ts';
import { type Answer, exchange } from './exchange.ts';
import type { Refusal } from './gate.ts';
import type { Settings } from './options.ts';
import { type RateLimit, type RateLimitReading, readRateLimit } from './rate-limit.ts';
import { backoff, retryAfter, waitAfter } from './retry-timing.ts';
import { gateOf, type Surroundings } from './surroundings.ts';

/** One call of an operation. Whatever is tried again must be safe to be done twice. */
export interface Call<Result> {
  /** Its `operationId`. */
  readonly operation: string;
  readonly method: 'GET' | 'POST';
  /** Below the base address, with the query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal: AbortSignal | undefined;
  /** Reads a 2xx answer. Whatever it throws means that the answer is not whole. */
  readonly read: (answer: Answer) => Result;
}

/** How one try ended: with a result, or with an error and the wait after which it may be tried again, if at all. */
type Try<Result> =
  | { readonly result: Result }
  | { readonly error: PetStoreError; readonly wait: number | undefined };

/** Sends calls, and waits and tries again as the service asks for. */
export class Transport {
  readonly #settings: Settings;
  readonly #surroundings: Surroundings;
  readonly #deprecated = new Set<string>();
  #rateLimit: RateLimit | undefined;

  constructor(settings: Settings, surroundings: Surroundings) {
    this.#settings = settings;
    this.#surroundings = surroundings;
  }

  get rateLimit(): RateLimit | undefined {
    return this.#rateLimit;
  }

  /** @throws PetStoreError when there is no result within the tries and the wait that the settings allow. */
  async send<Result>(call: Call<Result>): Promise<Result> {
    const { maxTries, maxWait } = this.#settings;
    const { now, sleep } = this.#surroundings;
    const deadline = now() + maxWait;
    for (let tries = 1; ; tries++) {
      const tried = await this.#try(call, deadline, tries);
      if ('result' in tried) return tried.result;
      const { error, wait } = tried;
      if (wait === undefined || tries >= maxTries) throw error;
      // A refusal is waited for at the gate, together with all others that have this key.
      if (error instanceof RateLimitError) continue;
      if (now() + wait > deadline) throw error;
      await sleep(wait, call.signal ?? new AbortController().signal);
    }
  }

  async #try<Result>(call: Call<Result>, deadline: number, tries: number): Promise<Try<Result>> {
    const { baseUrl, apiKey, pace, fetch, timeout } = this.#settings;
    const { signal } = call;
    const url = `${baseUrl}${call.path}`;
    // Made here, where a header that cannot be sent is the caller's error and no failure of the network.
    const headers = new Headers({
      Accept: 'application/json',
      Authorization: `Bearer ${apiKey}`,
      ...call.headers,
    });
    const { body } = call;
    const init = { method: call.method, headers, ...(body !== undefined && { body }) };

    const gate = gateOf(this.#surroundings, baseUrl, apiKey);
    const pass = await gate.enter({ deadline, pace, signal });
    let reading: RateLimitReading | undefined;
    let outcome: Refusal | 'admitted' | 'unanswered' = 'unanswered';
    let answer: Answer;
    let ended: Try<Result>;
    try {
      answer = await exchange(url, init, { fetch, timeout, signal, surroundings: this.#surroundings });
      const unix = this.#surroundings.unix();
      reading = readRateLimit(answer.headers, unix);
      const asked = retryAfter(answer.headers, unix);
      ended = this.#judge(call, answer, asked, tries);
      if ('error' in ended && ended.error instanceof RateLimitError) outcome = { error: ended.error, asked };
      // What a failing service or proxy answers does not show that the limit admits again.
      else if (answer.status < 500) outcome = 'admitted';
    } catch (error) {
      if (!(error instanceof ConnectionError)) throw error;
      return { error, wait: backoff(tries, this.#surroundings.random()) };
    } finally {
      gate.leave(pass, reading, outcome);
    }
    if (reading !== undefined) this.#rateLimit = reading;
    this.#noticeDeprecation(call.operation, answer.headers);
    return ended;
  }

  #judge<Result>(call: Call<Result>, answer: Answer, asked: number | undefined, tries: number): Try<Result> {
    const { status, headers } = answer;
    const { random } = this.#surroundings;
    if (status < 200 || status > 299) {
      return { error: answerError(answer, asked), wait: waitAfter(status, asked, tries, random()) };
    }
    try {
      return { result: call.read(answer) };
    } catch (cause) {
      const requestId = headers.get('x-request-id') ?? undefined;
      const message = `The answer to ${call.operation} is not one of the Pet Store service.`;
      throw new ConnectionError(message, { status, requestId, cause });
    }
  }

  /** Once for each operation. */
  #noticeDeprecation(operation: string, headers: Headers): void {
    if (this.#deprecated.has(operation)) return;
    const deprecation = readDeprecation(operation, headers);
    if (deprecation === undefined) return;
    this.#deprecated.add(operation);
    this.#settings.onDeprecation(deprecation);
  }
}
