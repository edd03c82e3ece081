import type { Logger } from 'pino';
import type { Limits } from '../domain/plan.ts';
import type { Caller, Counters, Verdict } from './counter.ts';
import type { Quota } from './quota.ts';
import { withTimeout, NoAnswer } from './timeout.ts';
import type { Pulse, SharedCounter } from './shared-counter.ts';

/** How long a request waits for the shared counter, in milliseconds; within 50 it must go on. */
export const PATIENCE = 40;

/** After how many milliseconds without any answer a connection is given up for a new one. */
const SILENCE = 500;

/** How often every server is visited, in milliseconds. */
const VISIT_INTERVAL = 500;

/** For how many visits in a row fewer instances must be seen before they are believed to be gone. */
const DOUBT = 4;

interface ServerState {
  available: boolean;
  informed: string | undefined;
  /** How many share a limit when each counts by itself. */
  instances: number;
  doubts: number;
  visit: Promise<void> | undefined;
}

/** Of an account that has nothing left. */
const NOTHING: Limits = { perMinute: 0, perDay: 0 };

/**
 * The outage policy of the shared counter, in this one place (docs/decisions/0013-redis-outages.md): without an answer
 * in time a request is counted here, against its limits divided by the number of instances last seen, and bans that
 * were heard of hold. The local counts stay from one outage to the next, so that a server that comes and goes gives
 * nobody a new share; and a server that may have forgotten is told before it is asked again.
 */
export class FallbackCounter implements Counters {
  readonly #shared: SharedCounter;
  readonly #local: Counters;
  readonly #log: Logger;
  readonly #servers = new Map<string, ServerState>();
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor({ shared, local, log }: { shared: SharedCounter; local: Counters; log: Logger }) {
    this.#shared = shared;
    this.#local = local;
    this.#log = log;
  }

  get sharedIsUp(): boolean {
    return this.#shared.servers().every((server) => this.#state(server).available);
  }

  async charge(caller: Caller): Promise<Verdict> {
    return this.#ask(
      caller,
      () => this.#shared.charge(caller),
      (share) => this.#chargeAlone(share, caller),
    );
  }

  async peek(caller: Caller): Promise<Quota> {
    return this.#ask(
      caller,
      () => withTimeout(this.#shared.peek(caller), PATIENCE),
      (share) => this.#local.peek(share),
    );
  }

  bansInForce(): number {
    return this.#shared.bansInForce() + this.#local.bansInForce();
  }

  flush(): Promise<void> {
    return this.#local.flush();
  }

  flushAll(): Promise<void> {
    return this.#local.flushAll();
  }

  /**
   * Visits every server, and from now on again and again. Not with the flush of what is written down: that waits for
   * the database, and must not make this instance look dead.
   */
  async start(): Promise<void> {
    await this.#visitAll();
    this.#timer = setInterval(() => void this.#visitAll(), VISIT_INTERVAL);
  }

  close(): void {
    this.#closed = true;
    clearInterval(this.#timer);
    this.#local.close();
    this.#shared.close();
  }

  async #chargeAlone(share: Caller, caller: Caller): Promise<Verdict> {
    const known = caller.kind === 'key' ? this.#shared.knownBan(caller.keyId) : undefined;
    if (known !== undefined) {
      const { ban, at } = known;
      return { kind: 'banned', ban, quota: { ...(await this.#local.peek(share)), at } };
    }
    const quota = this.#shared.knownUsedUp(caller);
    if (quota === undefined) return this.#local.charge(share);
    // Nobody gets a share of what is used up; the refusal counts towards a ban like any other.
    const verdict = await this.#local.charge({ ...caller, limits: NOTHING });
    // A ban that begins here ends by our own clock.
    return { ...verdict, quota: verdict.kind === 'banned' ? { ...quota, at: verdict.quota.at } : quota };
  }

  async #ask<T>(
    caller: Caller,
    together: () => Promise<T>,
    alone: (share: Caller) => Promise<T>,
  ): Promise<T> {
    const server = this.#shared.serverOf(caller);
    const state = this.#state(server);
    if (state.available) {
      try {
        return await together();
      } catch (error) {
        // One late answer is no outage: whether it is one is found out at once.
        if (error instanceof NoAnswer) void this.#visit(server);
        else this.#lose(server, error);
      }
    }
    return alone(shareOf(caller, state.instances));
  }

  async #visitAll(): Promise<void> {
    const servers = this.#shared.servers();
    await Promise.all(servers.map((server) => this.#visit(server)));
    const left = this.#shared.servers();
    for (const server of this.#servers.keys()) if (!left.includes(server)) this.#servers.delete(server);
  }

  /** Gives a server a sign of life, and so finds out whether it answers. Never rejects. */
  #visit(server: string): Promise<void> {
    const state = this.#state(server);
    state.visit ??= this.#greet(server).finally(() => {
      state.visit = undefined;
    });
    return state.visit;
  }

  async #greet(server: string): Promise<void> {
    const state = this.#state(server);
    const answer = this.#shared.pulse(server, state.informed);
    try {
      const pulse = await withTimeout(answer, PATIENCE);
      if (pulse.run === state.informed) this.#found(server, pulse);
      else await this.#meet(server, pulse.run);
    } catch (error) {
      this.#lose(server, error);
      await this.#reconnectUnlessLate(server, answer);
    }
  }

  /** Another run of a server, or another server in its place, knows nothing of what instances were told before. */
  async #meet(server: string, run: string): Promise<void> {
    const state = this.#state(server);
    if (state.informed !== undefined) this.#lose(server, new Error('it was restarted or replaced'));
    await this.#shared.inform(server);
    state.informed = run;
    this.#found(server, await withTimeout(this.#shared.pulse(server, run), PATIENCE));
  }

  /** It is counted on again once all the instances that live have told it what they know. */
  #found(server: string, { instances }: Pulse): void {
    const state = this.#state(server);
    state.doubts = instances < state.instances ? state.doubts + 1 : 0;
    if (instances > state.instances || state.doubts > DOUBT) {
      state.instances = instances;
      state.doubts = 0;
      this.#log.info({ server, instances }, 'instances share the counter');
    }
    if (state.available || instances < state.instances) return;
    state.available = true;
    this.#log.info({ server, instances }, 'the shared counter answers again');
  }

  /** A server that only answers late needs no new connection; one that does not may have gone without a word. */
  async #reconnectUnlessLate(server: string, answer: Promise<Pulse>): Promise<void> {
    try {
      await withTimeout(answer, SILENCE);
    } catch {
      await this.#shared.reconnect(server).catch((error: unknown) => {
        this.#log.debug({ err: error, server }, 'no new connection to the shared counter');
      });
    }
  }

  #lose(server: string, error: unknown): void {
    const state = this.#state(server);
    if (!state.available || this.#closed) return;
    state.available = false;
    this.#log.error(
      { err: error, server, share: `1/${state.instances}` },
      'the shared counter does not answer; this instance counts by itself',
    );
  }

  #state(server: string): ServerState {
    let state = this.#servers.get(server);
    if (state === undefined) {
      // One that comes later may have taken the place of another: it is told first what instances know.
      const instances = Math.max(1, ...[...this.#servers.values()].map((each) => each.instances));
      const available = this.#timer === undefined;
      state = { available, informed: undefined, instances, doubts: 0, visit: undefined };
      this.#servers.set(server, state);
    }
    return state;
  }
}

function shareOf(caller: Caller, instances: number): Caller {
  const { perMinute, perDay } = caller.limits;
  const part = (limit: number) => Math.max(1, Math.floor(limit / instances));
  return { ...caller, limits: { perMinute: part(perMinute), perDay: part(perDay) } };
}
