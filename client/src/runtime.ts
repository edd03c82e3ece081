import { Gate } from './gate.ts';
import type { Allowance } from './operations.ts';
import type { Timing } from './timing.ts';

/** Time, randomness and the gates of a process. Tests have their own. */
export interface ClientRuntime extends Timing {
  /** By allowance, base address and key, so that clients of the same key wait together. */
  readonly gates: Map<string, Gate>;
}

/** Milliseconds: the longest wait of `setTimeout`. A longer one would end at once. */
export const TIMER_MAX = 2 ** 31 - 1;

export const SYSTEM_RUNTIME: ClientRuntime = {
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
      const timer = setTimeout(
        () => {
          signal.removeEventListener('abort', onAbort);
          resolve();
        },
        Math.min(milliseconds, TIMER_MAX),
      );
      signal.addEventListener('abort', onAbort, { once: true });
    }),
  gates: new Map(),
};

/** Gates. Beyond that, the idle ones are dropped, so that a program with many keys does not fill its memory. */
const GATES_MAX = 1_000;

/** The gate for all requests with this key to this service that count in the same windows. */
export function gateOf(runtime: ClientRuntime, baseUrl: string, apiKey: string, allowance: Allowance): Gate {
  const { gates } = runtime;
  const name = `${allowance} ${baseUrl} ${apiKey}`;
  const known = gates.get(name);
  if (known !== undefined) return known;
  if (gates.size >= GATES_MAX) {
    for (const [other, gate] of gates) if (gate.isIdle()) gates.delete(other);
  }
  const gate = new Gate(runtime);
  gates.set(name, gate);
  return gate;
}
