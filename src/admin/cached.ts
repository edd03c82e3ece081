import type { Clock } from '../domain/clock.ts';

/**
 * Keeps the result of `load` for `lifetime` milliseconds, so that ten open consoles cost the same as one. A failure is not
 * kept.
 */
export function cached<T>(clock: Clock, lifetime: number, load: () => Promise<T>): () => Promise<T> {
  let kept: { readonly value: Promise<T>; readonly until: number } | undefined;
  return () => {
    const now = clock().monotonic;
    if (kept !== undefined && now < kept.until) return kept.value;
    const value = load();
    const mine = { value, until: now + lifetime };
    kept = mine;
    value.catch(() => {
      if (kept === mine) kept = undefined;
    });
    return value;
  };
}
