// Contract: section 4.

/** The largest body of a request that is read, in bytes. */
export const BODY_LIMIT = 16 * 1024;

/** The same of an animal. */
export const LARGE_BODY_LIMIT = 64 * 1024;

/** The message about a larger body than one of `limit` bytes. */
export function describeLimit(limit: number): string {
  return `The body must not be larger than ${limit} bytes.`;
}

/** Characters of a message at most. */
export const MESSAGE_LENGTH = 1_000;

/** Issues that a message names at most. */
const MOST_ISSUES = 5;

/**
 * One message about several issues, each a text without a full stop. It names as many as fit, and says how many more there
 * are.
 */
export function describeIssues(all: readonly string[]): string {
  // Zod also compares the length of a text that stands in place of a list.
  const issues = [...new Set(all)];
  for (let named = Math.min(issues.length, MOST_ISSUES); named > 0; named--) {
    const more = issues.length - named;
    const rest = more === 0 ? '' : `; and ${more} more ${more === 1 ? 'fault' : 'faults'}`;
    const message = `${issues.slice(0, named).join('; ')}${rest}.`;
    if (named === 1 || message.length <= MESSAGE_LENGTH) return message;
  }
  return '';
}

interface ErrorKind {
  readonly status: number;
  /** When the service answers with this code, as a sentence in Markdown. */
  readonly when: string;
  /** The message unless the operation or the rule has its own. */
  readonly message?: string;
  /** Seconds after which the client may try again, unless the refusal knows better. */
  readonly retryAfter?: number;
}

/** Every error code, with all that is the same wherever it occurs. */
export const ERRORS = {
  invalid_request: {
    status: 400,
    when: 'The body is missing, is not JSON or has missing or invalid fields; or the request is not valid HTTP.',
  },
  invalid_parameter: {
    status: 400,
    when: 'A query parameter or a header has an invalid value or is repeated.',
  },
  unauthorized: {
    status: 401,
    when: 'The API key is missing, malformed, unknown, expired, revoked or of another environment, or its account is suspended.',
    message: 'The API key is missing: send it as "Authorization: Bearer <API_KEY>".',
  },
  insufficient_scope: {
    status: 403,
    when: "The API key lacks the operation's scope.",
  },
  not_found: {
    status: 404,
    when: 'There is nothing under this path.',
  },
  method_not_allowed: {
    status: 405,
    when: 'The path exists but does not take this method; the `Allow` header lists those it takes.',
  },
  conflict: {
    status: 409,
    when: 'The state of the resource forbids the change, or the first request with this `Idempotency-Key` is still in flight.',
  },
  gone: {
    status: 410,
    when: 'The operation has been removed, or the event is no longer kept.',
  },
  cursor_expired: {
    status: 410,
    when: 'Events after the cursor `after` are no longer kept, or it is of a database that this one is a copy of.',
    message:
      'Events after this cursor are no longer kept: list everything, then follow the Link of this response, which begins now.',
  },
  precondition_failed: {
    status: 412,
    when: '`If-Match` names no `ETag` of the content as it is now.',
  },
  payload_too_large: {
    status: 413,
    when: `The body is larger than ${BODY_LIMIT / 1024} KiB, or that of an animal than ${LARGE_BODY_LIMIT / 1024} KiB.`,
    message: describeLimit(BODY_LIMIT),
  },
  unsupported_media_type: {
    status: 415,
    when: 'The body is not `application/json`; a PATCH also takes `application/merge-patch+json`.',
  },
  idempotency_key_reused: {
    status: 422,
    when: 'The `Idempotency-Key` was used with another path or body.',
    message: 'This Idempotency-Key was used for another request: send a new one.',
  },
  rate_limit_exceeded: {
    status: 429,
    when: 'The requests of this minute are used up.',
  },
  daily_limit_exceeded: {
    status: 429,
    when: 'The requests of this UTC day are used up.',
  },
  key_banned: {
    status: 429,
    when: 'The API key is banned for a while because it kept sending requests after being refused.',
  },
  internal_error: {
    status: 500,
    when: 'A fault of the service; report it with the `X-Request-Id` of the response.',
  },
  unavailable: {
    status: 503,
    when: 'The service cannot answer right now; try again after the time in `Retry-After`.',
    message: 'The service is stopping: try again later.',
    retryAfter: 5,
  },
} as const satisfies Record<string, ErrorKind>;

export type ErrorCode = keyof typeof ERRORS;

export const ERROR_CODES = Object.keys(ERRORS) as readonly ErrorCode[] as readonly [
  ErrorCode,
  ...ErrorCode[],
];

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
