// Contract: section 6.3.
import type { Window } from '../limits/quota.ts';

/** A window as people and programs read it: `reset` is in Unix seconds, rounded up, as in the rate headers. */
export function describeWindow({ limit, remaining, resetsAt }: Window) {
  return { limit, remaining, reset: Math.ceil(resetsAt / 1_000) };
}
