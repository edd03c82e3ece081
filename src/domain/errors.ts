// Contract: section 4.
/** All error codes. `http/errors.ts` gives each its HTTP status. */
export const ERROR_CODES = [
  'invalid_request',
  'invalid_parameter',
  'unauthorized',
  'insufficient_scope',
  'not_found',
  'method_not_allowed',
  'conflict',
  'gone',
  'precondition_failed',
  'payload_too_large',
  'unsupported_media_type',
  'idempotency_key_reused',
  'rate_limit_exceeded',
  'daily_limit_exceeded',
  'key_banned',
  'internal_error',
  'unavailable',
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

/**
 * A refusal that its caller may read. `message` names the field or parameter and says what to do. Any other error is a
 * fault of the service, and callers see an opaque 500.
 */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
