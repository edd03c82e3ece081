import { AuthenticationError, PetStoreError } from '../../../client/src/errors.ts';
import { linkTarget } from '../../../client/src/link.ts';
import { isOutage, send } from '../shared/fetch.js';
import { observed } from './observed.js';
import { signedInAgain } from './session.js';

/** Since when the service does not answer; undefined while it does. */
const silence = observed(/** @type {Date | undefined} */ (undefined));

export const useSilence = () => silence.use();

const OTHER_OPERATOR =
  'Another operator has signed in. Nothing was changed: look at what was typed, and send it again.';

/**
 * Sends a request to the admin API. If the session has ended, it waits for a new one and sends the request again.
 * @param {string} path below the base of the admin API, or a whole one from a Link header
 * @param {{ method?: string, body?: object, signal?: AbortSignal }} [options]
 * @throws {PetStoreError}
 */
async function ask(path, options = {}) {
  const whole = path.startsWith('/admin/') ? path : `/admin/v1${path}`;
  for (;;) {
    try {
      const answer = await send(whole, options);
      silence.set(undefined);
      return answer;
    } catch (error) {
      if (!(error instanceof PetStoreError)) throw error;
      silence.set(isOutage(error) ? (silence.get() ?? new Date()) : undefined);
      if (error.status !== 401) throw error;
      const isSame = await signedInAgain(options.signal);
      // Nobody makes a change that another operator asked for.
      if (!isSame && options.method !== undefined)
        throw new AuthenticationError(OTHER_OPERATOR, { status: 401, code: 'unauthorized' });
    }
  }
}

/** @param {string} path @param {AbortSignal} [signal] @returns {Promise<any>} */
export async function get(path, signal) {
  return (await ask(path, signal ? { signal } : {})).json;
}

/** @param {'POST' | 'PATCH' | 'DELETE'} method @param {string} path @param {object} [body] @returns {Promise<any>} */
export async function change(method, path, body) {
  return (await ask(path, { method, ...(body === undefined ? {} : { body }) })).json;
}

/**
 * The rows of the first pages of a list, and the address of the next page, if there is one.
 * @param {string} path @param {number} pages @param {AbortSignal} signal
 */
export async function getPages(path, pages, signal) {
  const rows = [];
  /** @type {string | undefined} */
  let next = path;
  for (let read = 0; read < pages && next !== undefined; read++) {
    const { json, headers } = await ask(next, { signal });
    rows.push(...json);
    next = linkTarget(headers, 'next');
  }
  return { rows, next };
}

/** A path with those filters that have a value. @param {string} path @param {Record<string, unknown>} filters */
export function withQuery(path, filters) {
  const set = Object.entries(filters).filter(([, value]) => value !== undefined && value !== '');
  const query = new URLSearchParams(set.map(([name, value]) => [name, String(value)]));
  return query.size === 0 ? path : `${path}?${query}`;
}
