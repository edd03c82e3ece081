// Contract: section 4.
import type { Scope } from '../domain/account.ts';
import type { WindowName } from '../limits/quota.ts';
import { GET_PET_SUNSET } from './deprecation.ts';
import type { TransportStatus } from './errors.ts';

/*
 * What error messages say, for the answers and for the examples of the description. Those of a body's or a parameter's
 * validation stand with its rule.
 */

export const KEY_MISSING = 'The API key is missing: send it as "Authorization: Bearer <API_KEY>".';
export const NO_SUCH_PET = 'There is no animal with this petId.';
export const KEY_IN_FLIGHT = 'The first request with this Idempotency-Key is in flight: try again later.';
export const KEY_REUSED = 'This Idempotency-Key was used with another body: send a new one.';
export const REMOVED = `This operation was removed on ${GET_PET_SUNSET}: use GET /pets instead.`;
export const NOT_JSON = 'The body must be sent as Content-Type: application/json.';
export const SHUTTING_DOWN = 'The service is shutting down; try again later.';
export const STORE_LOST = 'The service cannot use its database now; try again later.';
export const MALFORMED = 'The request is not valid HTTP.';
export const NO_CONNECT = 'The method CONNECT is not offered.';

/** For what the HTTP layer refuses before any operation sees it. */
export const TRANSPORT: Readonly<Record<TransportStatus, string>> = {
  408: 'The request took too long to arrive.',
  417: 'The only expectation that is met is 100-continue.',
  431: 'The header block is too large.',
};

export function lacksScope(scope: Scope): string {
  return `This API key lacks the scope ${scope}: use a key that has it.`;
}

/** `limit` in bytes. */
export function bodyTooLarge(limit: number): string {
  return `The body must not be larger than ${limit} bytes.`;
}

/** `methods` as in the `Allow` header. */
export function otherMethod(methods: string): string {
  return `This path takes ${methods}.`;
}

/** `seconds` as in the `Retry-After` header. */
export function limitUsedUp(limit: number, window: WindowName, seconds: string): string {
  return `The limit of ${limit} requests per ${window} is used up: wait ${seconds} s.`;
}

export function banNear(refusalsLeft: number): string {
  const requests = refusalsLeft === 1 ? 'request' : 'requests';
  return ` After ${refusalsLeft} more refused ${requests} within a minute this API key is banned.`;
}

export function banned(seconds: string): string {
  return `This API key is banned for its refused requests: stop sending until the ban ends in ${seconds} s.`;
}

export function internalError(requestId: string): string {
  return `A fault of the service; report it with the request id ${requestId}.`;
}
