import { parseExactJson } from '../domain/parse.ts';
import type { Page } from '../domain/page.ts';

/** Items of a page: the most that a list returns at once. */
export const PAGE_SIZE = 100;

/**
 * All pages of a list, newest first. `list` reads the page that ends before an id. Each read stands alone, so memory stays
 * flat, and a slow reader holds nothing in the database.
 */
export async function* pagesOf<T>(
  list: (before: bigint | undefined) => Promise<Page<T>>,
): AsyncGenerator<readonly T[]> {
  for (let before: bigint | undefined; ; ) {
    const { items, next } = await list(before);
    yield parseExactJson(items) as readonly T[];
    if (next === undefined) return;
    before = next;
  }
}
