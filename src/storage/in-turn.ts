/**
 * Runs work on the same id one after the other, so that a crowd that wants one animal takes one connection and not all of
 * them. When one fails, those that wait behind it fail too, so nobody waits longer for a database that does not answer.
 */
export function inTurn(): <T>(id: bigint, work: () => Promise<T>) => Promise<T> {
  const last = new Map<bigint, Promise<unknown>>();
  return async (id, work) => {
    const turn = (last.get(id) ?? Promise.resolve()).then(work);
    last.set(id, turn);
    try {
      return await turn;
    } finally {
      if (last.get(id) === turn) last.delete(id);
    }
  };
}
