// Contract: section 10.2.
import { MINUTE, HOUR } from '../domain/clock.ts';
import { type UsageOutcome } from '../domain/usage.ts';
import { outcomeIndex } from './key-usage.ts';

/** Minutes that are kept: an hour, and the current minute. */
const MINUTES_KEPT = 61;

/** Milliseconds. More than any request takes. */
const LONGEST_REQUEST = 2 * HOUR;

/** Seconds over which the rate of requests is taken. */
const RATE_SECONDS = 10;

/** Upper bounds of durations grow by a fourth root of 2, from 1 µs to 5 minutes: an estimate is at most 19 % too high. */
const BUCKETS = 112;

/** Milliseconds in which half, or 99 of 100, requests were answered. Undefined without requests. */
export interface Latency {
  readonly p50: number | undefined;
  readonly p99: number | undefined;
}

interface RecentMinute extends Readonly<Record<UsageOutcome, number>>, Latency {
  /** Unix milliseconds. */
  readonly start: number;
}

interface Minute {
  /** Whole minutes since 1970. */
  minute: number;
  readonly outcomes: [number, number, number, number];
  /** Requests by the bucket of their duration. */
  readonly durations: Uint32Array;
}

interface Second {
  /** Whole seconds since 1970. */
  second: number;
  count: number;
}

/** Counts the last requests of this process in memory. The console shows them. */
export class RecentRequests {
  readonly #minutes: readonly Minute[] = Array.from({ length: MINUTES_KEPT }, emptyMinute);
  readonly #seconds: readonly Second[] = Array.from({ length: RATE_SECONDS + 1 }, () => ({
    second: 0,
    count: 0,
  }));

  /** Counts a request that began at `at` (Unix milliseconds) and took `duration` milliseconds. */
  record(at: number, status: number, duration: number): void {
    const minute = Math.floor(at / MINUTE);
    const current = this.#minutes[minute % MINUTES_KEPT] as Minute;
    if (isOver(current.minute * MINUTE, minute * MINUTE)) {
      current.minute = minute;
      current.outcomes.fill(0);
      current.durations.fill(0);
    }
    if (current.minute === minute) {
      const outcome = outcomeIndex(status);
      current.outcomes[outcome] = (current.outcomes[outcome] ?? 0) + 1;
      const bucket = bucketOf(duration);
      current.durations[bucket] = (current.durations[bucket] ?? 0) + 1;
    }
    const second = Math.floor(at / 1_000);
    const slot = this.#seconds[second % this.#seconds.length] as Second;
    if (isOver(slot.second * 1_000, second * 1_000)) {
      slot.second = second;
      slot.count = 0;
    }
    if (slot.second === second) slot.count++;
  }

  /** Requests a second over the last whole seconds before `now` (Unix milliseconds). */
  rate(now: number): number {
    const current = Math.floor(now / 1_000);
    let count = 0;
    for (const slot of this.#seconds)
      if (slot.second < current && slot.second >= current - RATE_SECONDS) count += slot.count;
    return count / RATE_SECONDS;
  }

  /** Over the minute of `now` (Unix milliseconds) and the one before it. */
  latency(now: number): Latency {
    const current = Math.floor(now / MINUTE);
    const [one, other] = [this.#minute(current), this.#minute(current - 1)];
    return latencyOf(one.durations.map((count, bucket) => count + (other.durations[bucket] ?? 0)));
  }

  /** The last 60 minutes, the oldest first; the last one is that of `now` (Unix milliseconds). */
  minutes(now: number): readonly RecentMinute[] {
    const current = Math.floor(now / MINUTE);
    return Array.from({ length: MINUTES_KEPT - 1 }, (_, index) => {
      const minute = current - (MINUTES_KEPT - 2) + index;
      const { outcomes, durations } = this.#minute(minute);
      const [ok, clientError, refused, serverError] = outcomes;
      const start = minute * MINUTE;
      return { start, ok, clientError, refused, serverError, ...latencyOf(durations) };
    });
  }

  #minute(minute: number): Minute {
    const found = this.#minutes[minute % MINUTES_KEPT];
    return found?.minute === minute ? found : EMPTY_MINUTE;
  }
}

/**
 * Whether counts that begin at `start` may replace those that began at `old` (both Unix milliseconds). A slow request
 * must not replace later counts. Counts further ahead than any request takes come from a wrong clock, so they are
 * replaced.
 */
function isOver(old: number, start: number): boolean {
  return old < start || old > start + LONGEST_REQUEST;
}

function emptyMinute(): Minute {
  return { minute: 0, outcomes: [0, 0, 0, 0], durations: new Uint32Array(BUCKETS) };
}

const EMPTY_MINUTE: Readonly<Minute> = emptyMinute();

function latencyOf(durations: Uint32Array): Latency {
  return { p50: percentile(durations, 0.5), p99: percentile(durations, 0.99) };
}

/** The bucket of a duration in milliseconds. */
function bucketOf(duration: number): number {
  const microseconds = duration * 1_000;
  if (microseconds <= 1) return 0;
  return Math.min(BUCKETS - 1, Math.ceil(Math.log2(microseconds) * 4));
}

/**
 * Milliseconds: the upper bound of the bucket in which this share of the requests is reached. Three digits, because more
 * would look more exact than an estimate is.
 */
function percentile(durations: Uint32Array, share: number): number | undefined {
  let total = 0;
  for (let bucket = 0; bucket < BUCKETS; bucket++) total += durations[bucket] ?? 0;
  let left = Math.ceil(total * share);
  if (left === 0) return undefined;
  let bucket = -1;
  while (left > 0) left -= durations[++bucket] ?? 0;
  return Number((2 ** (bucket / 4) / 1_000).toPrecision(3));
}
