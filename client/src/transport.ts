import { toError } from './answer-error.ts';
import { type ApiPromise, apiPromise, type WithResponse } from './api-promise.ts';
import { readDeprecation } from './deprecation.ts';
import { AbortError, ConnectionError, PetStoreError, RateLimitError, ServerError } from './errors.ts';
import { type Answer, exchange } from './exchange.ts';
import type { Refusal } from './gate.ts';
import { OPERATIONS } from './operations.ts';
import type { Settings } from './options.ts';
import { type RateLimit, type RateLimitReading, readRateLimit } from './rate-limit.ts';
import { type Call, type CallRequest, toRequest } from './request.ts';
import { backoff, retryAfter, waitAfter } from './retry-timing.ts';
import { gateOf, type ClientRuntime } from './runtime.ts';

/** One of the tries of a call. */
interface TryState {
  /** From 1. */
  readonly tries: number;
  readonly deadline: number;
  /** The failure of an earlier try that the service may have carried out. */
  readonly unsure: PetStoreError | undefined;
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
  /** When the day of `#rateLimit` ends, on the clock of the runtime. */
  #dayEndsAt = 0;

  constructor(settings: Settings, runtime: ClientRuntime) {
    this.#settings = settings;
    this.#runtime = runtime;
  }

  get rateLimit(): RateLimit | undefined {
    return this.#rateLimit;
  }

  /** Milliseconds, on the clock of the runtime. */
  now(): number {
    return this.#runtime.now();
  }

  /**
   * When the next request is due, if the last one was sent at `since` and those that are left of the day are spread evenly until
   * its end.
   */
  nextTurn(since: number): number {
    return since + (this.#dayEndsAt - since) / ((this.#rateLimit?.day.remaining ?? 0) + 1);
  }

  async sleepUntil(instant: number, signal = new AbortController().signal): Promise<void> {
    const { now, sleep } = this.#runtime;
    await sleep(Math.max(0, instant - now()), signal).catch(() => {
      throw new AbortError(signal);
    });
  }

  /** Begins a call. Wrong arguments and options reject the promise, too. */
  call<Result>(call: Call<Result>): ApiPromise<Result> {
    return apiPromise(() => this.send(call));
  }

  /**
   * @throws PetStoreError when there is no result within the tries and the wait that the settings allow. When the service
   *   may have carried out an earlier try, the failure of that try is the `cause`.
   */
  async send<Result>(call: Call<Result>): Promise<WithResponse<Result>> {
    const request = toRequest(call, this.#settings.apiKey);
    const { signal } = call.options;
    try {
      return await this.#repeat(call, request);
    } catch (error) {
      throw signal?.aborted && error === signal.reason ? new AbortError(signal) : error;
    }
  }

  async #repeat<Result>(call: Call<Result>, request: CallRequest): Promise<WithResponse<Result>> {
    const { operation } = call;
    const { maxTries = this.#settings.maxTries, signal = new AbortController().signal } = call.options;
    const { now, sleep } = this.#runtime;
    const deadline = now() + this.#settings.maxWait;
    let unsure: PetStoreError | undefined;
    try {
      for (let tries = 1; ; tries++) {
        const tried = await this.#try(call, request, { tries, deadline, unsure });
        if ('data' in tried) return tried;
        const { error, wait } = tried;
        if (error instanceof ConnectionError || error instanceof ServerError) unsure = error;
        if (wait === undefined || tries >= maxTries) throw error;
        const isLate = now() + wait > deadline;
        // After a refusal, all requests with this key and allowance wait at the gate. It refuses this call when it would be late.
        const waitsAtGate = isOfWindow(error);
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
    } catch (error) {
      if (unsure !== undefined && error !== unsure && error instanceof PetStoreError) error.cause ??= unsure;
      throw error;
    }
  }

  async #try<Result>(
    call: Call<Result>,
    { target, init }: CallRequest,
    attempt: TryState,
  ): Promise<Try<Result>> {
    const { baseUrl, apiKey, pace, fetch, logger } = this.#settings;
    const { signal, timeout = this.#settings.timeout } = call.options;
    const { operation } = call;
    const { tries, deadline } = attempt;
    const { allowance } = OPERATIONS[operation];
    const gate = gateOf(this.#runtime, baseUrl, apiKey, allowance);
    const pass = await gate.enter({ deadline, pace, signal });
    let reading: RateLimitReading | undefined;
    let outcome: Refusal | 'admitted' | 'unanswered' = 'unanswered';
    let answer: Answer;
    let ended: Try<Result>;
    try {
      answer = await exchange(baseUrl + target, init, { fetch, timeout, signal, runtime: this.#runtime });
      const unix = this.#runtime.unix();
      reading = readRateLimit(answer.headers, unix);
      const serverWait = retryAfter(answer.headers, unix);
      ended = this.#resultOf(call, answer, { ...attempt, serverWait, rateLimit: reading?.rateLimit });
      if ('error' in ended && isOfWindow(ended.error)) outcome = { error: ended.error, serverWait };
      // A 5xx does not show that the limit admits requests again.
      else if (answer.status < 500) outcome = 'admitted';
    } catch (error) {
      if (!(error instanceof ConnectionError)) throw error;
      return { error, wait: backoff(tries, this.#runtime.random()) };
    } finally {
      gate.leave(pass, reading, outcome);
    }
    if (allowance === 'plan' && reading?.rateLimit !== undefined) {
      this.#rateLimit = reading.rateLimit;
      this.#dayEndsAt = this.#runtime.now() + (reading.dayResetIn ?? 0);
    }
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
      unsure,
      serverWait,
      rateLimit,
    }: TryState & { serverWait: number | undefined; rateLimit: RateLimit | undefined },
  ): Try<Result> {
    const { status, headers, requestId } = answer;
    const { random, unix } = this.#runtime;
    const response = { status, headers, requestId, rateLimit };
    if (status === 404 && unsure !== undefined && call.removed !== undefined)
      return { data: call.removed(), response };
    if (status < 200 || status > 299) {
      const retryAt = serverWait === undefined ? undefined : new Date(Math.ceil(unix() + serverWait));
      return {
        error: toError(answer, retryAt, rateLimit),
        wait: waitAfter(status, serverWait, tries, random()),
      };
    }
    try {
      return { data: call.read(answer), response };
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

/** Whether a window or a ban refused a request. The limit of a single operation leaves requests in both windows. */
function isOfWindow(error: PetStoreError): error is RateLimitError {
  if (!(error instanceof RateLimitError)) return false;
  const { code, rateLimit } = error;
  const windows = rateLimit === undefined ? [] : [rateLimit.minute, rateLimit.day];
  return (
    code !== 'rate_limit_exceeded' || windows.length === 0 || windows.some(({ remaining }) => remaining === 0)
  );
}
