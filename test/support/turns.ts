import { setImmediate as nextTurn } from 'node:timers/promises';

/** Waits for `work`, and calls `note` in every turn of the event loop until it ends. Returns how many these were. */
export async function watchTurns(
  work: Promise<unknown>,
  note: () => void = () => undefined,
): Promise<number> {
  const over = new AbortController();
  const ended = work.finally(() => over.abort());
  let turns = 0;
  while (!over.signal.aborted) {
    await nextTurn();
    turns++;
    note();
  }
  await ended;
  return turns;
}
