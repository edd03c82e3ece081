import { setImmediate as letOthersRun } from 'node:timers/promises';

/** Long work whose parts end with `yield`: whoever does it in turns lets others run between two of them. */
export type Parts<T> = Generator<undefined, T, undefined>;

/** Does all parts at once, where nobody waits. */
export function doAtOnce<T>(parts: Parts<T>): T {
  for (;;) {
    const { done, value } = parts.next();
    if (done) return value;
  }
}

/** Does a part in each turn of the event loop. */
export async function doInTurns<T>(parts: Parts<T>): Promise<T> {
  for (;;) {
    const { done, value } = parts.next();
    if (done) return value;
    await letOthersRun();
  }
}

/** Maps items, each as a part. */
export function* mapInParts<T, R>(items: readonly T[], map: (item: T) => R): Parts<readonly R[]> {
  const mapped: R[] = [];
  for (const item of items) {
    mapped.push(map(item));
    yield;
  }
  return mapped;
}
