// Contract: section 3.
import type { ErrorCode } from './errors.ts';
import type { Failure, Result } from './result.ts';

/**
 * The SHA-256 of an `Idempotency-Key`, in hexadecimal. A client may send a secret in this header, so its value is not
 * stored (docs/design/idempotency.md).
 */
export type IdempotencyKeyHash = `sha256 ${string}`;

/** A write that clients may repeat: the same key and fingerprint of one account within 24 hours get one answer. */
export interface Idempotency {
  readonly accountId: number;
  readonly key: IdempotencyKeyHash;
  /** SHA-256 of the values in the path and the body, as they were sent. */
  readonly fingerprint: string;
  /** The status of the answer. */
  readonly status: number;
  /** The path of the new thing: `/pets/{id}`. */
  readonly location: string | undefined;
  /** Whether `doOnce` has claimed the key already. */
  readonly isClaimed?: true;
  /** For the time in which the first request with the key is awaited. */
  readonly waits?: { until<T>(promise: Promise<T>): Promise<T> };
}

/** The answer to an earlier request with the same idempotency key, as its record has it. */
export interface Replay {
  readonly replay: {
    readonly status: number;
    /** The path of what was added, below the base address. */
    readonly location: string | undefined;
    readonly json: string;
  };
}

/** The result of a write that clients may repeat. Without an idempotency key, it is only a result. */
export type Repeatable<
  T,
  Code extends ErrorCode = never,
  Key extends Idempotency | undefined = Idempotency | undefined,
> = Key extends Idempotency
  ? Result<T, Code | 'conflict' | 'idempotency_key_reused'> | Replay
  : Result<T, Code>;

/** The first request with the idempotency key has no result yet. */
export const IN_FLIGHT = {
  error: 'conflict',
  message: 'The first request with this Idempotency-Key is in flight: try again later.',
  retryAfter: 1,
} as const satisfies Failure;
