import type { Page, PageQuery } from '../domain/page.ts';

/** Items of a page: the most that a list returns at once. */
const PAGE_SIZE = 100;

/** All pages of a list. Each read stands alone, so memory stays flat, and a slow reader holds nothing in the database. */
export async function* readPages<T>(
  list: (query: PageQuery) => Promise<Page<T>>,
): AsyncGenerator<readonly T[]> {
  for (let cursor: bigint | undefined; ; ) {
    const { items, next } = await list({ limit: PAGE_SIZE, cursor });
    yield items;
    if (next === undefined) return;
    cursor = next;
  }
}
