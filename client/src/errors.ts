import type { ErrorCode } from './schema.ts';

/** What is known of the answer that an error comes from; all are undefined when there was none. */
export interface ErrorDetails {
  readonly status?: number | undefined;
  readonly code?: string | undefined;
  readonly requestId?: string | undefined;
  readonly retryAfter?: number | undefined;
  readonly cause?: unknown;
}

/** Every error of this client, but for wrong arguments (TypeError, RangeError) and the reason of an abort. */
export class PetStoreError extends Error {
  override readonly name: string = 'PetStoreError';
  /** HTTP status of the answer. */
  readonly status: number | undefined;
  /** The service's machine-readable code: decide by this. */
  readonly code: ErrorCode | (string & {}) | undefined;
  /** Names the request in the service's log. */
  readonly requestId: string | undefined;
  /** Whole seconds, from when the error was raised, after which the call may be made again. */
  readonly retryAfter: number | undefined;

  constructor(message: string, { status, code, requestId, retryAfter, cause }: ErrorDetails = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.status = status;
    this.code = code;
    this.requestId = requestId;
    this.retryAfter = retryAfter;
  }
}

/** The service answered with an error; `message` is the service's. */
export class ApiError extends PetStoreError {
  override readonly name: string = 'ApiError';
}

/**
 * The limit of requests is used up or the key is banned, and waiting for it would take longer than `maxWait`. Nothing is
 * sent with this key before `retryAfter` seconds are over.
 */
export class RateLimitError extends ApiError {
  override readonly name = 'RateLimitError';
}

/** There was no answer, or only a part of one; `cause` says why. */
export class ConnectionError extends PetStoreError {
  override readonly name: string = 'ConnectionError';
}

/** There was no whole answer within `timeout`, or no turn to ask for one within `maxWait`. */
export class TimeoutError extends ConnectionError {
  override readonly name = 'TimeoutError';
}
