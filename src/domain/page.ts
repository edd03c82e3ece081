// Contract: section 3.
import { INT64_MAX } from './int64.ts';
import { type Json, toJson } from './json.ts';

/** A page of a list, newest first: descending id. */
export interface Page<T> {
  readonly items: Json<readonly T[]>;
  /** The id of the last one, when more follow it: where the next page begins. */
  readonly next: bigint | undefined;
}

/** The largest id that a page may have, given where the page before ended. */
export function firstId(before: bigint | undefined): bigint {
  return before === undefined ? INT64_MAX : before - 1n;
}

/** A page of `limit` items. One item more than that shows whether another page follows. */
export function toPage<T extends { readonly id: bigint }>(items: readonly T[], limit: number): Page<T> {
  const shown = items.slice(0, limit);
  return { items: toJson(shown), next: items.length > limit ? shown.at(-1)?.id : undefined };
}

/** A page of `most` rows, from `rows` with one more when others follow. `next` is the number after which the next begins. */
export function describePage<T extends { readonly id: number }>(
  rows: readonly T[],
  most: number,
  describe: (row: T) => object,
) {
  const page = rows.slice(0, most);
  const last = page.at(-1);
  const next = rows.length > most && last !== undefined ? BigInt(last.id) : undefined;
  return { value: page.map(describe), next };
}
