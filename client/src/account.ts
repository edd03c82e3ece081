import type { ApiPromise } from './api-promise.ts';
import type { CallOptions } from './call-options.ts';
import { isInt64 } from './json.ts';
import { readItem, readItems } from './read.ts';
import type { GetUsageQuery, OwnAccount, Usage } from './schema.ts';
import type { Transport } from './transport.ts';

/**
 * The operations on your own account. They work while the limit is used up or the key is banned. All throw PetStoreError, and TypeError or RangeError for wrong
 * arguments.
 */
export class Account {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Reads the account: plan, limits, what remains of both windows, and the bans in force. Any key may. */
  get(options: CallOptions = {}): ApiPromise<OwnAccount> {
    return this.#transport.call({ operation: 'getAccount', options, read: readItem(accountOf) });
  }

  /**
   * Reads the usage of the account by operation, key and outcome, the oldest first: by default for each of
   * the last 30 days. Any key may.
   * @throws ValidationError when the range is not kept, or is longer than 31 days by the hour.
   */
  usage(query: GetUsageQuery = {}, options: CallOptions = {}): ApiPromise<readonly Usage[]> {
    return this.#transport.call({ operation: 'getUsage', query, options, read: readItems(usageOf) });
  }
}

function accountOf(value: unknown): OwnAccount {
  const { name, plan, bans } = (value ?? {}) as Partial<Record<keyof OwnAccount, unknown>>;
  if (typeof name === 'string' && typeof plan === 'string' && Array.isArray(bans)) return value as OwnAccount;
  throw new TypeError('The body is not an account.');
}

function usageOf(value: unknown): Usage {
  const { start, operation, keyId } = (value ?? {}) as Partial<Record<keyof Usage, unknown>>;
  if (typeof start === 'string' && typeof operation === 'string' && isInt64(keyId)) return value as Usage;
  throw new TypeError('The body is not the usage of an account.');
}
