import type { ApiPromise } from './api-promise.ts';
import type { CallOptions } from './call-options.ts';
import type { Answer } from './exchange.ts';
import { nextCursor } from './link.ts';
import { List, type Page } from './list.ts';
import { readItem, readItems, toItem } from './read.ts';
import { Resource } from './resource.ts';
import type {
  FailedRequest,
  GetUsageQuery,
  Int64,
  ListRequestsQuery,
  OwnAccount,
  Usage,
  UsageBy,
} from './schema.ts';

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
export class Account extends Resource {
  /** Reads the account: plan, limits, what remains of both windows, and the bans in force. Any key may. */
  get(options: CallOptions = {}): ApiPromise<OwnAccount> {
    return this.call('getAccount', readItem(toAccount), { options });
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
    return new List(this.transport, { operation: 'getUsage', query, options, read }, (page) => page);
  }

  /**
   * The failed requests of the account, the newest first: the last 100 of the last 24 hours, each with the message that says
   * why. `await` gives one page of up to `limit`, `for await` gives all. Any key may.
   */
  requests(query: ListRequestsQuery = {}, options: CallOptions = {}): List<FailedRequest, FailedRequestPage> {
    return this.makeList('listRequests', 'requests', toFailedRequest, { query, options });
  }
}

function readUsage<By extends UsageBy | undefined>(answer: Answer, by: UsageBy | undefined): UsagePage<By> {
  const rows = readItems((value) => toUsage<By>(value, by))(answer);
  // Not enumerable, so that a page equals the array of its rows.
  return Object.defineProperty(rows, 'nextCursor', { value: nextCursor(answer, 'cursor') }) as UsagePage<By>;
}

function toAccount(value: unknown): OwnAccount {
  return toItem<OwnAccount>(value, 'an account', { name: 'string', plan: 'string', bans: 'array' });
}

function toFailedRequest(value: unknown): FailedRequest {
  return toItem<FailedRequest>(value, 'a failed request', { requestId: 'string', code: 'string' });
}

function toUsage<By extends UsageBy | undefined>(value: unknown, by: UsageBy | undefined): UsageOf<By> {
  return toItem<Usage>(value, 'the usage of an account', {
    start: 'string',
    ...(by !== 'key' && { operation: 'string' }),
    ...(by !== 'operation' && { keyId: 'int64' }),
  }) as UsageOf<By>;
}
