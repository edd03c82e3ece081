import type { ApiPromise } from './api-promise.ts';
import type { Answer } from './exchange.ts';
import { nextCursor } from './link.ts';
import { List, type ListCall, type Page } from './list.ts';
import type { OperationId } from './operations.ts';
import { readItems } from './read.ts';
import type { Call } from './request.ts';
import type { Transport } from './transport.ts';

/** What the operations of one topic share. */
export abstract class Resource {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** @internal */
  protected get transport(): Transport {
    return this.#transport;
  }

  /** @internal Begins a call. Wrong arguments reject the promise. */
  protected call<Result>(
    operation: OperationId,
    read: (answer: Answer) => Result,
    others: Omit<Call<Result>, 'operation' | 'read'>,
  ): ApiPromise<Result> {
    return this.#transport.call({ operation, read, ...others });
  }

  /** @internal A list whose pages have their items in the field `name`. */
  protected makeList<Name extends string, Item>(
    operation: OperationId,
    name: Name,
    toItem: (value: unknown) => Item,
    others: Omit<ListCall<never>, 'operation' | 'read'>,
  ): List<Item, Page & { readonly [N in Name]: readonly Item[] }> {
    type OnePage = Page & { readonly [N in Name]: readonly Item[] };
    const toItems = readItems(toItem);
    const read = (answer: Answer) =>
      ({ [name]: toItems(answer), nextCursor: nextCursor(answer, 'cursor') }) as OnePage;
    return new List<Item, OnePage>(this.#transport, { operation, read, ...others }, (page) => page[name]);
  }
}
