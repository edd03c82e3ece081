import type { SortKey } from './cursor.ts';
import type { ErrorCode } from './errors.ts';

/** An expected outcome that is not what was asked for. Nothing of a refused change is done. */
export interface Failure<Code extends ErrorCode = ErrorCode> {
  readonly error: Code;
  /** Without it, the response has the message that the operation declares for the code. */
  readonly message?: string;
  /** Seconds. */
  readonly retryAfter?: number;
  /** What the next page of a list begins after: an id or a sort key. */
  readonly next?: bigint | SortKey;
}

/** What a use case gives back. Faults are thrown instead. */
export type Result<T, Code extends ErrorCode = never> = { readonly value: T } | Failure<Code>;

export function mapResult<T, U, Code extends ErrorCode>(
  result: Result<T, Code>,
  map: (value: T) => U,
): Result<U, Code> {
  return 'error' in result ? result : { value: map(result.value) };
}
