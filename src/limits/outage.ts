// Contract: section 6.2.
import type { Logger } from 'pino';
import type { Limits } from '../domain/plan.ts';
import type { Caller, Counters, Verdict } from './counter.ts';
import type { Quota } from './quota.ts';
import { withTimeout, NoAnswer } from './timeout.ts';
import type { Heartbeat, SharedCounter } from './shared-counter.ts';

/** Milliseconds that a request waits for the shared counter. In an outage a request may be delayed by at most 50. */
export const ANSWER_TIMEOUT = 40;

/** Milliseconds without an answer after which a connection is replaced. */
const RECONNECT_AFTER = 500;

/** Milliseconds between two heartbeats to a server. */
const HEARTBEAT_INTERVAL = 500;

/** Heartbeats in a row that must see fewer instances before those count as gone: one may only be late. */
const MISSED_HEARTBEATS = 4;

interface ServerState {
  available: boolean;
  informed: string | undefined;
  /** How many instances share a limit when each counts by itself. */
  instances: number;
  missed: number;
  heartbeat: Promise<void> | undefined;
}

/** Limits that refuse every request. */
const NO_REQUESTS: Limits = { perMinute: 0, perDay: 0 };

/**
 * The outage policy of the shared counter (docs/decisions/0013-redis-outages.md). Without an answer in time this instance
 * counts the request itself, against its limits divided by the number of instances last seen. Known bans stay in force.
 * The local counts stay from one outage to the next, so a server that comes and goes gives nobody a new share. A server
 * that may have forgotten its counts is told what this instance knows before it is asked again.
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
      (share) => this.#chargeLocally(share, caller),
    );
  }

  async peek(caller: Caller): Promise<Quota> {
    return this.#ask(
      caller,
      () => withTimeout(this.#shared.peek(caller), ANSWER_TIMEOUT),
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
   * Sends a heartbeat to every server, and repeats it at an interval. The flush has a timer of its own: it waits for the
   * database, and a slow database must not make this instance look dead.
   */
  async start(): Promise<void> {
    await this.#sendHeartbeats();
    this.#timer = setInterval(() => void this.#sendHeartbeats(), HEARTBEAT_INTERVAL);
  }

  close(): void {
    this.#closed = true;
    clearInterval(this.#timer);
    this.#local.close();
    this.#shared.close();
  }

  async #chargeLocally(share: Caller, caller: Caller): Promise<Verdict> {
    const known = caller.kind === 'key' ? this.#shared.knownBan(caller.keyId) : undefined;
    if (known !== undefined) {
      const { ban, at } = known;
      return { kind: 'banned', ban, quota: { ...(await this.#local.peek(share)), at } };
    }
    const quota = this.#shared.knownUsedUp(caller);
    if (quota === undefined) return this.#local.charge(share);
    // A quota that is used up has no shares. The refusal counts towards a ban like any other.
    const verdict = await this.#local.charge({ ...caller, limits: NO_REQUESTS });
    // A ban that begins here ends by this instance's clock.
    return { ...verdict, quota: verdict.kind === 'banned' ? { ...quota, at: verdict.quota.at } : quota };
  }

  async #ask<T>(caller: Caller, shared: () => Promise<T>, local: (share: Caller) => Promise<T>): Promise<T> {
    const server = this.#shared.serverOf(caller);
    const state = this.#state(server);
    if (state.available) {
      try {
        return await shared();
      } catch (error) {
        // One late answer is not an outage yet. A heartbeat finds out at once.
        if (error instanceof NoAnswer) void this.#sendHeartbeat(server);
        else this.#markDown(server, error);
      }
    }
    return local(shareOf(caller, state.instances));
  }

  async #sendHeartbeats(): Promise<void> {
    const servers = this.#shared.servers();
    await Promise.all(servers.map((server) => this.#sendHeartbeat(server)));
    const left = this.#shared.servers();
    for (const server of this.#servers.keys()) if (!left.includes(server)) this.#servers.delete(server);
  }

  /** Tells a server that this instance is alive, and finds out whether the server answers. Never rejects. */
  #sendHeartbeat(server: string): Promise<void> {
    const state = this.#state(server);
    state.heartbeat ??= this.#check(server).finally(() => {
      state.heartbeat = undefined;
    });
    return state.heartbeat;
  }

  async #check(server: string): Promise<void> {
    const state = this.#state(server);
    const answer = this.#shared.heartbeat(server, state.informed);
    try {
      const heartbeat = await withTimeout(answer, ANSWER_TIMEOUT);
      if (heartbeat.run === state.informed) this.#markUp(server, heartbeat);
      else await this.#inform(server, heartbeat.run);
    } catch (error) {
      this.#markDown(server, error);
      await this.#reconnectUnlessLate(server, answer);
    }
  }

  /** A server that was restarted or replaced may have forgotten everything: it is told what this instance knows. */
  async #inform(server: string, run: string): Promise<void> {
    const state = this.#state(server);
    if (state.informed !== undefined) this.#markDown(server, new Error('it was restarted or replaced'));
    await this.#shared.inform(server);
    state.informed = run;
    this.#markUp(server, await withTimeout(this.#shared.heartbeat(server, run), ANSWER_TIMEOUT));
  }

  /** A server is used again once every live instance has told it what it knows. */
  #markUp(server: string, { instances }: Heartbeat): void {
    const state = this.#state(server);
    state.missed = instances < state.instances ? state.missed + 1 : 0;
    if (instances > state.instances || state.missed > MISSED_HEARTBEATS) {
      state.instances = instances;
      state.missed = 0;
      this.#log.info({ server, instances }, 'instances share the counter');
    }
    if (state.available || instances < state.instances) return;
    state.available = true;
    this.#log.info({ server, instances }, 'the shared counter answers again');
  }

  /** A server that is only late keeps its connection. If there is no answer at all, the connection may be dead. */
  async #reconnectUnlessLate(server: string, answer: Promise<Heartbeat>): Promise<void> {
    try {
      await withTimeout(answer, RECONNECT_AFTER);
    } catch {
      await this.#shared.reconnect(server).catch((error: unknown) => {
        this.#log.debug({ err: error, server }, 'no new connection to the shared counter');
      });
    }
  }

  #markDown(server: string, error: unknown): void {
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
      // A server that appears later may replace another one, so it is told first what the instances know.
      const instances = Math.max(1, ...[...this.#servers.values()].map((each) => each.instances));
      const available = this.#timer === undefined;
      state = { available, informed: undefined, instances, missed: 0, heartbeat: undefined };
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
