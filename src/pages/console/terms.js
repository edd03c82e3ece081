/* Words of the service that forms offer. A test holds them to src/domain. */

/** Requests per minute and per day; undefined where each account has its own. */
export const PLANS = {
  free: { perMinute: 60, perDay: 1_000 },
  pro: { perMinute: 300, perDay: 10_000 },
  business: { perMinute: 1_000, perDay: 100_000 },
  enterprise: undefined,
};

/** The states by which lists of keys are filtered. */
export const LISTED_STATES = ['active', 'rotated', 'expired', 'revoked', 'banned', 'suspended'];

export const ACCOUNT_STATES = ['active', 'suspended'];

export const PET_STATUSES = ['available', 'pending', 'sold'];

export const ORDER_STATUSES = ['pending', 'complete', 'cancelled', 'expired'];

export const ROLES = ['viewer', 'admin'];

/** What the entries of the audit log say was done. The service keeps the names. @type {Readonly<Record<string, string>>} */
export const ACTIONS = {
  'sign in': 'signed in',
  'accounts create': 'created an account',
  'accounts set': 'changed an account',
  'accounts rename': 'renamed an account',
  'accounts suspend': 'suspended an account',
  'accounts resume': 'resumed an account',
  'keys create': 'created a key',
  'keys rotate': 'rotated a key',
  'keys set': 'changed the scopes of a key',
  'keys revoke': 'revoked a key',
  'bans lift': 'lifted a ban',
  'pets create': 'added an animal',
  'pets set': 'changed an animal',
  'pets delete': 'deleted an animal',
  'pets assign': 'gave animals to an owner',
  'pets assign start': 'began to give animals to an owner',
  'pets assign end': 'gave animals to an owner',
  'categories create': 'created a category',
  'categories set': 'changed a category',
  'categories delete': 'deleted a category',
  'orders complete': 'completed an order',
  'orders cancel': 'cancelled an order',
  'webhooks create': 'created a webhook',
  'webhooks update': 'changed a webhook',
  'webhooks delete': 'deleted a webhook',
  'webhooks enable': 'enabled a webhook',
  'webhooks disable': 'disabled a webhook',
  'webhooks rotate': 'rotated the secret of a webhook',
  'webhooks test': 'tested a webhook',
  'webhooks redeliver': 'sent an event again',
  'webhooks replay': 'moved the place of a webhook',
  'operators create': 'created an operator',
  'operators remove': 'removed an operator',
  'operators link': 'created a sign-in link',
  'operators token': 'created a token',
  'operators revoke-token': 'revoked a token',
  'passkeys create': 'added a passkey',
  'passkeys rename': 'renamed a passkey',
  'passkeys remove': 'removed a passkey',
  import: 'imported animals',
  'seed start': 'began to add invented animals',
  'seed end': 'added invented animals',
  copy: 'copied the database',
};

/** What the entries of the audit log call a target, where it is another word than that of the service. @type {Readonly<Record<string, string>>} */
export const TARGETS = { pet: 'animal' };

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
