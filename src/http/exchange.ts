// Contract: sections 3 and 5.
import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { KeyRecord } from '../domain/account.ts';
import type { Moment } from '../domain/clock.ts';
import { mayHoldApiKey } from '../domain/api-key.ts';
import { errorReply } from './errors.ts';
import type { Reply } from './reply.ts';
import { REQUEST_ID } from './request-headers.ts';
import type { Match, Served } from './routes.ts';
import type { Fields } from './wire/text.ts';
import type { Response } from './wire/wire.ts';

/** One request, with what the service knows about it so far. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: Response;
  readonly id: string;
  readonly startedAt: Moment;
  /** Decoded; undefined when its percent-encoding is broken. */
  readonly path: string | undefined;
  readonly query: string;
  readonly match: Match | undefined;
  /** The operation of this method, if the path has one. */
  readonly served: Served | undefined;
  key: KeyRecord | undefined;
  /** Of the caller, once it is known. */
  rateHeaders: Fields | undefined;
  /** Its place among the requests in flight. */
  place: number;
}

/** The request's own `X-Request-Id` if it is valid, else a new one. The log must not hold an API key, so a key is not valid. */
export function requestId(header: string | string[] | undefined): string {
  return typeof header === 'string' && REQUEST_ID.test(header) && !mayHoldApiKey(header)
    ? header
    : newRequestId();
}

/** 120 random bits, about as many as a UUID has. */
const ID_BYTES = 15;
const ID_LENGTH = 20;
const BULK_SIZE = 256;

let ids = '';
let used = 0;

/**
 * Random, so that it does not show how many requests there are. Made in bulk: `randomUUID` would cost a list 2 %, because its
 * text has many parts.
 */
function newRequestId(): string {
  if (used === ids.length) {
    ids = randomBytes(ID_BYTES * BULK_SIZE).toString('base64url');
    used = 0;
  }
  used += ID_LENGTH;
  return ids.slice(used - ID_LENGTH, used);
}

/** Path and query of a request target, in origin form or absolute form (RFC 9112 §3.2). */
export function parseTarget(url: string): Pick<Exchange, 'path' | 'query'> {
  const origin = url.startsWith('/') ? url : url.replace(/^https?:\/\/[^/?]*/i, '');
  const question = origin.indexOf('?');
  const path = question === -1 ? origin : origin.slice(0, question);
  return {
    path: path.includes('%') ? decode(path) : path,
    query: question === -1 ? '' : origin.slice(question + 1),
  };
}

function decode(path: string): string | undefined {
  try {
    // An encoded slash belongs to its segment, as it does for a proxy (RFC 3986, section 2.2).
    return path
      .split('/')
      .map((segment) => decodeURIComponent(segment).replaceAll('/', '%2F'))
      .join('/');
  } catch {
    // Broken percent-encoding. The answer is 400.
    return undefined;
  }
}

/** A name, an IPv4 address or an IPv6 address in brackets, and perhaps a port; may be empty (RFC 9110, section 7.2). */
const HOST = /^(?:\[[\da-f:.]+\]|(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})*)(?::\d*)?$/i;

/** The refusal of a request without exactly one valid `Host`, which HTTP/1.1 requires (RFC 9112, section 3.2). */
export function hostFault({ httpVersion, rawHeaders }: IncomingMessage): Reply | undefined {
  let hosts = 0;
  let host = '';
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i];
    if (name?.length !== 4 || name.toLowerCase() !== 'host') continue;
    hosts++;
    host = rawHeaders[i + 1] ?? '';
  }
  if (hosts > 1 || (hosts === 0 && httpVersion !== '1.0')) {
    return errorReply('invalid_request', 'The request must have one Host header.');
  }
  return HOST.test(host)
    ? undefined
    : errorReply('invalid_request', 'The Host header must be a host name with an optional port.');
}
