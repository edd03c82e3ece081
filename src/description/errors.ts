// Contract: section 4.
import { queryParameters } from '../api/declaration.ts';
import { type Operation, KEY_IN_FLIGHT, KEY_REUSED, sunsetDate } from '../api/operation.ts';
import { readQuery } from '../api/parameters.ts';
import { type ErrorCode, ServiceError } from '../domain/errors.ts';
import { parseBody, parseObject, requiredFields } from '../domain/parse.ts';
import { HOLDER_LIMITS, type Limits, PLANS } from '../domain/plan.ts';
import { BODY_LIMIT, MEDIA_TYPES } from '../http/body.ts';
import { errorJson } from '../http/errors.ts';
import * as messages from '../http/messages.ts';
import { code } from './markdown.ts';
import { parseIdempotencyKey } from '../http/request-headers.ts';

/** When the service answers with each error code, as a sentence. */
export const WHEN: Readonly<Record<ErrorCode, string>> = {
  invalid_request:
    'The body is missing, is not JSON or has missing or invalid fields; or the request is not valid HTTP.',
  invalid_parameter: 'A query parameter or a header has an invalid value or is repeated.',
  unauthorized:
    'The API key is missing, malformed, unknown, expired, revoked or of another environment, or its account is suspended.',
  insufficient_scope: "The API key lacks the operation's scope.",
  not_found: 'There is nothing under this path.',
  method_not_allowed:
    'The path exists but does not take this method; the `Allow` header lists those it takes.',
  conflict:
    'The state of the resource forbids the change, or the first request with this `Idempotency-Key` is still in flight.',
  gone: 'The operation has been removed.',
  precondition_failed: '`If-Match` names no `ETag` of the content as it is now.',
  payload_too_large: `The body is larger than ${BODY_LIMIT / 1024} KiB.`,
  unsupported_media_type:
    'The body is not `application/json`; a PATCH also takes `application/merge-patch+json`.',
  idempotency_key_reused: 'The `Idempotency-Key` was used with another path or body.',
  rate_limit_exceeded: 'The requests of this minute are used up.',
  daily_limit_exceeded: 'The requests of this UTC day are used up.',
  key_banned: 'The API key is banned for a while because it kept sending requests after being refused.',
  internal_error: 'A fault of the service; report it with the `X-Request-Id` of the response.',
  unavailable: 'The service cannot answer right now; try again after the time in `Retry-After`.',
};

const IN_FLIGHT = 'The first request with this `Idempotency-Key` is still in flight.';

/** When one operation answers with these error codes, in words that fit it. */
const WHEN_OF: Readonly<Partial<Record<ErrorCode, (operation: Operation) => string>>> = {
  invalid_request({ body, errors }) {
    if (body === undefined) return 'The request has a body, or is not valid HTTP.';
    return [WHEN.invalid_request, errors.invalid_request].filter(Boolean).join(' Or: ');
  },
  invalid_parameter(its) {
    const query = queryParameters(its);
    if (query.length === 0) return 'The `Idempotency-Key` header is invalid.';
    const [list] = query.find(([, { readAll }]) => readAll !== undefined) ?? [];
    const repeated = list === undefined ? 'is repeated' : `one other than ${code(list)} is repeated`;
    return `A query parameter has an invalid value, or ${repeated}.`;
  },
  insufficient_scope: ({ errors }) =>
    [WHEN.insufficient_scope, errors.insufficient_scope].filter(Boolean).join(' Or: '),
  not_found: ({ errors }) => errors.not_found ?? WHEN.not_found,
  conflict({ method, errors }) {
    if (method !== 'POST') return errors.conflict ?? WHEN.conflict;
    return [errors.conflict, IN_FLIGHT].filter(Boolean).join(' Or: ');
  },
  unsupported_media_type: ({ method }) =>
    method === 'PATCH'
      ? `The body is neither ${MEDIA_TYPES.PATCH.map(code).join(' nor ')}, is not UTF-8, or has a Content-Encoding.`
      : `The body is not ${code(MEDIA_TYPES.POST[0])}, is not UTF-8, or has a Content-Encoding.`,
};

/** When an operation answers with an error code, as a sentence. */
export function whenOf(error: ErrorCode, its: Operation): string {
  return WHEN_OF[error]?.(its) ?? WHEN[error];
}

/** The message that an operation answers with for each error code. */
export const MESSAGES: Readonly<Record<ErrorCode, (operation: Operation) => string>> = {
  invalid_request: bodyMessage,
  invalid_parameter: parameterMessage,
  unauthorized: () => messages.KEY_MISSING,
  insufficient_scope: ({ scope = 'pets:read' }) => messages.lacksScope(scope),
  not_found: ({ errors }) => errors.not_found ?? '',
  method_not_allowed: () => messages.otherMethod('GET, HEAD, POST, OPTIONS'),
  conflict: ({ errors }) => errors.conflict ?? KEY_IN_FLIGHT.message,
  gone: ({ deprecated }) =>
    deprecated === undefined ? '' : messages.removed(sunsetDate(deprecated), deprecated.successor),
  precondition_failed: ({ errors }) => errors.precondition_failed ?? '',
  payload_too_large: () => messages.bodyTooLarge(BODY_LIMIT),
  unsupported_media_type: ({ method }) =>
    messages.otherMediaType(MEDIA_TYPES[method === 'PATCH' ? 'PATCH' : 'POST']),
  idempotency_key_reused: () => KEY_REUSED.message,
  rate_limit_exceeded: (its) => messages.limitUsedUp(limitsFor(its).perMinute, 'minute', '17'),
  daily_limit_exceeded: (its) => messages.limitUsedUp(limitsFor(its).perDay, 'day', '3600'),
  key_banned: () => messages.banned('300'),
  internal_error: () => messages.internalError('q3Zt8_fW1xKc-Y0nRb7u'),
  unavailable: () => messages.SHUTTING_DOWN,
};

function limitsFor({ allowance }: Operation): Limits {
  return allowance === 'holder' ? HOLDER_LIMITS : PLANS.free;
}

/** The Error body for an example. */
export function errorExample(its: ErrorCode, message: string, status?: number): unknown {
  return JSON.parse(errorJson(its, message, status));
}

/** The message about the first query parameter when it is invalid, or about an `Idempotency-Key` that is. */
function parameterMessage(operation: Operation): string {
  const [first] = queryParameters(operation);
  if (first === undefined) return messageOf(() => parseIdempotencyKey(''));
  return messageOf(() => readQuery(`${first[0]}=`, [first]));
}

/** The message about a body that lacks the last of its required fields, or is no object if it needs none. */
function bodyMessage({ body }: Operation): string {
  if (body === undefined) return messages.BODY_REFUSED;
  const { schema, examples } = body;
  const example = parseBody(Buffer.from(JSON.stringify(Object.values(examples)[0]?.value))) as object;
  const lacking = requiredFields(schema).at(-1);
  if (lacking === undefined) return messageOf(() => parseObject(schema, []));
  return messageOf(() =>
    parseObject(schema, Object.fromEntries(Object.entries(example).filter(([field]) => field !== lacking))),
  );
}

/** The message of a refusal. It comes from the rule itself, so that the example cannot differ from it. */
function messageOf(refuse: () => unknown): string {
  try {
    refuse();
  } catch (error) {
    if (error instanceof ServiceError) return error.message;
    throw error;
  }
  throw new Error('An example of a refusal was not refused.');
}
