import type { ErrorCode } from './errors.ts';

/** An expected outcome that is not what was asked for. Nothing of a refused change is done. */
export interface Failure<Code extends ErrorCode = ErrorCode> {
  readonly error: Code;
  /** Without it, the response has the message that the operation declares for the code. */
  readonly message?: string;
  /** Seconds. */
  readonly retryAfter?: number;
}

/** What a use case gives back. Faults are thrown instead. */
export type Result<T, Code extends ErrorCode = never> = { readonly value: T } | Failure<Code>;

/** The answer to an earlier request with the same idempotency key, as its record has it. */
export interface Replay {
  readonly replay: {
    readonly status: number;
    /** The path of what was added, below the base address. */
    readonly location: string | undefined;
    readonly json: string;
  };
}

/** The result of a write that clients may repeat. */
export type Repeatable<T, Code extends ErrorCode = never> =
  | Result<T, Code | 'conflict' | 'idempotency_key_reused'>
  | Replay;

/** The first request with the idempotency key has no result yet. */
export const IN_FLIGHT = {
  error: 'conflict',
  message: 'The first request with this Idempotency-Key is in flight: try again later.',
  retryAfter: 1,
} as const satisfies Failure;
