// Contract: sections 2 and 4.
import type { ErrorCode } from '../domain/errors.ts';
import { otherMethod, type TransportStatus } from './messages.ts';
import { type Fields, fields, joinFields, NO_FIELDS, octets } from 'direct-http';
import type { Reply } from './reply.ts';

/** The one map from error code to HTTP status. */
export const STATUS_OF = {
  invalid_request: 400,
  invalid_parameter: 400,
  unauthorized: 401,
  insufficient_scope: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  gone: 410,
  precondition_failed: 412,
  payload_too_large: 413,
  unsupported_media_type: 415,
  idempotency_key_reused: 422,
  rate_limit_exceeded: 429,
  daily_limit_exceeded: 429,
  key_banned: 429,
  internal_error: 500,
  unavailable: 503,
} as const satisfies Record<ErrorCode, number>;

export const JSON_TYPE = 'application/json; charset=utf-8';

export const JSON_CONTENT = fields('Content-Type', JSON_TYPE);

/** Whole seconds after which a client may try again when the service is unavailable. */
const RETRY_AFTER = '5';

/** The Error body. */
export function errorJson(code: ErrorCode, message: string, status: number = STATUS_OF[code]): string {
  return `{"code":"${code}","message":${JSON.stringify(message)},"status":${status}}`;
}

/** An error response: the Error body under the status of its code, with the headers that go with that code. */
export function errorReply(code: ErrorCode, message: string, headers: Fields = NO_FIELDS): Reply {
  return {
    status: STATUS_OF[code],
    code,
    headers: joinFields(JSON_CONTENT, HEADERS_OF[code] ?? NO_FIELDS, headers),
    body: octets(errorJson(code, message)),
  };
}

/** The refusal of a method. `methods` as in the `Allow` header. */
export function otherMethodReply(methods: string): Reply {
  return errorReply('method_not_allowed', otherMethod(methods), fields('Allow', methods));
}

/** The refusal of a request by the HTTP layer. */
export function transportReply(status: 400 | TransportStatus, message: string): Reply {
  const body = octets(errorJson('invalid_request', message, status));
  return { status, code: 'invalid_request', headers: JSON_CONTENT, body };
}

const HEADERS_OF: Partial<Record<ErrorCode, Fields>> = {
  unauthorized: fields('WWW-Authenticate', 'Bearer'),
  unavailable: fields('Retry-After', RETRY_AFTER),
};
