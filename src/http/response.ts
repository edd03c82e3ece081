// Contract: sections 2, 3.2, 3.3, 3.6 and 4.
import type { IncomingMessage } from 'node:http';
import type { SortKey } from '../domain/cursor.ts';
import { ERRORS, type ErrorCode, MESSAGE_LENGTH } from '../domain/errors.ts';
import { entityTag, toJson } from '../domain/json.ts';
import { cutText } from '../domain/text.ts';
import type { BoundContext, Response } from './context.ts';
import { otherMethod, type TransportStatus } from './messages.ts';
import type { AnyPage, HandlerResult } from './operation.ts';
import type { Values } from './parameters.ts';
import type { BoundOperation } from './routes.ts';
import { type Fields, fields, joinFields, NO_FIELDS, octets, trustedFields } from 'direct-http';

const JSON_TYPE = 'application/json; charset=utf-8';

export const JSON_CONTENT = fields('Content-Type', JSON_TYPE);

/** The header fields that go with an error code. */
const ERROR_FIELDS: Partial<Record<ErrorCode, Fields>> = {
  unauthorized: fields('WWW-Authenticate', 'Bearer'),
  unavailable: fields('Retry-After', `${ERRORS.unavailable.retryAfter}`),
};

/** The Error body. */
export function errorJson(code: ErrorCode, message: string, status: number = ERRORS[code].status): string {
  return `{"code":"${code}","message":${JSON.stringify(message)},"status":${status}}`;
}

/**
 * An error response: the Error body under the status of its code, with the headers that go with that code. A message may
 * hold names, so it is cut.
 */
export function errorResponse(code: ErrorCode, text = defaultMessage(code), headers = NO_FIELDS): Response {
  const message = cutText(text, MESSAGE_LENGTH);
  return {
    status: ERRORS[code].status,
    code,
    message,
    headers: joinFields(JSON_CONTENT, ERROR_FIELDS[code] ?? NO_FIELDS, headers),
    body: octets(errorJson(code, message)),
  };
}

function defaultMessage(code: ErrorCode): string {
  const kind: { readonly message?: string; readonly when: string } = ERRORS[code];
  return kind.message ?? kind.when;
}

/** The refusal of a method. `methods` as in the `Allow` header. */
export function otherMethodResponse(methods: string): Response {
  return errorResponse('method_not_allowed', otherMethod(methods), fields('Allow', methods));
}

/** The refusal of a request by the HTTP layer. */
export function transportResponse(status: 400 | TransportStatus, message: string): Response {
  const body = octets(errorJson('invalid_request', message, status));
  return { status, code: 'invalid_request', message, headers: JSON_CONTENT, body };
}

const REPLAY = fields('Idempotent-Replay', 'true');
const NO_STORE = fields('Cache-Control', 'no-store');

/** The two responses that a GET of the same content can have. */
interface ContentResponses {
  readonly tag: string;
  readonly whole: Response;
  readonly notModified: Response;
}

export interface ResponseOptions {
  /** The address that `Location` and `Link` begin with. */
  readonly base: string;
  /** The `Cache-Control` of each GET. */
  readonly caching: Fields;
}

/** Turns what `handle` of an operation returns into the response. */
export function toResponse(
  { operation, request, parameters }: BoundContext,
  result: HandlerResult,
  options: ResponseOptions,
): Response {
  const { declaration } = operation;
  if ('error' in result) {
    const { error, message = declaration.errors[error], retryAfter, next } = result;
    const wait = retryAfter === undefined ? NO_FIELDS : fields('Retry-After', `${retryAfter}`);
    const link = next === undefined ? NO_FIELDS : nextLink(options.base, operation, parameters, next);
    return errorResponse(error, message, joinFields(wait, link));
  }
  if (declaration.method === 'GET') {
    if ('replay' in result) throw new Error('A GET replays no response.');
    if (declaration.answer.noStore && 'items' in result) {
      const link =
        result.next === undefined ? NO_FIELDS : nextLink(options.base, operation, parameters, result.next);
      const headers = joinFields(JSON_CONTENT, NO_STORE, link);
      return { status: 200, headers, body: octets(encode(result.items)) };
    }
    const { tag, whole, notModified } =
      'items' in result
        ? toPageResponses(operation, parameters, result, options)
        : toContentResponses(encode(result.value), NO_FIELDS, options);
    return isUnmodified(request, tag) ? notModified : whole;
  }
  const { status, noStore } = declaration.answer;
  if (status === 204) return { status, headers: NO_FIELDS };
  if ('replay' in result) {
    const { status: recorded, location, json } = result.replay;
    const headers = joinFields(JSON_CONTENT, locationField(options, location), REPLAY);
    return { status: recorded, headers, body: octets(json) };
  }
  if ('items' in result) throw new Error('Only a GET returns a page.');
  const json = encode(result.value);
  const etag = declaration.method === 'PATCH' ? trustedFields(`ETag: ${entityTag(json)}\r\n`) : NO_FIELDS;
  const caching = noStore ? NO_STORE : NO_FIELDS;
  const location = locationField(options, locate(declaration.location, result.value));
  return { status, headers: joinFields(JSON_CONTENT, etag, location, caching), body: octets(json) };
}

/** The path of what was added. */
function locate(template: string | undefined, added: unknown): string | undefined {
  return template?.replace('{id}', String((added as { readonly id: bigint }).id));
}

function locationField({ base }: ResponseOptions, location: string | undefined): Fields {
  return location === undefined ? NO_FIELDS : fields('Location', base + location);
}

/** The JSON of a body. A body is no text, so a text is JSON already. */
function encode(content: unknown): string {
  return typeof content === 'string' ? content : toJson(content);
}

function toPageResponses(
  operation: BoundOperation,
  parameters: Values,
  { items, next, cache: shared }: AnyPage,
  options: ResponseOptions,
): ContentResponses {
  // Both APIs may return the same page, with other links and headers. Operators ask rarely.
  const cache = operation.declaration.role === undefined ? shared : undefined;
  // A WeakMap would hold pages that nobody needs, because V8 promotes its keys to the old generation.
  if (cache?.response !== undefined) return cache.response as ContentResponses;
  const link = next === undefined ? NO_FIELDS : nextLink(options.base, operation, parameters, next);
  const responses = toContentResponses(encode(items), link, options);
  if (cache !== undefined) cache.response = responses;
  return responses;
}

function toContentResponses(json: string, link: Fields, { caching }: ResponseOptions): ContentResponses {
  const tag = entityTag(json);
  const etag = trustedFields(`ETag: ${tag}\r\n`);
  return {
    tag,
    whole: { status: 200, headers: joinFields(JSON_CONTENT, etag, caching, link), body: octets(json) },
    notModified: { status: 304, headers: joinFields(etag, caching, link) },
  };
}

/** The link to the next page: the same path and query, after `next`. */
function nextLink(
  base: string,
  { declaration, inPath, inQuery }: BoundOperation,
  parameters: Values,
  next: bigint | SortKey,
): Fields {
  let { path } = declaration;
  for (const [name] of inPath) path = path.replace(`{${name}}`, `${parameters[name] as number | bigint}`);
  let query = '';
  let cursor = '';
  for (const [name, parameter] of inQuery) {
    if (parameter.isCursor) cursor = `${name}=${parameter.write?.(next)}`;
    const value = parameters[name];
    if (parameter.isCursor || value === undefined || value === false) continue;
    const written = parameter.write?.(value) ?? (value as Exclude<typeof value, SortKey>);
    const all = typeof written === 'object' ? written : [written];
    for (const each of all) query += `${name}=${typeof each === 'string' ? encodeURIComponent(each) : each}&`;
  }
  return fields('Link', `<${base}${path}?${query}${cursor}>; rel="next"`);
}

/** Whether `If-None-Match` names the tag, so that the answer is 304 (RFC 9110, section 13.1.2, weak comparison). */
export function isUnmodified({ headers }: Pick<IncomingMessage, 'headers'>, tag: string): boolean {
  const ifNoneMatch = headers['if-none-match'];
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === '*') return true;
  return ifNoneMatch.split(',').some((candidate) => candidate.trim().replace(/^W\//, '') === tag);
}
