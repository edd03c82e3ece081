import type { ApiPromise, WithResponse } from './api-promise.ts';
import { AbortError } from './errors.ts';
import { checkObject } from './given.ts';
import type { Call } from './request.ts';
import { Trail } from './trail.ts';
import type { Transport } from './transport.ts';

export interface Page {
  /** The cursor of the next page. Undefined on the last one. */
  readonly nextCursor: string | undefined;
}

export interface ListCall<Its> extends Call<Its> {
  readonly query: { readonly cursor?: string | undefined };
}

/**
 * A list. `await` gives one page. `for await` gives the items of this page and of all pages after it, and
 * `for await … pages()` gives these pages. The client sends the first request when one of them is used.
 */
export class List<Item, Its extends Page> implements ApiPromise<Its>, AsyncIterable<Item> {
  readonly [Symbol.toStringTag] = 'List';
  readonly #transport: Transport;
  readonly #call: ListCall<Its>;
  readonly #itemsOf: (page: Its) => readonly Item[];
  #first: Promise<WithResponse<Its>> | undefined;

  /** @internal */
  constructor(transport: Transport, call: ListCall<Its>, itemsOf: (page: Its) => readonly Item[]) {
    this.#transport = transport;
    this.#call = call;
    this.#itemsOf = itemsOf;
  }

  then<Result = Its, Failure = never>(
    onPage?: ((page: Its) => Result | PromiseLike<Result>) | null,
    onError?: ((reason: unknown) => Failure | PromiseLike<Failure>) | null,
  ): Promise<Result | Failure> {
    return this.#page().then(onPage, onError);
  }

  catch<Failure = never>(
    onError?: ((reason: unknown) => Failure | PromiseLike<Failure>) | null,
  ): Promise<Its | Failure> {
    return this.#page().catch(onError);
  }

  finally(onEnd?: (() => void) | null): Promise<Its> {
    return this.#page().finally(onEnd);
  }

  /** The page of `await`, and its response. */
  withResponse(): Promise<WithResponse<Its>> {
    return (this.#first ??= this.#load());
  }

  /** This page and all pages after it. The client requests a page when it is needed. */
  async *pages(): AsyncGenerator<Its, void, undefined> {
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

  async #page(): Promise<Its> {
    return (await this.withResponse()).data;
  }

  /** A page: the one of the query, or the one at the cursor. */
  async #load(cursor?: string): Promise<WithResponse<Its>> {
    const { query } = this.#call;
    checkObject('query', query);
    return await this.#transport.send({
      ...this.#call,
      query: { ...query, cursor: cursor ?? query.cursor },
    });
  }
}
