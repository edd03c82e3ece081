import type { ApiPromise, WithResponse } from './api-promise.ts';
import { AbortError } from './errors.ts';
import type { Answer } from './exchange.ts';
import { parseJson } from './json.ts';
import { linkTarget } from './link.ts';

export interface Page {
  /** The cursor of the next page. Undefined on the last one. */
  readonly nextCursor: string | undefined;
}

/**
 * A list. `await` gives one page. `for await` gives the items of this page and of all pages after it, and
 * `for await … pages()` gives these pages. The client sends the first request when one of them is used.
 */
export class List<Item, Its extends Page> implements ApiPromise<Its>, AsyncIterable<Item> {
  readonly [Symbol.toStringTag] = 'List';
  readonly #load: (cursor?: string) => Promise<WithResponse<Its>>;
  readonly #itemsOf: (page: Its) => readonly Item[];
  readonly #signal: AbortSignal | undefined;
  #first: Promise<WithResponse<Its>> | undefined;

  /** @internal */
  constructor(
    load: (cursor?: string) => Promise<WithResponse<Its>>,
    itemsOf: (page: Its) => readonly Item[],
    signal: AbortSignal | undefined,
  ) {
    this.#load = load;
    this.#itemsOf = itemsOf;
    this.#signal = signal;
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
    let { data: page } = await this.#load();
    yield page;
    while (page.nextCursor !== undefined) {
      ({ data: page } = await this.#load(page.nextCursor));
      yield page;
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    for await (const page of this.pages()) {
      for (const item of this.#itemsOf(page)) {
        if (this.#signal?.aborted) throw new AbortError(this.#signal);
        yield item;
      }
    }
  }

  async #page(): Promise<Its> {
    return (await this.withResponse()).data;
  }
}

/** The items of an answer. Only the cursor is taken from its link, because the next request goes to the same base address. */
export function readPage<Item>(
  { body, headers }: Answer,
  itemOf: (value: unknown) => Item,
): Page & { readonly items: readonly Item[] } {
  const items = parseJson(body);
  if (!Array.isArray(items)) throw new TypeError('The body is not an array.');
  const next = linkTarget(headers, 'next');
  if (next === undefined) return { items: items.map(itemOf), nextCursor: undefined };
  const nextCursor = /[?&]cursor=([^&#]+)/.exec(next)?.[1];
  if (nextCursor === undefined) throw new TypeError('The link to the next page has no cursor.');
  return { items: items.map(itemOf), nextCursor: decodeURIComponent(nextCursor) };
}
