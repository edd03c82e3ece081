// Contract: sections 3.2, 3.3 and 3.6.
import type { IncomingHttpHeaders } from 'node:http';
import type { AnyOperation, Content, Failure, Success } from '../api/declaration.ts';
import type { Values } from '../api/parameters.ts';
import { encodeCursor } from '../domain/cursor.ts';
import { entityTag } from '../domain/written.ts';
import { errorReply, JSON_CONTENT } from './errors.ts';
import type { Reply } from './wire/response.ts';
import type { Served } from './request.ts';
import {
  type Fields,
  fields,
  flatFields,
  joinFields,
  NO_FIELDS,
  octets,
  trustedFields,
} from './wire/text.ts';

const REPLAY = fields('Idempotent-Replay', 'true');
const NO_STORE = fields('Cache-Control', 'no-store');
const REVALIDATE = fields('Cache-Control', 'private, no-cache');

/** The two responses that a GET of the same content can have. */
interface Representation {
  readonly tag: string;
  readonly whole: Reply;
  readonly notModified: Reply;
}

/** Writes the answers of operations as HTTP responses, at the base address `base`. `caching` goes with each GET. */
export class Answers {
  readonly #base: string;
  readonly #caching: Fields;

  constructor(base: string, caching = REVALIDATE) {
    this.#base = base;
    this.#caching = caching;
  }

  reply(
    served: Pick<Served<AnyOperation>, 'operation' | 'inQuery'>,
    { parameters }: Pick<Content, 'parameters'>,
    answer: Success | Failure,
    headers: IncomingHttpHeaders,
  ): Reply {
    const { operation } = served;
    if ('error' in answer) {
      const { error, message = operation.errors[error] ?? '', retryAfter } = answer;
      const wait = retryAfter === undefined ? NO_FIELDS : fields('Retry-After', `${retryAfter}`);
      return errorReply(error, message, wait);
    }
    if (operation.method === 'GET') {
      const { tag, whole, notModified } = this.#representation(served, parameters, answer);
      return noneMatchNames(headers['if-none-match'], tag) ? notModified : whole;
    }
    const { status, json, location, isReplay } = answer;
    if (status === 204) return { status, headers: NO_FIELDS };
    const address = location === undefined ? NO_FIELDS : fields('Location', this.#base + location);
    const replay = isReplay === true ? REPLAY : NO_FIELDS;
    const etag = operation.method === 'PATCH' ? trustedFields(`ETag: ${entityTag(json)}\r\n`) : NO_FIELDS;
    // A secret is never given again.
    const repeat = operation.answers[status]?.isSecret ? NO_STORE : replay;
    return { status, headers: joinFields(JSON_CONTENT, etag, address, repeat), body: octets(json) };
  }

  #representation(
    served: Pick<Served<AnyOperation>, 'operation' | 'inQuery'>,
    parameters: Values,
    answer: Success,
  ): Representation {
    const { status, json, source, next } = answer;
    // A WeakMap would hold pages that nobody needs, because V8 promotes its keys to the old generation.
    if (source?.response !== undefined) return source.response as Representation;
    const tag = entityTag(json);
    const link = next === undefined ? NO_FIELDS : nextLink(this.#base, served, parameters, next);
    const etag = trustedFields(`ETag: ${tag}\r\n`);
    const validators = joinFields(etag, this.#caching, link);
    const written = {
      tag,
      whole: {
        status,
        headers:
          source === undefined
            ? joinFields(JSON_CONTENT, validators)
            : flatFields(JSON_CONTENT, etag, this.#caching, link),
        body: octets(json),
      },
      notModified: { status: 304, headers: validators },
    };
    if (source !== undefined) source.response = written;
    return written;
  }
}

/** The link to the next page: the same query, from the place `next` on. */
function nextLink(
  base: string,
  { operation, inQuery }: Pick<Served<AnyOperation>, 'operation' | 'inQuery'>,
  parameters: Values,
  next: bigint | string,
): Fields {
  let query = '';
  for (const [name, parameter] of inQuery) {
    const value = parameters[name];
    if (name === 'cursor' || value === undefined) continue;
    const written = parameter.write?.(value) ?? value;
    const all = typeof written === 'object' ? written : [written];
    for (const each of all) query += `${name}=${typeof each === 'string' ? encodeURIComponent(each) : each}&`;
  }
  return fields('Link', `<${base}${operation.path}?${query}cursor=${encodeCursor(next)}>; rel="next"`);
}

/** Whether `If-None-Match` names the tag, so that the answer is 304 (RFC 9110, section 13.1.2, weak comparison). */
export function noneMatchNames(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === '*') return true;
  return ifNoneMatch.split(',').some((candidate) => candidate.trim().replace(/^W\//, '') === tag);
}
