import type { Answer } from './exchange.ts';
import { parseJson } from './json.ts';
import { linkTarget } from './link.ts';
import type { Page } from './list.ts';

/** Reads an answer that has one item. */
export function readItem<Item>(itemOf: (value: unknown) => Item): (answer: Answer) => Item {
  return ({ body }) => itemOf(parseJson(body));
}

/** Reads an answer that is a list in one piece. */
export function readItems<Item>(itemOf: (value: unknown) => Item): (answer: Answer) => readonly Item[] {
  return ({ body }) => {
    const items = parseJson(body);
    if (!Array.isArray(items)) throw new TypeError('The body is not an array.');
    return items.map(itemOf);
  };
}

/** Reads an answer that has no content. */
export function readNothing({ status }: Answer): void {
  if (status !== 204) throw new TypeError('The answer must have the status 204.');
}

/** The items of an answer. Only the cursor is taken from its link, because the next request goes to the same base address. */
export function readPage<Item>(
  answer: Answer,
  itemOf: (value: unknown) => Item,
): Page & { readonly items: readonly Item[] } {
  const items = readItems(itemOf)(answer);
  const next = linkTarget(answer.headers, 'next');
  if (next === undefined) return { items, nextCursor: undefined };
  const nextCursor = /[?&]cursor=([^&#]+)/.exec(next)?.[1];
  if (nextCursor === undefined) throw new TypeError('The link to the next page has no cursor.');
  return { items, nextCursor: decodeURIComponent(nextCursor) };
}
