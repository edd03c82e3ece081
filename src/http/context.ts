// Contract: sections 1.3 and 3.
import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { KeyRecord } from '../domain/account.ts';
import { mayHoldApiKey } from '../domain/api-key.ts';
import type { Actor } from '../domain/audit.ts';
import type { Moment } from '../domain/clock.ts';
import type { ErrorCode } from '../domain/errors.ts';
import type { Operator } from '../domain/operator.ts';
import type { Idempotency } from '../domain/idempotency.ts';
import type { Signal } from '../domain/page.ts';
import type { Values } from './parameters.ts';
import { REQUEST_ID } from './request-headers.ts';
import type { Waits } from './waits.ts';
import type { BoundOperation, Match } from './routes.ts';
import type { Fields, Octets, ResponseWriter } from 'direct-http';

/** A response before it is written. */
export interface Response {
  readonly status: number;
  readonly headers: Fields;
  readonly body?: Octets | Buffer;
  /** For the log: the error code, if this response is an error. */
  readonly code?: ErrorCode;
  /** For failed requests: the message of the Error body. */
  readonly message?: string;
}

/** One request, with what is known of it so far. Steps fill in the rest. */
export interface RequestContext {
  readonly request: IncomingMessage;
  readonly writer: ResponseWriter;
  readonly id: string;
  readonly startedAt: Moment;
  readonly waits: Waits;
  /** Decoded; undefined when its percent-encoding is broken. */
  readonly path: string | undefined;
  readonly query: string;
  /** The operations of the path, if the API has it. */
  readonly match: Match | undefined;
  /** The operation of this method, if the path has one. */
  readonly operation: BoundOperation | undefined;
  /** Whether the HTTP layer has refused the request, so that no step runs. */
  isRefused: boolean;
  /** The key of a client, once it is known. */
  key: KeyRecord | undefined;
  /** A key that exists and may not be used, such as one that has expired. For failed requests only. */
  refusedKey: KeyRecord | undefined;
  /** The operator, once it is known. */
  operator: Operator | undefined;
  /** The origin of the console, as the browser of the operator names it. Undefined without a session. */
  origin: string | undefined;
  /** Who changes something. Undefined until the caller is known. */
  actor: Actor | undefined;
  /** Why the service could not answer, for the log. */
  outage: string | undefined;
  /** The rate headers of the caller, once it is known. */
  rateHeaders: Fields | undefined;
  parameters: Values;
  body: unknown;
  idempotency: Idempotency | undefined;
  /** The index of the request among those in flight. */
  index: number;
}

/** The client closed the connection before its answer, so there is nobody to answer. */
export class ClientGone extends Error {}

/**
 * Ends work that nobody waits for. It is no AbortSignal, because that would need a listener for each request. A client that
 * has only ended its side cannot be told from one that has gone: it gets answers whose work has one part.
 */
export class AnswerAwaited implements Signal {
  readonly #context: Pick<RequestContext, 'request' | 'writer'>;

  constructor(context: Pick<RequestContext, 'request' | 'writer'>) {
    this.#context = context;
  }

  /** @throws ClientGone when the client has gone, or the request was answered early because the service stops. */
  throwIfAborted(): void {
    const { request, writer } = this.#context;
    if (writer.destroyed || writer.headersSent || request.socket.readableEnded)
      throw new ClientGone('The client went away.');
  }
}

/** A context after the step that requires an operation. */
export type BoundContext = RequestContext & { readonly match: Match; readonly operation: BoundOperation };

export function requireBound(context: RequestContext): BoundContext {
  if (context.operation === undefined) throw new Error('The request has no operation.');
  return context as BoundContext;
}

/**
 * A check, or the work itself. The first step that returns a response ends the request. A step that need not wait returns no
 * promise, so that the steps until the first wait run in one turn of the event loop.
 */
export type Step<Service> = (
  context: RequestContext,
  service: Service,
) => Response | undefined | Promise<Response | undefined>;

/** Runs steps until one returns a response. */
export async function runSteps<Service>(
  steps: readonly Step<Service>[],
  context: RequestContext,
  service: Service,
): Promise<Response> {
  for (const step of steps) {
    const result = step(context, service);
    const response = result instanceof Promise ? await result : result;
    if (response !== undefined) return response;
  }
  throw new Error('No step has answered the request.');
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

/** Random, so that it does not show how many requests there are. Cut from bulk, because a UUID costs more. */
function newRequestId(): string {
  if (used === ids.length) {
    ids = randomBytes(ID_BYTES * BULK_SIZE).toString('base64url');
    used = 0;
  }
  used += ID_LENGTH;
  return ids.slice(used - ID_LENGTH, used);
}

/** Path and query of a request target, in origin form or absolute form (RFC 9112 §3.2). */
export function parseTarget(url: string): Pick<RequestContext, 'path' | 'query'> {
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
