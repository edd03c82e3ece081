import type { ApiPromise, WithResponse } from './api-promise.ts';
import { AbortError } from './errors.ts';
import { checkObject } from './checks.ts';
import type { Call } from './request.ts';
import { Trail } from './trail.ts';
import type { Transport } from './transport.ts';

export interface Page {
  /** The cursor of the next page. Undefined on the last one. */
  readonly nextCursor: string | undefined;
}

export interface ListCall<OnePage> extends Call<OnePage> {
  readonly query: { readonly cursor?: string | undefined };
}

/**
 * A list. `await` gives one page. `for await` gives the items of this page and of all pages after it, and
 * `for await … pages()` gives these pages. The client sends the first request when one of them is used.
 */
export class List<Item, OnePage extends Page> implements ApiPromise<OnePage>, AsyncIterable<Item> {
  readonly [Symbol.toStringTag] = 'List';
  readonly #transport: Transport;
  readonly #call: ListCall<OnePage>;
  readonly #itemsOf: (page: OnePage) => readonly Item[];
  #first: Promise<WithResponse<OnePage>> | undefined;

  /** @internal */
  constructor(transport: Transport, call: ListCall<OnePage>, itemsOf: (page: OnePage) => readonly Item[]) {
    this.#transport = transport;
    this.#call = call;
    this.#itemsOf = itemsOf;
  }

  then<Result = OnePage, Failure = never>(
    onPage?: ((page: OnePage) => Result | PromiseLike<Result>) | null,
    onError?: ((reason: unknown) => Failure | PromiseLike<Failure>) | null,
  ): Promise<Result | Failure> {
    return this.#page().then(onPage, onError);
  }

  catch<Failure = never>(
    onError?: ((reason: unknown) => Failure | PromiseLike<Failure>) | null,
  ): Promise<OnePage | Failure> {
    return this.#page().catch(onError);
  }

  finally(onEnd?: (() => void) | null): Promise<OnePage> {
    return this.#page().finally(onEnd);
  }

  /** The page of `await`, and its response. */
  withResponse(): Promise<WithResponse<OnePage>> {
    return (this.#first ??= this.#load());
  }

  /** This page and all pages after it. The client requests a page when it is needed. */
  async *pages(): AsyncGenerator<OnePage, void, undefined> {
    const trail = new Trail();
    let { data: page } = await this.#load();
    yield page;
    while (page.nextCursor !== undefined) {
      trail.goTo(page.nextCursor);
      ({ data: page } = await this.#load(page.nextCursor));
      yield page;
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    const { signal } = this.#call.options;
    for await (const page of this.pages()) {
      for (const item of this.#itemsOf(page)) {
        if (signal?.aborted) throw new AbortError(signal);
        yield item;
      }
    }
  }

  async #page(): Promise<OnePage> {
    return (await this.withResponse()).data;
  }

  /** A page: the one of the query, or the one at the cursor. */
  async #load(cursor?: string): Promise<WithResponse<OnePage>> {
    const { query } = this.#call;
    checkObject('query', query);
    return await this.#transport.send({
      ...this.#call,
      query: { ...query, cursor: cursor ?? query.cursor },
    });
  }
}
