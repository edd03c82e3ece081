import type { ErrorCode } from './schema.ts';

/** Details of the answer that caused an error. Without an answer, all are undefined. */
export interface ErrorDetails {
  readonly status?: number | undefined;
  readonly code?: string | undefined;
  readonly requestId?: string | undefined;
  readonly retryAfter?: number | undefined;
  readonly cause?: unknown;
}

/** Every error of this client, except for wrong arguments (TypeError, RangeError) and the reason of an abort. */
export class PetStoreError extends Error {
  override readonly name: string = 'PetStoreError';
  /** HTTP status of the answer. */
  readonly status: number | undefined;
  /** The error code of the service. Programs should decide by this. */
  readonly code: ErrorCode | (string & {}) | undefined;
  /** The id of the request in the service's log. */
  readonly requestId: string | undefined;
  /** Whole seconds to wait before the next call, counted from the moment of the error. */
  readonly retryAfter: number | undefined;

  constructor(message: string, { status, code, requestId, retryAfter, cause }: ErrorDetails = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.status = status;
    this.code = code;
    this.requestId = requestId;
    this.retryAfter = retryAfter;
  }
}

/** The service answered with an error. `message` comes from the service. */
export class ApiError extends PetStoreError {
  override readonly name: string = 'ApiError';
}

/**
 * The limit of requests is used up or the key is banned, and the wait would be longer than `maxWait`. The client sends
 * nothing with this key for `retryAfter` seconds.
 */
export class RateLimitError extends ApiError {
  override readonly name = 'RateLimitError';
}

/** There was no answer, or only a part of one. `cause` says why. */
export class ConnectionError extends PetStoreError {
  override readonly name: string = 'ConnectionError';
}

/** The answer was not complete within `timeout`, or the request could not be sent within `maxWait`. */
export class TimeoutError extends ConnectionError {
  override readonly name = 'TimeoutError';
}
