/* Words of the service that forms offer. A test holds them to src/domain. */

/** Requests per minute and per day; undefined where each account has its own. */
export const PLANS = {
  free: { perMinute: 60, perDay: 1_000 },
  pro: { perMinute: 300, perDay: 10_000 },
  business: { perMinute: 1_000, perDay: 100_000 },
  enterprise: undefined,
};

export const KEY_STATES = ['active', 'rotated', 'expired', 'revoked'];

export const PET_STATUSES = ['available', 'pending', 'sold'];

export const ORDER_STATUSES = ['pending', 'complete', 'cancelled', 'expired'];

export const ROLES = ['viewer', 'admin'];

/** A name as the choice of a field: `Enterprise`. @param {string} name */
export const asChoice = (name) => ({ value: name, text: name.charAt(0).toUpperCase() + name.slice(1) });

export const ERROR_CODES = [
  'invalid_request',
  'invalid_parameter',
  'unauthorized',
  'insufficient_scope',
  'not_found',
  'method_not_allowed',
  'conflict',
  'gone',
  'cursor_expired',
  'precondition_failed',
  'payload_too_large',
  'unsupported_media_type',
  'idempotency_key_reused',
  'rate_limit_exceeded',
  'daily_limit_exceeded',
  'key_banned',
  'internal_error',
  'unavailable',
];
