// Contract: section 4.
import { ERRORS, type ErrorCode, ServiceError } from '../domain/errors.ts';
import { parseBody, parseObject, requiredFields } from '../domain/parse.ts';
import { HOLDER_LIMITS, type Limits, PLANS } from '../domain/plan.ts';
import { lacksScope } from '../domain/scope.ts';
import { LACKS_ROLE } from '../http/admin-api.ts';
import { NO_SESSION, tooManyAttempts } from '../http/auth/access.ts';
import { MEDIA_TYPES } from '../http/body.ts';
import * as messages from '../http/messages.ts';
import { IN_FLIGHT } from '../domain/idempotency.ts';
import { type Operation, queryParameters, sunsetDate } from '../http/operation.ts';
import { describeIssue } from '../http/parameters.ts';
import { parseIdempotencyKey } from '../http/request-headers.ts';
import { errorJson } from '../http/response.ts';
import { code } from './markdown.ts';

/** What error codes mean to operators, where it differs. */
const TO_OPERATORS: Partial<Record<ErrorCode, { readonly when: string; readonly message: string }>> = {
  unauthorized: { when: 'There is no session or token, or it has ended.', message: NO_SESSION },
  insufficient_scope: {
    when: 'The role does not allow it, or the `Origin` of a change is not that of the console.',
    message: LACKS_ROLE,
  },
  rate_limit_exceeded: {
    when: 'Too many failed attempts to enter from this address.',
    message: tooManyAttempts('42'),
  },
};

const REPEATED = 'The first request with this `Idempotency-Key` is still in flight.';

/** When one operation answers with these error codes, in words that fit it. */
const WHEN: Readonly<Partial<Record<ErrorCode, (operation: Operation) => string>>> = {
  invalid_request({ body, errors }) {
    if (body === undefined) return 'The request has a body, or is not valid HTTP.';
    return either(ERRORS.invalid_request.when, errors.invalid_request);
  },
  invalid_parameter(operation) {
    const query = queryParameters(operation);
    if (query.length === 0) return 'The `Idempotency-Key` header is invalid.';
    const [list] = query.find(([, { readAll }]) => readAll !== undefined) ?? [];
    const repeated = list === undefined ? 'is repeated' : `one other than ${code(list)} is repeated`;
    return `A query parameter has an invalid value, or ${repeated}.`;
  },
  insufficient_scope: ({ errors }) => either(ERRORS.insufficient_scope.when, errors.insufficient_scope),
  not_found: ({ errors }) => errors.not_found ?? ERRORS.not_found.when,
  conflict({ method, role, errors }) {
    if (method !== 'POST' || role !== undefined) return errors.conflict ?? ERRORS.conflict.when;
    return errors.conflict === undefined ? REPEATED : either(errors.conflict, REPEATED);
  },
  gone: ({ errors }) => errors.gone ?? ERRORS.gone.when,
  unsupported_media_type: ({ method }) =>
    method === 'PATCH'
      ? `The body is neither ${MEDIA_TYPES.PATCH.map(code).join(' nor ')}, is not UTF-8, or has a Content-Encoding.`
      : `The body is not ${code(MEDIA_TYPES.POST[0])}, is not UTF-8, or has a Content-Encoding.`,
};

/** The message that an operation answers with for each error code. */
const MESSAGES: Readonly<Partial<Record<ErrorCode, (operation: Operation) => string>>> = {
  invalid_request: bodyMessage,
  invalid_parameter: parameterMessage,
  insufficient_scope: ({ scope = 'pets:read' }) => lacksScope(scope),
  method_not_allowed: () => messages.otherMethod('GET, HEAD, POST, OPTIONS'),
  conflict: ({ errors }) => errors.conflict ?? IN_FLIGHT.message,
  gone: ({ deprecated, errors }) =>
    deprecated === undefined
      ? (errors.gone ?? '')
      : messages.removed(sunsetDate(deprecated), deprecated.successor),
  unsupported_media_type: ({ method }) =>
    messages.otherMediaType(MEDIA_TYPES[method === 'PATCH' ? 'PATCH' : 'POST']),
  rate_limit_exceeded: (operation) => messages.limitUsedUp(limitsFor(operation).perMinute, 'minute', '17'),
  daily_limit_exceeded: (operation) => messages.limitUsedUp(limitsFor(operation).perDay, 'day', '3600'),
  key_banned: () => messages.banned('300'),
  internal_error: () => messages.internalError('q3Zt8_fW1xKc-Y0nRb7u'),
};

function limitsFor(operation: Operation): Limits {
  return operation.role === undefined && operation.allowance === 'holder' ? HOLDER_LIMITS : PLANS.free;
}

/** When an operation answers with an error code, as a sentence, and an example of its message. */
export function describeError(error: ErrorCode, operation: Operation) {
  const { when, message } = (operation.role === undefined ? undefined : TO_OPERATORS[error]) ?? {
    when: WHEN[error]?.(operation),
    message: MESSAGES[error]?.(operation),
  };
  const kind: { readonly when: string; readonly message?: string } = ERRORS[error];
  return {
    when: when ?? kind.when,
    message: message ?? operation.errors[error] ?? kind.message ?? kind.when,
  };
}

/** The Error body for an example. */
export function errorExample(error: ErrorCode, message: string, status?: number): unknown {
  return JSON.parse(errorJson(error, message, status));
}

function either(one: string, other: string | undefined): string {
  return other === undefined ? one : `${one} Or: ${other}`;
}

/** The message about the first query parameter when it is invalid, or about an `Idempotency-Key` that is. */
function parameterMessage(operation: Operation): string {
  const [first] = queryParameters(operation);
  if (first === undefined) return refusalMessage(() => parseIdempotencyKey(''));
  const [name, { issue }] = first;
  return describeIssue(name, issue);
}

/** The message about a body without its last required field, or about one that is no object. */
function bodyMessage({ body }: Operation): string {
  if (body === undefined) return messages.BODY_REFUSED;
  const { schema, examples } = body;
  const example = parseBody(Buffer.from(JSON.stringify(Object.values(examples)[0]?.value))) as object;
  const lacking = requiredFields(schema).at(-1);
  if (lacking === undefined) return refusalMessage(() => parseObject(schema, []));
  return refusalMessage(() =>
    parseObject(schema, Object.fromEntries(Object.entries(example).filter(([field]) => field !== lacking))),
  );
}

/** The message of a refusal. It comes from the rule itself, so that the example cannot differ from it. */
function refusalMessage(refuse: () => unknown): string {
  try {
    refuse();
  } catch (error) {
    if (error instanceof ServiceError) return error.message;
    throw error;
  }
  throw new Error('An example of a refusal was not refused.');
}
