// Contract: section 6.2.
import type { Logger } from 'pino';
import type { Clock } from '../../domain/clock.ts';
import type { Caller, Decision, LimiterEvents, RateLimiter, Windows } from '../limiter.ts';
import type { Quota } from '../quota.ts';
import { withTimeout, NoAnswer } from '../timeout.ts';
import type { Heartbeat, RedisLimiter } from './limiter.ts';
import { Redirected } from './redis.ts';
import type { Takeover } from './slots.ts';

/** Milliseconds that a request waits for the shared counter. In an outage a request may be delayed by at most 50. */
export const ANSWER_TIMEOUT = 40;

/** Milliseconds without an answer after which a connection is replaced. */
const RECONNECT_AFTER = 500;

/** Milliseconds between two heartbeats to a server. */
const HEARTBEAT_INTERVAL = 500;

/** Heartbeats in a row that may see fewer instances without an effect, because one instance may only be late. */
const MISSED_HEARTBEATS = 4;

interface Server {
  readonly name: string;
  available: boolean;
  /** The run of the server that has the counts of this instance. */
  informed: string | undefined;
  /** How many instances share a limit when each counts by itself. */
  instances: number;
  /** Heartbeats in a row that saw fewer instances. */
  missed: number;
  heartbeat: Promise<void> | undefined;
}

interface OutageLimiterParts extends Pick<LimiterEvents, 'onHeartbeat'> {
  readonly shared: RedisLimiter;
  readonly local: RateLimiter;
  readonly log: Logger;
  readonly clock: Clock;
}

/**
 * The outage policy of the shared counter (docs/design/rate-limits.md). Without an answer in time this instance
 * counts the request itself, against its limits divided by the number of instances last seen. Known bans stay in force.
 * Local counts stay from one outage to the next, so a server that comes and goes gives no caller a new share. Before a
 * server that may have lost its counts is used again, this instance restores its own counts there.
 */
export class OutageLimiter implements RateLimiter {
  readonly #shared: RedisLimiter;
  readonly #local: RateLimiter;
  readonly #log: Logger;
  readonly #clock: Clock;
  readonly #onHeartbeat: LimiterEvents['onHeartbeat'];
  readonly #servers = new Map<string, Server>();
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor({ shared, local, log, clock, onHeartbeat }: OutageLimiterParts) {
    this.#shared = shared;
    this.#local = local;
    this.#log = log;
    this.#clock = clock;
    this.#onHeartbeat = onHeartbeat;
  }

  get sharedIsUp(): boolean {
    return this.#shared.redis.servers().every((name) => this.#server(name).available);
  }

  async charge(caller: Caller): Promise<Decision> {
    // One late answer is no outage yet, but a ban may have begun with it.
    const isBannedHere = caller.kind === 'key' && this.#shared.hasUnsentBan(caller.keyId);
    return this.#ask(caller, isBannedHere ? undefined : () => this.#shared.charge(caller), (share) =>
      this.#chargeLocally(share, caller),
    );
  }

  async peek(windows: Windows): Promise<Quota> {
    return this.#ask(
      windows,
      () => withTimeout(this.#shared.peek(windows), ANSWER_TIMEOUT),
      (share) => this.#local.peek(share),
    );
  }

  bansInForce(): number {
    return this.#shared.bansInForce();
  }

  flush(signal?: AbortSignal): Promise<void> {
    return this.#local.flush(signal);
  }

  flushAll(): Promise<void> {
    return this.#local.flushAll();
  }

  /** Nothing: Redis has what others counted. Local counts stay from one outage to the next. */
  async reload(): Promise<void> {}

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
    this.#shared.redis.close();
  }

  async #chargeLocally(share: Caller, caller: Caller): Promise<Decision> {
    const known = caller.kind === 'key' ? this.#shared.knownBan(caller.keyId) : undefined;
    if (known !== undefined) {
      const { ban, at } = known;
      return { kind: 'banned', ban, quota: { ...(await this.#local.peek(share)), at } };
    }
    const quota = this.#shared.knownUsedUp(caller);
    // A quota that is used up has no shares, so every request is refused. The refusal counts towards a ban like any other.
    const limits = quota === undefined ? share.limits : { perMinute: 0, perDay: 0 };
    const decision = await this.#local.charge({ ...caller, limits });
    if (decision.kind === 'banned' && caller.kind === 'key')
      this.#shared.beginBan(caller.keyId, caller.accountId, decision.ban);
    if (quota === undefined) return decision;
    // A ban that begins here ends by this instance's clock.
    return { ...decision, quota: decision.kind === 'banned' ? { ...quota, at: decision.quota.at } : quota };
  }

  async #ask<W extends Windows, T>(
    windows: W,
    shared: (() => Promise<T>) | undefined,
    local: (share: W) => Promise<T>,
  ): Promise<T> {
    const server = this.#server(this.#shared.serverOf(windows));
    if (shared !== undefined && server.available) {
      try {
        return await shared();
      } catch (error) {
        // One late answer is not an outage yet. A heartbeat decides at once.
        if (error instanceof NoAnswer) void this.#sendHeartbeat(server);
        else this.#markDown(server, error);
      }
    }
    return local(divideLimits(windows, server.instances));
  }

  async #sendHeartbeats(): Promise<void> {
    const { redis } = this.#shared;
    // Not waited for: a server that does not answer must not make this instance late for the others.
    redis.refresh().then(
      (takeovers) => this.#followTakeovers(takeovers),
      (error: unknown) => this.#log.debug({ err: error }, 'no hash slots of the cluster'),
    );
    const names = redis.servers();
    await Promise.all(names.map((name) => this.#sendHeartbeat(this.#server(name))));
    const left = redis.servers();
    for (const name of this.#servers.keys()) if (!left.includes(name)) this.#servers.delete(name);
  }

  /** Tells a server that this instance is alive, and finds out whether the server answers. Never rejects. */
  #sendHeartbeat(server: Server): Promise<void> {
    server.heartbeat ??= this.#check(server).finally(() => {
      server.heartbeat = undefined;
    });
    return server.heartbeat;
  }

  async #check(server: Server): Promise<void> {
    const sentAt = this.#clock().monotonic;
    const answer = this.#shared.heartbeat(server.name, server.informed);
    answer.then(
      () => this.#onHeartbeat((this.#clock().monotonic - sentAt) / 1000),
      () => undefined,
    );
    try {
      const heartbeat = await withTimeout(answer, ANSWER_TIMEOUT);
      if (heartbeat.run !== server.informed) await this.#inform(server, heartbeat.run);
      else {
        // Before the server is used again: a ban that began here binds all instances.
        await this.#shared.restoreBans(server.name);
        this.#markUp(server, heartbeat);
      }
    } catch (error) {
      // It answers. Its hash slots are on their way to other servers.
      if (error instanceof Redirected) return;
      this.#markDown(server, error);
      await this.#reconnectUnlessLate(server, answer);
    }
  }

  /** A server that was restarted or replaced may have lost its counts, so this instance restores its own there. */
  async #inform(server: Server, run: string): Promise<void> {
    if (server.informed !== undefined) this.#markDown(server, new Error('it was restarted or replaced'));
    await this.#shared.inform(server.name);
    server.informed = run;
    this.#markUp(server, await withTimeout(this.#shared.heartbeat(server.name, run), ANSWER_TIMEOUT));
  }

  /** A server that took over hash slots of one that does not answer may lack their counts and bans. */
  #followTakeovers(takeovers: readonly Takeover[]): void {
    for (const { from, to } of takeovers) {
      const server = this.#servers.get(to);
      if (server?.informed === undefined || this.#servers.get(from)?.available === true) continue;
      server.informed = undefined;
      this.#markDown(server, new Error(`it took over hash slots of ${from}, which does not answer`));
    }
  }

  /** A server is used again once every live instance has restored its counts there. */
  #markUp(server: Server, { instances }: Heartbeat): void {
    server.missed = instances < server.instances ? server.missed + 1 : 0;
    if (instances > server.instances || server.missed > MISSED_HEARTBEATS) {
      server.instances = instances;
      server.missed = 0;
      this.#log.info({ server: server.name, instances }, 'instances share the counter');
    }
    if (server.available || instances < server.instances) return;
    server.available = true;
    this.#log.info({ server: server.name, instances }, 'the shared counter answers again');
  }

  /** A server that is only late keeps its connection. If there is no answer at all, the connection may be dead. */
  async #reconnectUnlessLate({ name }: Server, answer: Promise<Heartbeat>): Promise<void> {
    try {
      await withTimeout(answer, RECONNECT_AFTER);
    } catch {
      await this.#shared.redis.reconnect(name).catch((error: unknown) => {
        this.#log.debug({ err: error, server: name }, 'no new connection to the shared counter');
      });
    }
  }

  #markDown(server: Server, error: unknown): void {
    if (!server.available || this.#closed) return;
    // One that has left the cluster is no outage.
    if (!this.#shared.redis.servers().includes(server.name)) return;
    server.available = false;
    this.#log.error(
      { err: error, server: server.name, share: `1/${server.instances}` },
      'the shared counter does not answer; this instance counts by itself',
    );
  }

  #server(name: string): Server {
    let server = this.#servers.get(name);
    if (server === undefined) {
      // A server that appears later may replace another one, so the instances restore their counts there first.
      const instances = Math.max(1, ...[...this.#servers.values()].map((each) => each.instances));
      const available = this.#timer === undefined;
      server = { name, available, informed: undefined, instances, missed: 0, heartbeat: undefined };
      this.#servers.set(name, server);
    }
    return server;
  }
}

function divideLimits<W extends Windows>(windows: W, instances: number): W {
  const { perMinute, perDay } = windows.limits;
  const part = (limit: number) => Math.max(1, Math.floor(limit / instances));
  return { ...windows, limits: { perMinute: part(perMinute), perDay: part(perDay) } };
}
