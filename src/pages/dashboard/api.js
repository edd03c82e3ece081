import { PetStore } from '../../../client/src/index.ts';
import { fetchFresh } from '../shared/fetch.js';

/**
 * @typedef {import('../../../client/src/index.ts').OwnAccount} Account
 * @typedef {import('../../../client/src/index.ts').Key} Key
 * @typedef {import('../../../client/src/index.ts').UsageOf<'operation'>} OperationUsage
 * @typedef {import('../../../client/src/index.ts').UsageOf<'key'>} KeyUsage
 * @typedef {import('../../../client/src/index.ts').Int64} Int64
 * @typedef {import('../../../client/src/index.ts').DeliveryStatus} DeliveryStatus
 * @typedef {{ operations: OperationUsage[], keys: KeyUsage[] }} AccountUsage of a range
 * @typedef {(keyId: Int64) => string} NameOf the label or number of a key
 */

/** Milliseconds for which a change is tried again. People wait for it. */
const MAX_WAIT = 10_000;

/**
 * The account that `key` belongs to. Its client keeps the key, so the page need not.
 * @param {string} key
 * @throws {TypeError} if a header cannot hold the key
 */
export function openAccount(key) {
  const baseUrl = new URL('v1', location.href);
  const client = new PetStore({ apiKey: key, baseUrl, maxWait: MAX_WAIT, fetch: fetchFresh });
  // The page polls, and shows each failure. So a read is not tried again by the client.
  const once = (/** @type {AbortSignal | undefined} */ signal) => ({ signal, maxTries: 1 });
  return {
    /** Lists, creates, rotates and revokes keys. */
    keys: client.keys,
    /** Whether the page uses this one of the account's keys. @param {Key} listed */
    isOwn: ({ ending, state }) => ending === key.slice(-4) && ['active', 'rotated'].includes(state),
    /** @param {AbortSignal} [signal] */
    read: (signal) => client.account.get(once(signal)),
    /** The failed requests that are kept. @param {AbortSignal} signal */
    readFailed: (signal) => Array.fromAsync(client.account.requests({ limit: 100 }, once(signal))),
    /** All keys. @param {AbortSignal} signal */
    readKeys: (signal) => Array.fromAsync(client.keys.list({ limit: 100 }, once(signal))),
    /** Adds, changes and deletes webhooks. */
    webhooks: client.webhooks,
    /** All webhooks. @param {AbortSignal} signal */
    readWebhooks: (signal) => Array.fromAsync(client.webhooks.list({ limit: 100 }, once(signal))),
    /**
     * The newest attempts of a webhook.
     * @param {Int64} webhookId @param {string} status an empty one stands for all @param {AbortSignal} signal
     */
    async readDeliveries(webhookId, status, signal) {
      const filter = status === '' ? {} : { status: /** @type {DeliveryStatus} */ (status) };
      return (await client.webhooks.deliveries(webhookId, { limit: 100, ...filter }, once(signal)))
        .deliveries;
    },
    /**
     * The requests of programs, unless `isAll`: then with those on the account, its keys and webhooks, which this page sends too.
     * @param {{ interval: 'hour' | 'day', from: string, to?: string }} range @param {boolean} isAll @param {AbortSignal} signal
     * @returns {Promise<AccountUsage>}
     */
    async readUsage(range, isAll, signal) {
      const query = isAll ? range : { ...range, allowance: /** @type {const} */ ('plan') };
      const [operations, keys] = await Promise.all([
        Array.fromAsync(client.account.usage({ ...query, by: 'operation' }, once(signal))),
        Array.fromAsync(client.account.usage({ ...query, by: 'key' }, once(signal))),
      ]);
      return { operations, keys };
    },
  };
}

/** @typedef {ReturnType<typeof openAccount>} OpenAccount */
