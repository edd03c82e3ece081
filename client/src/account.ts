import type { ApiPromise } from './api-promise.ts';
import type { CallOptions } from './call-options.ts';
import { isInt64 } from './json.ts';
import type { Answer } from './exchange.ts';
import { List, type Page } from './list.ts';
import { readItem, readPage } from './read.ts';
import type {
  FailedRequest,
  GetUsageQuery,
  Int64,
  ListRequestsQuery,
  OwnAccount,
  Usage,
  UsageBy,
} from './schema.ts';
import type { Transport } from './transport.ts';

/** A row of the usage: its `operation` unless it adds up the operations, and its `keyId` unless it adds up the keys. */
export type UsageOf<By extends UsageBy | undefined> = Usage &
  (By extends 'key' ? unknown : { readonly operation: string }) &
  (By extends 'operation' ? unknown : { readonly keyId: Int64 });

/** The rows of one answer, the oldest first. */
export type UsagePage<By extends UsageBy | undefined = undefined> = readonly UsageOf<By>[] & Page;

/** A list of usage: one page, all pages, or all rows. The client sends no request until one of them is used. */
export type UsageList<By extends UsageBy | undefined = undefined> = List<UsageOf<By>, UsagePage<By>>;

/** Failed requests of one answer, the newest first. */
export interface FailedRequestPage extends Page {
  readonly requests: readonly FailedRequest[];
}

/**
 * The operations on your own account. They work while the limit is used up or the key is banned. All throw PetStoreError, and
 * TypeError or RangeError for wrong arguments.
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
   * The usage of the account by operation, key and outcome, the oldest first: by default for each of the last 30 days.
   * `await` gives one page of up to `limit` rows, an array, and `for await` gives all. `by` adds up keys or operations. Any
   * key may.
   * @throws ValidationError when the range is not kept, or is longer than 31 days by the hour.
   */
  usage<const By extends UsageBy | undefined = undefined>(
    query: Omit<GetUsageQuery, 'by'> & { readonly by?: By } = {},
    options: CallOptions = {},
  ): UsageList<By> {
    const read = (answer: Answer) => readUsage<By>(answer, query.by);
    return new List(this.#transport, { operation: 'getUsage', query, options, read }, (page) => page);
  }

  /**
   * The failed requests of the account, the newest first: the last 100 of the last 24 hours, each with the message that says
   * why. `await` gives one page of up to `limit`, `for await` gives all. Any key may.
   */
  requests(query: ListRequestsQuery = {}, options: CallOptions = {}): List<FailedRequest, FailedRequestPage> {
    const call = { operation: 'listRequests', query, options, read: readRequests } as const;
    return new List(this.#transport, call, ({ requests }) => requests);
  }
}

function readUsage<By extends UsageBy | undefined>(answer: Answer, by: UsageBy | undefined): UsagePage<By> {
  const { items, nextCursor } = readPage(answer, (value) => usageOf<By>(value, by));
  // Not enumerable, so that a page equals the array of its rows.
  return Object.defineProperty(items, 'nextCursor', { value: nextCursor }) as UsagePage<By>;
}

function readRequests(answer: Answer): FailedRequestPage {
  const { items: requests, nextCursor } = readPage(answer, toFailedRequest);
  return { requests, nextCursor };
}

function toFailedRequest(value: unknown): FailedRequest {
  const { requestId, code } = (value ?? {}) as Partial<Record<keyof FailedRequest, unknown>>;
  if (typeof requestId === 'string' && typeof code === 'string') return value as FailedRequest;
  throw new TypeError('The body is not a failed request.');
}

function accountOf(value: unknown): OwnAccount {
  const { name, plan, bans } = (value ?? {}) as Partial<Record<keyof OwnAccount, unknown>>;
  if (typeof name === 'string' && typeof plan === 'string' && Array.isArray(bans)) return value as OwnAccount;
  throw new TypeError('The body is not an account.');
}

function usageOf<By extends UsageBy | undefined>(value: unknown, by: UsageBy | undefined): UsageOf<By> {
  const { start, operation, keyId } = (value ?? {}) as Partial<Record<keyof Usage, unknown>>;
  const isOf = (by === 'key' || typeof operation === 'string') && (by === 'operation' || isInt64(keyId));
  if (typeof start === 'string' && isOf) return value as UsageOf<By>;
  throw new TypeError('The body is not the usage of an account.');
}
