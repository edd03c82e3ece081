import { toError } from '../../../client/src/answer-error.ts';
import { ConnectionError } from '../../../client/src/errors.ts';
import { exchange } from '../../../client/src/exchange.ts';
import { objectText, parseJson } from '../../../client/src/json.ts';
import { retryAfter } from '../../../client/src/retry-timing.ts';
import { SYSTEM_RUNTIME } from '../../../client/src/runtime.ts';

/** @typedef {import('../../../client/src/errors.ts').PetStoreError} PetStoreError */

/** Milliseconds that a request may take. */
const TIMEOUT = 30_000;

/** Milliseconds by which the clock of the service is ahead of this one, within a second. */
let ahead = 0;

/** The time by the clock of the service, because windows and bans end by it. */
export const serviceTime = () => new Date(Date.now() + ahead);

/** `fetch` past the cache of the browser. Reads the clock of the service. @type {typeof fetch} */
export async function fetchFresh(input, init) {
  const response = await fetch(input, { ...init, cache: 'no-store' });
  const date = Date.parse(response.headers.get('Date') ?? '');
  if (response.ok && !Number.isNaN(date)) {
    // The header leaves out the milliseconds, so a clock that is up to a second behind may be the same one.
    const difference = date - Date.now();
    ahead = difference > 0 ? difference : Math.min(0, difference + 1_000);
  }
  return response;
}

/**
 * Sends a request to this origin. The public API has `petstore-client` instead.
 * @param {string} path
 * @param {{ method?: string, body?: object, signal?: AbortSignal }} [options] an int64 of the body may be a bigint
 * @returns {Promise<{ json: any, headers: Headers }>} `json` is undefined for an answer without a body.
 * @throws {PetStoreError}
 */
export async function send(path, { method = 'GET', body, signal } = {}) {
  const content = body !== undefined && {
    headers: { 'Content-Type': 'application/json' },
    body: objectText('body', body),
  };
  const options = { fetch: fetchFresh, timeout: TIMEOUT, signal, runtime: SYSTEM_RUNTIME };
  const answer = await exchange(path, { method, ...content }, options);
  const { status, headers } = answer;
  if (status >= 200 && status < 300) return { json: parsed(answer), headers };
  const wait = retryAfter(headers, Date.now());
  throw toError(answer, wait === undefined ? undefined : new Date(Date.now() + wait), undefined);
}

/** @param {import('../../../client/src/exchange.ts').Answer} answer */
function parsed({ status, body, requestId }) {
  try {
    return body === '' ? undefined : parseJson(body);
  } catch (cause) {
    throw new ConnectionError('The answer is not one of the service.', { status, requestId, cause });
  }
}

/** Whether the service did not answer, or failed, so that the same request may succeed later. @param {PetStoreError} error */
export const isOutage = ({ status = 0 }) => status < 400 || status >= 500;

/** What people read of an error: the message of the service, if it has one. @param {PetStoreError} error */
export function explain({ status = 0, code, message }) {
  if (status < 400) return 'The service did not answer: it or the network is down.';
  if (code !== undefined) return message;
  return `A proxy answered with status ${status}: the service may be down. Try again later.`;
}
