import type { ClientRuntime } from '../../client/src/runtime.ts';
import type { FakeClock } from './clock.ts';

type Fetch = typeof globalThis.fetch;

interface Sleeper {
  readonly at: number;
  readonly wake: () => void;
}

/** Time for clients and a service together: it passes only when nobody has anything left to do. */
export interface SimulatedTime {
  /** Of one process: what is made of the same surroundings shares its waits. */
  surroundings(): ClientRuntime;
  /** `fetch` over a network that delays up to 50 ms each way. */
  delayed(fetch: Fetch): Fetch;
  /** Milliseconds since some instant. */
  now(): number;
  /** Lets time pass until a promise is settled, or for a number of milliseconds. */
  run(until: Promise<unknown> | number): Promise<void>;
}

/** The longest time that a request or an answer is in flight, in milliseconds. */
const DELAY = 50;

/** Turns of the event loop without any news, after which everybody must be asleep. */
const QUIET_TURNS = 10;

export function simulatedTime(clock: FakeClock, random: () => number = Math.random): SimulatedTime {
  const sleepers = new Set<Sleeper>();
  let underWay = 0;
  let news = 0;
  const now = () => clock().monotonic;
  // A clock moves between two looks at it, and a timer may be early by as little.
  let looks = 0;
  const look = () => now() + ++looks * 1e-6;

  function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const sleeper = { at: now() + milliseconds, wake: resolve };
      sleepers.add(sleeper);
      news++;
      signal?.addEventListener('abort', () => {
        sleepers.delete(sleeper);
        reject(signal.reason);
      });
    });
  }

  async function exchange(fetch: Fetch, ...request: Parameters<Fetch>): Promise<Response> {
    underWay++;
    try {
      const response = await fetch(...request);
      const body = await response.arrayBuffer();
      // A 204 must be made without a body.
      return new Response(response.body === null ? null : body, response);
    } finally {
      underWay--;
    }
  }

  async function everybodySleeps(): Promise<void> {
    for (let quiet = 0, seen = news; quiet < QUIET_TURNS; quiet++) {
      await new Promise((resolve) => setImmediate(resolve));
      if (underWay > 0 || news !== seen) quiet = 0;
      seen = news;
    }
  }

  return {
    surroundings: () => ({
      now: look,
      unix: () => clock().unix,
      sleep,
      random,
      gates: new Map(),
    }),
    delayed:
      (fetch) =>
      async (...request) => {
        await sleep(random() * DELAY);
        const response = await exchange(fetch, ...request);
        await sleep(random() * DELAY);
        return response;
      },
    now,
    async run(until) {
      let isOver = false;
      const end = typeof until === 'number' ? now() + until : Number.POSITIVE_INFINITY;
      const over = () => {
        isOver = true;
      };
      if (typeof until !== 'number') until.then(over, over);
      for (;;) {
        await everybodySleeps();
        if (isOver) return;
        const next = Math.min(end, ...[...sleepers].map(({ at }) => at));
        if (next === Number.POSITIVE_INFINITY) throw new Error('Everybody waits, and nobody for the time.');
        clock.advance(Math.max(0, next - now()));
        for (const sleeper of sleepers) {
          if (sleeper.at > now()) continue;
          sleepers.delete(sleeper);
          sleeper.wake();
        }
        if (next === end) return;
      }
    },
  };
}
