import { setImmediate as nextTurn } from 'node:timers/promises';
import { withTimeout } from '../timeout.ts';

/** Callers and bans that are restored at once. Requests are charged between two batches. */
const RESTORE_BATCH = 500;

/** Milliseconds that a server has for such a batch. */
const RESTORE_TIMEOUT = 500;

/**
 * Collects the items that one turn of the event loop adds to a group, and runs them together, in order, at most `size` at
 * a time. `run` gives the results in the order of the items. When it rejects, every item of the batch rejects.
 */
export function batched<I, R>(size: number, run: (items: readonly I[]) => Promise<readonly R[]>) {
  const open = new Map<string, { readonly items: I[]; readonly results: Promise<readonly R[]> }>();

  function begin(group: string) {
    const items: I[] = [];
    const results = nextTurn().then(() => {
      if (open.get(group) === batch) open.delete(group);
      return run(items);
    });
    const batch = { items, results };
    open.set(group, batch);
    return batch;
  }

  return async (group: string, item: I): Promise<R> => {
    let batch = open.get(group);
    if (batch === undefined || batch.items.length >= size) batch = begin(group);
    const index = batch.items.push(item) - 1;
    return (await batch.results)[index] as R;
  };
}

/** Restores callers or bans on a server, many at once. */
export async function restoreAll<T>(items: readonly T[], restore: (item: T) => Promise<void>): Promise<void> {
  for (let from = 0; from < items.length; from += RESTORE_BATCH) {
    const batch = items.slice(from, from + RESTORE_BATCH).map(restore);
    await withTimeout(Promise.all(batch), RESTORE_TIMEOUT);
  }
}
