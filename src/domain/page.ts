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
export interface Page<T, Place = bigint> {
  readonly items: readonly T[];
  /** The place of the last item, by default its id, when more items follow it. */
  readonly next: Place | undefined;
}

/** The page of items of which one more than `limit` was read, if there was one. */
export function toPage<T extends { readonly id: number | bigint }>(
  items: readonly T[],
  limit: number,
): Page<T>;
export function toPage<T, Place>(
  items: readonly T[],
  limit: number,
  toPlace: (last: T) => Place,
): Page<T, Place>;
export function toPage<T extends { readonly id: number | bigint }>(
  items: readonly T[],
  limit: number,
  toPlace: (last: T) => unknown = ({ id }) => BigInt(id),
): Page<T, unknown> {
  const shown = items.slice(0, limit);
  const last = shown.at(-1);
  return { items: shown, next: items.length > limit && last !== undefined ? toPlace(last) : undefined };
}

export function mapPage<T, U, Place>(
  { items, next }: Page<T, Place>,
  describe: (item: T) => U,
): Page<U, Place> {
  return { items: items.map(describe), next };
}

/** The largest id that a page of the newest items may have. */
export function firstId(cursor: bigint | undefined): bigint {
  return cursor === undefined ? INT64_MAX : cursor - 1n;
}
