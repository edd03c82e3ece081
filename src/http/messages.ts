// Contract: section 4.
import type { WindowName } from '../limits/quota.ts';

/*
 * The messages of error answers, which the description shows as examples. Operations declare their own messages, and
 * schemas hold the messages about invalid values.
 */

export const BODY_REFUSED = 'A DELETE has no body: send it without one.';
export const STORE_LOST = 'The service cannot use its database now: try again later.';
export const BAD_ENCODING = 'The percent-encoding of the request target is broken.';
export const MALFORMED = 'The request is not valid HTTP.';
export const NO_CONNECT = 'The method CONNECT is not supported: send requests for the paths of the API.';

/** When the HTTP layer refuses a request. */
export const TRANSPORT = {
  408: 'The request took too long to arrive: send it again.',
  417: 'The header Expect may only be 100-continue: send that, or leave it out.',
  431: 'The header block is larger than 16 KiB: send fewer or shorter headers.',
  501: 'The header Transfer-Encoding may only be chunked: send the body as it is, or in chunks.',
  505: 'The HTTP version must be 1.1 or 1.0.',
} as const;

/** Statuses other than 400 that the HTTP layer gives to `invalid_request`. */
export type TransportStatus = keyof typeof TRANSPORT;

/** `date` as the description shows it; `successor` is a path. */
export const removed = (date: string, successor: string) =>
  `This operation was removed on ${date}: use GET ${successor} instead.`;

export const otherMediaType = (types: readonly string[]) =>
  `The body must be sent as Content-Type: ${types.join(' or ')}.`;

export const OTHER_CHARSET =
  'The body must be UTF-8: send Content-Type without charset, or with charset=utf-8.';
export const BODY_ENCODED = 'The body must not be compressed: send it without Content-Encoding.';

/** `shape` says what the body must be. */
export const bodyMissing = (shape: string) => `The body is missing: send ${shape}.`;

/** `methods` as in the `Allow` header. */
export const otherMethod = (methods: string) => `This path takes ${methods}.`;

/** `seconds` as in the `Retry-After` header. */
export const limitUsedUp = (limit: number, window: WindowName, seconds: string) =>
  `The limit of ${limit} requests per ${window} is used up: wait ${seconds} s.`;

export const banNear = (refusalsLeft: number) =>
  ` After ${refusalsLeft} more refused ${refusalsLeft === 1 ? 'request' : 'requests'} within a minute this API key is banned.`;

export const banned = (seconds: string) =>
  `This API key is banned for its refused requests: stop sending until the ban ends in ${seconds} s.`;

export const internalError = (requestId: string) =>
  `A fault of the service; report it with the request id ${requestId}.`;
