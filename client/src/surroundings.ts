import { Gate } from './gate.ts';
import type { Timing } from './timing.ts';

/** What a client needs of the outside besides the network. Tests bring a clock of their own. */
export interface Surroundings extends Timing {
  /** By base address and key: clients of the same key wait together. */
  readonly gates: Map<string, Gate>;
}

export const SURROUNDINGS: Surroundings = {
  now: () => performance.now(),
  unix: () => Date.now(),
  random: () => Math.random(),
  sleep: (milliseconds, signal) =>
    new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason);
        return;
      }
      const onAbort = () => {
        clearTimeout(timer);
        reject(signal.reason);
      };
      const timer = setTimeout(() => {
        signal.removeEventListener('abort', onAbort);
        resolve();
      }, milliseconds);
      signal.addEventListener('abort', onAbort, { once: true });
    }),
  gates: new Map(),
};

/** Gates of keys that were not used lately are dropped beyond so many. */
const GATES = 1_000;

/** The gate that all requests with this key to this service pass. */
export function gateOf(surroundings: Surroundings, baseUrl: string, apiKey: string): Gate {
  const { gates } = surroundings;
  const name = `${baseUrl} ${apiKey}`;
  const known = gates.get(name);
  if (known !== undefined) return known;
  if (gates.size >= GATES) {
    for (const [other, gate] of gates) if (gate.isIdle()) gates.delete(other);
  }
  const gate = new Gate(surroundings);
  gates.set(name, gate);
  return gate;
}
