// Contract: section 3.
import { INT64_MAX } from './int64.ts';

/** Throws when nobody waits for the answer any more. Work in several parts calls it between two of them. */
export type Signal = Pick<AbortSignal, 'throwIfAborted'>;

/** Work that a signal can end. */
export interface Abortable {
  readonly signal?: Signal | undefined;
}

/** Which page of a list. */
export interface PageQuery extends Abortable {
  /** The most items that the page has. */
  readonly limit: number;
  /** `next` of the page before. Without it, the page is the first. */
  readonly cursor?: bigint | undefined;
}

/** A page of a list. */
export interface Page<T, Next = bigint> {
  readonly items: readonly T[];
  /** What the next page begins after: the id of the last item, or its sort key. Undefined on the last page. */
  readonly next: Next | undefined;
}

/** The page of items of which one more than `limit` was read, if there was one. */
export function toPage<T extends { readonly id: number | bigint }>(
  items: readonly T[],
  limit: number,
): Page<T>;
export function toPage<T, Next>(items: readonly T[], limit: number, toNext: (last: T) => Next): Page<T, Next>;
export function toPage<T extends { readonly id: number | bigint }>(
  items: readonly T[],
  limit: number,
  toNext: (last: T) => unknown = ({ id }) => BigInt(id),
): Page<T, unknown> {
  const shown = items.slice(0, limit);
  const last = shown.at(-1);
  return { items: shown, next: items.length > limit && last !== undefined ? toNext(last) : undefined };
}

export function mapPage<T, U, Next>({ items, next }: Page<T, Next>, map: (item: T) => U): Page<U, Next> {
  return { items: items.map(map), next };
}

/** The largest id that a page of the newest items may have. */
export function firstId(cursor: bigint | undefined): bigint {
  return cursor === undefined ? INT64_MAX : cursor - 1n;
}
