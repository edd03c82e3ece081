// Contract: sections 3.1 and 6.
import { type Clock, DAY, MINUTE } from '../domain/clock.ts';
import { PLANS } from '../domain/plan.ts';
import type { Answer, Request } from './answer.ts';
import type { Description } from './description.ts';
import { readJson } from './json.ts';
import { NoAnswer, type Received, type Sent, type Transport } from './transport.ts';
import { type Bucket, type Counted, type RateHeaders, readRateHeaders, type Window } from './windows.ts';

/** Ends a run: what follows is not checked. The message says why. */
export class RunStopped extends Error {}

interface SessionOptions {
  readonly transport: Transport;
  /** Ends in `/v1`. */
  readonly base: URL;
  readonly key: string;
  readonly description: Description;
  readonly clock: Clock;
  /** Resolves after `milliseconds`, or when the run ends. */
  readonly wait: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  readonly signal: AbortSignal;
}

/** Requests of the checks at most, and milliseconds. */
const MOST_REQUESTS = 600;
const MOST_TIME = 30 * 60_000;

/** Answers 429 and 503 of a run at most. A ban takes a hundred refusals of a minute. */
const MOST_REFUSALS = 5;

/** Requests without an answer at most. Each may take as long as a request may. */
const MOST_SILENCE = 5;

/** Milliseconds of the deletions at the end. */
const CLEANING_TIME = 120_000;

/** Seconds that a request waits at most, whatever the service says. */
const LONGEST_WAIT = 120;

/** The parts of a window that a run leaves to others, and of a day that it takes at most. */
const LEFT_OF_WINDOW = 0.1;
const TAKEN_OF_DAY = 0.25;

type Windows = Pick<RateHeaders, 'minute' | 'day'>;

/** The windows of the plan Free, unused. */
const FREE: Windows = {
  minute: { limit: PLANS.free.perMinute, remaining: PLANS.free.perMinute, left: MINUTE / 1_000 },
  day: { limit: PLANS.free.perDay, remaining: PLANS.free.perDay, left: DAY / 1_000 },
};

const decoder = new TextDecoder();

/** Sends requests one after the other, and waits before the limits are used up. */
export class Session {
  readonly #options: SessionOptions;
  readonly #last = new Map<Bucket, Counted>();
  /** What is left of each bucket, for the pace: as the headers say, or else as if the plan were Free. */
  readonly #known = new Map<Bucket, Pick<Counted, 'receivedAt'> & { readonly rate: Windows }>();
  readonly #taken = new Map<Bucket, number>();
  readonly #inspect: (answer: Answer) => void;
  #requests = 0;
  #refusals = 0;
  #silence = 0;
  /** What ends the run early: a signal, or an instant of the monotonic clock. */
  #signal: AbortSignal;
  #end: number;
  #isCleaning = false;
  #waited = 0;

  constructor(options: SessionOptions, inspect: (answer: Answer) => void) {
    this.#options = options;
    this.#signal = options.signal;
    this.#end = options.clock().monotonic + MOST_TIME;
    this.#inspect = inspect;
  }

  get requests(): number {
    return this.#requests;
  }

  /** Milliseconds that were waited for the limits. */
  get waited(): number {
    return this.#waited;
  }

  /** The checks are over, or were interrupted. What follows deletes what they added, also from what is left to others. */
  beginCleaning(): void {
    this.#isCleaning = true;
    this.#signal = new AbortController().signal;
    this.#end = this.#options.clock().monotonic + CLEANING_TIME;
    this.#refusals = 0;
    this.#silence = 0;
  }

  /** @throws RunStopped, NoAnswer */
  async send(request: Request): Promise<Answer> {
    const answer = await this.#sendOnce(request);
    if (answer.request.isPage || (answer.status !== 429 && answer.status !== 503)) return answer;
    // `replayWebhook` refuses on purpose.
    if (answer.operation?.operationId === 'replayWebhook') return answer;
    if (++this.#refusals > MOST_REFUSALS)
      throw new RunStopped(`${MOST_REFUSALS} requests were refused with 429 or 503`);
    const retryAfter = answer.headers['retry-after'] ?? '';
    // A rule notes one of another form.
    await this.#pause(/^\d+$/.test(retryAfter) ? Number(retryAfter) : 1);
    return this.#sendOnce(request);
  }

  async #sendOnce(request: Request): Promise<Answer> {
    const { description, base, key } = this.#options;
    const path = request.path.replace(/\?.*/s, '');
    const operation = request.isPage ? undefined : description.find(request.method, path);
    const bucket = operation?.['x-allowance'] === 'holder' ? 'holder' : 'plan';
    const isMetered = !request.isPage && request.method !== 'OPTIONS';
    if (isMetered) await this.#pace(bucket);
    this.#requireTime();
    const sentKey = request.key === undefined ? key : request.key;
    const received = await this.#receive({
      method: request.method,
      path: `${base.pathname.slice(0, request.isPage ? -'/v1'.length : undefined)}${request.path}`,
      headers: {
        ...(sentKey !== null && !request.isPage && { Authorization: `Bearer ${sentKey}` }),
        ...(request.body !== undefined && { 'Content-Type': 'application/json' }),
        ...request.headers,
      },
      body: typeof request.body === 'string' ? new TextEncoder().encode(request.body) : request.body,
      fresh: request.fresh,
      // The answer to any other request says what to delete at the end.
      signal: ['GET', 'HEAD', 'OPTIONS'].includes(request.method) ? this.#signal : undefined,
    });
    this.#requests++;
    const counted = this.#count(
      received,
      isMetered ? (received.status === 401 || sentKey === null ? 'address' : bucket) : undefined,
    );
    const text = decoder.decode(received.body);
    const answer: Answer = {
      ...received,
      request,
      text,
      json: request.isPage ? undefined : readJson(text),
      operation,
      ...counted,
    };
    this.#inspect(answer);
    return answer;
  }

  async #receive(sent: Sent): Promise<Received> {
    try {
      return await this.#options.transport.send(sent);
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
      if (this.#signal.aborted) throw new RunStopped('it was interrupted');
      if (++this.#silence > MOST_SILENCE) throw new RunStopped(`${MOST_SILENCE} requests had no answer`);
      throw error;
    }
  }

  #count(received: Received, bucket: Bucket | undefined): Pick<Answer, 'bucket' | 'before' | 'counted'> {
    const before = bucket === undefined ? undefined : this.#last.get(bucket);
    const rate = bucket === undefined ? undefined : readRateHeaders(received.headers);
    if (bucket === undefined) return { bucket, before: undefined, counted: undefined };
    const [sentAt, receivedAt] = [received.sentAt / 1_000, received.receivedAt / 1_000];
    this.#taken.set(bucket, (this.#taken.get(bucket) ?? 0) + 1);
    this.#known.set(bucket, { rate: rate ?? this.#estimate(bucket, receivedAt), receivedAt });
    if (rate === undefined) return { bucket, before: undefined, counted: undefined };
    const counted = { rate, sentAt, receivedAt };
    this.#last.set(bucket, counted);
    return { bucket, before, counted };
  }

  /** What is left after one more request, where the headers do not say it. */
  #estimate(bucket: Bucket, now: number): Windows {
    const { rate, receivedAt } = this.#known.get(bucket) ?? { rate: FREE, receivedAt: now };
    const after = ({ limit, remaining, left }: Window, length: number): Window => {
      const rest = left - (now - receivedAt);
      return rest > 0
        ? { limit, remaining: remaining - 1, left: rest }
        : { limit, remaining: limit - 1, left: length };
    };
    return { minute: after(rate.minute, FREE.minute.left), day: after(rate.day, FREE.day.left) };
  }

  /** Waits until the next request leaves enough of the minute. @throws RunStopped when it would take too much of the day. */
  async #pace(bucket: Bucket): Promise<void> {
    const last = this.#known.get(bucket);
    if (last === undefined) return;
    const { minute, day } = last.rate;
    const passed = this.#options.clock().monotonic / 1_000 - last.receivedAt;
    const isOver = (left: number) => passed >= left;
    const taken = this.#taken.get(bucket) ?? 0;
    if (!this.#isCleaning && !isOver(day.left)) {
      if (taken >= Math.ceil(day.limit * TAKEN_OF_DAY))
        throw new RunStopped(`a quarter of the ${day.limit} requests of this day was used`);
      if (day.remaining <= day.limit * LEFT_OF_WINDOW)
        throw new RunStopped(`only ${day.remaining} of the ${day.limit} requests of this day are left`);
    }
    const reserve = this.#isCleaning ? 0 : minute.limit * LEFT_OF_WINDOW;
    if (minute.remaining > reserve || isOver(minute.left)) return;
    await this.#pause(minute.left - passed);
  }

  async #pause(seconds: number): Promise<void> {
    const { transport, wait, clock } = this.#options;
    if (seconds > LONGEST_WAIT)
      throw new RunStopped(`the service says to wait for ${Math.ceil(seconds)} seconds`);
    // The other side may close idle connections meanwhile.
    transport.close();
    this.#requireTime();
    const startedAt = clock().monotonic;
    await wait(seconds * 1_000, this.#signal);
    this.#waited += clock().monotonic - startedAt;
  }

  #requireTime(): void {
    if (this.#signal.aborted) throw new RunStopped('it was interrupted');
    if (this.#requests >= MOST_REQUESTS && !this.#isCleaning)
      throw new RunStopped(`it has sent ${MOST_REQUESTS} requests`);
    if (this.#options.clock().monotonic > this.#end)
      throw new RunStopped(`it took more than ${MOST_TIME / 60_000} minutes`);
  }
}
