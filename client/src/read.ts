import type { Answer } from './exchange.ts';
import { parseJson } from './json.ts';
import { nextCursor } from './link.ts';
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

/** Reads an answer that holds a secret: the errors show nothing of the body. */
export function readSecret<Item>(itemOf: (value: unknown) => Item): (answer: Answer) => Item {
  return ({ body }) => {
    let value: unknown;
    try {
      value = parseJson(body);
    } catch {
      throw new TypeError('The body is not JSON.');
    }
    return itemOf(value);
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
  return { items, nextCursor: nextCursor(answer, 'cursor') };
}
