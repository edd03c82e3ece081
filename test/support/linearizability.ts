/** What happened, as its client saw it: both instants on one monotonic clock; without an answer `ended` is infinite. */
export interface Timed {
  readonly began: number;
  readonly ended: number;
}

/** What events do to a state, and which answers they can get from it. */
export interface Model<State, Event extends Timed> {
  /**
   * The state after an event that finds `state`, or undefined when the event cannot have got its answer from it. An event
   * that changes nothing, whenever it comes, returns the same object: a read or a refusal. Any other returns a new one.
   */
  readonly after: (state: State, event: Event) => State | undefined;
  /** The state after something that may happen without a request until the instant `until`. */
  readonly byItself?: (state: State, until: number) => State | undefined;
  /** Equal for equal states. Without it, the events that are done determine the state. */
  readonly key?: (state: State) => string;
}

/**
 * Whether some order of the events explains every answer, as if one happened at a time, in which no event comes before
 * another that had ended when it began. Events without an answer need not have happened.
 *
 * The search is that of Wing and Gong (1993) with Lowe's memory (2017) of what led nowhere. It takes a read or a refusal as
 * early as it fits, because everything else can still follow.
 */
export function isLinearizable<State, Event extends Timed>(
  events: readonly Event[],
  initial: State,
  { after, byItself, key = () => '' }: Model<State, Event>,
): boolean {
  const all = events.map((event, index) => ({ event, bit: 1n << BigInt(index) }));
  const deadEnds = new Set<string>();

  const canFinish = (done: bigint, state: State): boolean => {
    const open = all.filter(({ bit }) => (done & bit) === 0n);
    const firstEnd = Math.min(...open.map(({ event }) => event.ended));
    if (firstEnd === Number.POSITIVE_INFINITY) return true;
    const place = `${done} ${key(state)}`;
    if (deadEnds.has(place)) return false;
    const changes: [bigint, State][] = [];
    for (const { event, bit } of open) {
      if (event.began > firstEnd) continue;
      const next = after(state, event);
      if (next === state) return canFinish(done | bit, state);
      if (next !== undefined) changes.push([done | bit, next]);
    }
    const changed = byItself?.(state, firstEnd);
    if (changed !== undefined) changes.push([done, changed]);
    if (changes.some(([then, next]) => canFinish(then, next))) return true;
    deadEnds.add(place);
    return false;
  };
  return canFinish(0n, initial);
}
