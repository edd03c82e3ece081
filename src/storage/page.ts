// Contract: section 3.
import { INT64_MAX } from '../domain/int64.ts';
import type { Page } from '../domain/ports.ts';
import { toJson } from '../domain/written.ts';

/** The largest id that a page may have, given where the page before ended. */
export function firstId(before: bigint | undefined): bigint {
  return before === undefined ? INT64_MAX : before - 1n;
}

/** A page of `limit` items. One item more than that shows whether another page follows. */
export function pageOf<T extends { readonly id: bigint }>(items: readonly T[], limit: number): Page<T> {
  const shown = items.slice(0, limit);
  return { items: toJson(shown), next: items.length > limit ? shown.at(-1)?.id : undefined };
}
