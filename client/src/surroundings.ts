import { Gate } from './gate.ts';

/** What a client needs of the outside besides the network. Tests bring a clock of their own. */
export interface Surroundings {
  /** Milliseconds that really passed since some instant: no jump of the system clock shortens a wait. */
  readonly now: () => number;
  /** Unix time in milliseconds. */
  readonly unix: () => number;
  /** Resolves after so many milliseconds, at most 2^31 - 1; rejects with the signal's reason when it is aborted before. */
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  /** From 0 up to 1. */
  readonly random: () => number;
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
