// Contract: sections 3 and 5.
import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { KeyRecord } from '../domain/account.ts';
import type { Moment } from '../domain/clock.ts';
import { mayHoldApiKey } from '../domain/api-key.ts';
import type { Fields } from './fields.ts';
import type { Response } from './response.ts';
import type { Match } from './routes.ts';

/** One request on its way: what has been found out about it so far. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: Response;
  readonly id: string;
  readonly startedAt: Moment;
  /** Decoded; undefined when its percent-encoding is broken. */
  readonly path: string | undefined;
  readonly query: string;
  readonly match: Match | undefined;
  key?: KeyRecord;
  /** Of the caller, once it is known. */
  rateHeaders?: Fields;
  /** Where `InFlight` keeps it. */
  place: number;
}

/** What a client may send as `X-Request-Id`. */
export const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;

/**
 * The request's own `X-Request-Id` if it is one, else a new one. What may be an API key is none: the id
 * is logged, and no log holds a key.
 */
export function requestId(header: string | string[] | undefined): string {
  return typeof header === 'string' && REQUEST_ID.test(header) && !mayHoldApiKey(header)
    ? header
    : newRequestId();
}

/** Bytes of an id, which are 120 random bits, as good as the 122 of a UUID; and its characters. */
const ID_BYTES = 15;
const ID_LENGTH = 20;

const IN_BULK = 256;

let ids = '';
let used = 0;

/** Random, so that it tells nothing of how many requests others make; made in bulk, which is what makes it cheap. */
function newRequestId(): string {
  if (used === ids.length) {
    ids = randomBytes(ID_BYTES * IN_BULK).toString('base64url');
    used = 0;
  }
  used += ID_LENGTH;
  return ids.slice(used - ID_LENGTH, used);
}

export interface Target {
  readonly path: string | undefined;
  readonly query: string;
}

/** Path and query of a request target, in origin form or absolute form (RFC 9112 §3.2). */
export function parseTarget(url: string): Target {
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
    // Segment by segment: an encoded slash belongs to its segment, as it does for a proxy (RFC 3986, section 2.2).
    return path
      .split('/')
      .map((segment) => decodeURIComponent(segment).replaceAll('/', '%2F'))
      .join('/');
  } catch {
    // Broken percent-encoding: the caller answers 400.
    return undefined;
  }
}
