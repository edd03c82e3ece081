import { ApiError, nextLink, readClock, send } from '../shared/fetch.js';

/**
 * @typedef {{ limit: number, remaining: number, reset: number }} Window
 * @typedef {{
 *   name: string, plan: string, limits: { perMinute: number, perDay: number }, scopes: string[], minute: Window, day: Window,
 *   bans: { keyId: number, until: string, count: number }[],
 * }} Account
 * @typedef {{ start: string, ok: number, clientError: number, refused: number, serverError: number }} UsageRow
 * @typedef {UsageRow & { operation: string }} OperationUsage
 * @typedef {UsageRow & { keyId: number }} KeyUsage
 * @typedef {{ operations: OperationUsage[], keys: KeyUsage[] }} AccountUsage of a range
 * @typedef {{
 *   id: number, label?: string, environment: string, scopes: string[], state: string, createdAt: string,
 *   expiresAt?: string, lastUsedAt?: string, ending?: string,
 * }} Key
 * @typedef {{ name: string, removal: string, successor: string }} Deprecated
 */

/** The API of the account that `key` belongs to. It keeps the key, so the page need not. @param {string} key */
export function accountApi(key) {
  /** @param {string} path @param {Parameters<typeof send>[1]} [options] */
  const ask = (path, options) => send(`v1/account${path}`, { ...options, key });
  /** All rows of a list, page by page. @param {string} list @param {string} query @param {AbortSignal} signal */
  const all = async (list, query, signal) => {
    const rows = [];
    for (let next = query; next !== ''; ) {
      const { json, headers } = await ask(`${list}?${next}`, { signal });
      rows.push(...json);
      // The path may be that of a proxy. The query is the same.
      next = nextLink(headers)?.split('?')[1] ?? '';
    }
    return rows;
  };
  /** What the key may do, as soon as the account is read. @type {PromiseWithResolvers<string[]>} */
  const scopes = Promise.withResolvers();
  return {
    /** Whether the page uses this one of the account's keys. @param {Key} its */
    isOwn: (its) => its.ending === key.slice(-4) && ['active', 'rotated'].includes(its.state),
    /** @param {AbortSignal} [signal] @returns {Promise<Account>} */
    async account(signal) {
      const { json, headers } = await ask('', signal && { signal });
      readClock(headers);
      scopes.resolve(json.scopes);
      return json;
    },
    /** @param {string} query @param {AbortSignal} signal @returns {Promise<AccountUsage>} */
    async usage(query, signal) {
      const by = (/** @type {string} */ what) => all('/usage', `${query}&by=${what}`, signal);
      const [operations, keys] = await Promise.all([by('operation'), by('key')]);
      return { operations, keys };
    },
    /** All keys. A key that may not list them sends no request. @param {AbortSignal} signal @returns {Promise<Key[]>} */
    async keys(signal) {
      if (!(await scopes.promise).includes('keys:manage'))
        throw new ApiError(
          { code: 'insufficient_scope', message: 'The key lacks the scope keys:manage.' },
          403,
        );
      return all('/keys', 'limit=100', signal);
    },
    /** @param {{ label?: string, scopes: string[], expiresAt?: string }} body @returns {Promise<Key & { key: string }>} */
    createKey: async (body) => (await ask('/keys', { method: 'POST', body })).json,
    /** @param {number} id @param {number} grace in seconds @returns {Promise<Key & { key: string }>} */
    rotateKey: async (id, grace) =>
      (await ask(`/keys/${id}/rotate`, { method: 'POST', body: { grace } })).json,
    /** @param {number} id */
    revokeKey: async (id) => void (await ask(`/keys/${id}`, { method: 'DELETE' })),
  };
}

/** @typedef {ReturnType<typeof accountApi>} AccountApi */

/** The scopes and the deprecated operations, from the description. @param {AbortSignal} signal */
export async function description(signal) {
  const { json } = await send('openapi.json', { signal });
  const operations = Object.values(json.paths).flatMap((methods) => Object.values(methods));
  return {
    /** @type {string[]} */
    scopes: json.components.schemas.Scope.enum,
    /** @type {Deprecated[]} */
    deprecated: operations
      .filter((its) => its.deprecated)
      .map((its) => ({
        name: its.operationId,
        removal: its['x-deprecated-sunset'],
        successor: its['x-deprecated-successor'],
      })),
  };
}
