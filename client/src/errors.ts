import type { RateLimit } from './rate-limit.ts';
import type { ErrorCode } from './schema.ts';

/** Details of the answer that caused an error. Without an answer, all are undefined. */
export interface ErrorDetails {
  readonly status?: number | undefined;
  readonly code?: string | undefined;
  readonly requestId?: string | undefined;
  readonly retryAt?: Date | undefined;
  readonly rateLimit?: RateLimit | undefined;
  readonly cause?: unknown;
  readonly next?: string | undefined;
}

/** Every error of this client, except for wrong arguments (TypeError, RangeError). */
export class PetStoreError extends Error {
  override readonly name: string = 'PetStoreError';
  /** HTTP status of the answer. */
  readonly status: number | undefined;
  /** The error code of the service. Programs should decide by this. */
  readonly code: ErrorCode | (string & {}) | undefined;
  /** The id of the request in the service's log. */
  readonly requestId: string | undefined;
  /** When the service may be called again, on the clock of this machine. */
  readonly retryAt: Date | undefined;

  constructor(message: string, { status, code, requestId, retryAt, cause }: ErrorDetails = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.status = status;
    this.code = code;
    this.requestId = requestId;
    this.retryAt = retryAt;
  }

  /** With status, code and request id, because this is what people paste into a report. */
  override toString(): string {
    const { status, code, requestId } = this;
    const facts = [
      status === undefined ? undefined : [status, code].join(' ').trim(),
      requestId === undefined ? undefined : `request ${requestId}`,
    ].filter((fact) => fact !== undefined);
    return super.toString() + (facts.length === 0 ? '' : ` (${facts.join(', ')})`);
  }
}

/** The service answered with an error. `message` comes from the service. */
export class ApiError extends PetStoreError {
  override readonly name: string = 'ApiError';
  /** Both windows of the account, by the last answer before the error. */
  readonly rateLimit: RateLimit | undefined;

  constructor(message: string, details: ErrorDetails = {}) {
    super(message, details);
    this.rateLimit = details.rateLimit;
  }
}

/** The request is wrong, so it would fail again (400, 413, 415, 422, 431). */
export class ValidationError extends ApiError {
  override readonly name = 'ValidationError';
}

/** The key is missing, unknown, expired, revoked or of the other environment, or its account is suspended (401). */
export class AuthenticationError extends ApiError {
  override readonly name = 'AuthenticationError';
}

/** The key does not have the scope of this operation (403). */
export class PermissionError extends ApiError {
  override readonly name = 'PermissionError';
}

/** There is no such thing (404), or the operation was removed (410). */
export class NotFoundError extends ApiError {
  override readonly name = 'NotFoundError';
}

/**
 * Events after the cursor are no longer kept, or the service has another database now (410 `cursor_expired`): list everything
 * again, then follow from `next`.
 */
export class CursorExpiredError extends ApiError {
  override readonly name = 'CursorExpiredError';
  /** The cursor that began when this error was made. */
  readonly next: string;

  constructor(message: string, details: ErrorDetails = {}) {
    super(message, details);
    this.next = details.next ?? 'now';
  }
}

/** The request does not fit the present state (409). */
export class ConflictError extends ApiError {
  override readonly name = 'ConflictError';
}

/**
 * The content has changed since it had the ETag in `ifMatch` (412). When `cause` is set, an earlier try of this call had
 * no answer and may have made the change: read the content again.
 */
export class PreconditionFailedError extends ApiError {
  override readonly name = 'PreconditionFailedError';
}

/**
 * The limit of requests is used up or the key is banned (429), and the wait would be longer than `maxWait`. The client
 * sends nothing with this key before `retryAt`. If requests remain in `rateLimit`, only this operation has to wait.
 */
export class RateLimitError extends ApiError {
  override readonly name = 'RateLimitError';
}

/** The service or a proxy failed (5xx), also when the request was repeated. */
export class ServerError extends ApiError {
  override readonly name = 'ServerError';
}

/** There was no answer, or only a part of one. `cause` says why. */
export class ConnectionError extends PetStoreError {
  override readonly name: string = 'ConnectionError';
}

/** The answer was not complete within `timeout`, or the request could not be sent within `maxWait`. */
export class TimeoutError extends ConnectionError {
  override readonly name = 'TimeoutError';
}

/** The signal of the call was aborted. `cause` is the reason of the signal. */
export class AbortError extends PetStoreError {
  override readonly name = 'AbortError';

  constructor(signal: AbortSignal) {
    super('The signal of this call was aborted.', { cause: signal.reason });
  }
}
