// Contract: section 4.
/** Every machine-readable error code there is. Statuses belong to HTTP: see `http/errors.ts`. */
export const ERROR_CODES = [
  'invalid_request',
  'invalid_parameter',
  'unauthorized',
  'insufficient_scope',
  'not_found',
  'method_not_allowed',
  'conflict',
  'gone',
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
 * A refusal that its caller may read: `message` says what to do about it and names the field or
 * parameter. Anything else that is thrown is a fault of ours, and opaque outside.
 */
export class PetStoreError extends Error {
  override readonly name = 'PetStoreError';
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
