/** An answer with an error. Without any answer, the code is `unreachable` and the status is 0. */
export class ApiError extends Error {
  /**
   * @param {{ code: string, message: string }} body
   * @param {number} status
   * @param {{ retryAfter?: number, requestId?: string | undefined }} [more] `retryAfter` in seconds
   */
  constructor({ code, message }, status, { retryAfter = 0, requestId } = {}) {
    super(message);
    this.code = code;
    this.status = status;
    this.requestId = requestId;
    this.retryAfter = retryAfter;
    /** When Retry-After ends. */
    this.until = new Date(Date.now() + retryAfter * 1000);
  }

  /** Whether the same request may succeed later without a change. */
  get isTemporary() {
    return this.status === 0 || this.status === 429 || this.status >= 500;
  }
}

/** Milliseconds by which the clock of the service is ahead of this one, within a second. */
let ahead = 0;

/** The time by the clock of the service, because windows and bans end by it. */
export const serviceTime = () => new Date(Date.now() + ahead);

/** Reads the clock of the service from an answer that no cache kept. @param {Headers} headers */
export function readClock(headers) {
  const date = Date.parse(headers.get('Date') ?? '');
  if (!Number.isNaN(date)) ahead = date - Date.now();
}

/**
 * Sends a request to this origin. `key` goes into its Authorization header.
 * @param {string} path
 * @param {{ method?: string, key?: string, body?: unknown, headers?: Record<string, string>, signal?: AbortSignal }} [options]
 * @returns {Promise<{ json: any, headers: Headers }>} `json` is undefined for an answer without a body.
 * @throws {ApiError}
 */
export async function send(path, { method = 'GET', key, body, headers = {}, signal } = {}) {
  const response = await fetch(path, {
    method,
    headers: {
      ...(key === undefined ? {} : { Authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
    cache: 'no-store',
    redirect: 'error',
  }).catch((error) => {
    if (signal?.aborted) throw error;
    throw new ApiError(
      { code: 'unreachable', message: 'The service did not answer: it or the network is down.' },
      0,
    );
  });
  const text = await response.text();
  const json = parsed(text);
  if (response.ok) return { json, headers: response.headers };
  throw new ApiError(json?.code === undefined ? unknownAnswer(response.status) : json, response.status, {
    retryAfter: Number(response.headers.get('Retry-After') ?? 0),
    requestId: response.headers.get('X-Request-Id') ?? undefined,
  });
}

/** The target of the link to the next page of a list, if there is one. @param {Headers} headers */
export function nextLink(headers) {
  return /<([^>]+)>; *rel="?next/.exec(headers.get('Link') ?? '')?.[1];
}

/** @param {string} text */
function parsed(text) {
  try {
    return text === '' ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** An answer without an Error body comes from a proxy. @param {number} status */
function unknownAnswer(status) {
  return {
    code: 'unavailable',
    message: `A proxy answered with status ${status}: the service may be down. Try again later.`,
  };
}
