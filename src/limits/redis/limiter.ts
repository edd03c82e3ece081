// Contract: section 6.2.
import { randomUUID } from 'node:crypto';
import { setImmediate as letOthersRun } from 'node:timers/promises';
import { Batcher } from '../../domain/batcher.ts';
import { chunksOf } from '../../domain/chunks.ts';
import type { Environment } from '../../domain/api-key.ts';
import type { Clock, Moment } from '../../domain/clock.ts';
import { type Ban, type BanPolicy, refusalsLeft } from '../ban.ts';
import {
  type Caller,
  callerName,
  type Decision,
  planName,
  type RateLimiter,
  type Windows,
} from '../limiter.ts';
import { peek, type Quota, toQuota, correctCounts, take, type Counts } from '../quota.ts';
import { NoAnswer, withTimeout } from '../timeout.ts';
import { banKey, instancesKeys, refusalsKey, countsKey } from './names.ts';
import { type KnownBan, KnownBans } from './known-bans.ts';
import { RedisQuotas } from './quotas.ts';
import { RecentMap } from './recent-map.ts';
import { loadScript, Redirected, type Redis } from './redis.ts';

const CHARGE = loadScript('charge.lua');
const HEARTBEAT = loadScript('heartbeat.lua');

/** Milliseconds without a heartbeat after which an instance counts as gone: six heartbeats. */
const HEARTBEAT_EXPIRY = 3_000;

/** Requests that one script charges. The server does nothing else meanwhile. */
const CHARGE_BATCH = 100;

/** Keys that a heartbeat tries, because the hash slot of a key may be on its way to another server. */
const INSTANCES_KEYS_TRIED = 3;

/** Callers and bans that are restored at once. Requests are charged between two batches. */
const RESTORE_BATCH = 500;

/** Milliseconds that a server has for such a batch. */
const RESTORE_TIMEOUT = 500;

/** Stands for the counts of a caller that this instance does not know. The script takes any stored counts for newer. */
const UNKNOWN_COUNTS: Counts = { minuteStart: 0, minuteCount: 0, day: 0, dayCount: 0 };

/** An entry of the first list that `charge.lua` returns. */
type ScriptResult = readonly [
  times: number,
  decision: 0 | 1 | 2,
  now: number,
  minuteStart: number,
  minuteCount: number,
  day: number,
  dayCount: number,
  refusals: number,
  banUntil: number,
  banCount: number,
];

export interface Heartbeat {
  /** Identifies the run of the server. A new run may have lost its counts. */
  readonly run: string;
  /** Live instances that have restored their counts on this run of the server. */
  readonly instances: number;
}

interface RedisLimiterParts {
  readonly redis: Redis;
  readonly clock: Clock;
  readonly policy: BanPolicy;
  readonly environment: Environment;
  /** Milliseconds that a charge waits for an answer. */
  readonly timeout: number;
  /** Called for each key of Redis that had the wrong type and was replaced. */
  readonly onReplaced: (key: string) => void;
  readonly onBan: (keyId: number, ban: Ban) => void;
  /** Called when this instance hears that an operator has lifted a ban that it knew of. */
  readonly onLifted: (keyId: number) => void;
}

/**
 * Counts in Redis, on the clock of Redis, for all instances together. All requests of one turn of the event loop share one
 * round trip. Every method rejects when its server cannot answer. Only a charge has a timeout, after which it rejects with
 * NoAnswer; callers of the other methods add their own.
 */
export class RedisLimiter implements Pick<RateLimiter, 'charge' | 'peek'> {
  readonly redis: Redis;
  readonly quotas: RedisQuotas;
  readonly #parts: RedisLimiterParts;
  /** The unique name of this instance. */
  readonly #instance = randomUUID();
  /** What Redis counted by its last answers, by `callerName`. Used in an outage, and to restore a server. */
  readonly #knownCounts = new RecentMap<string, Counts>();
  readonly #knownBans = new KnownBans();
  readonly #charges: Batcher<string, Caller, Decision>;
  /** Milliseconds that this instance's clock is ahead of Redis' clock. */
  #aheadBy = 0;

  constructor(parts: RedisLimiterParts) {
    this.redis = parts.redis;
    this.#parts = parts;
    this.quotas = new RedisQuotas(parts);
    this.#charges = new Batcher({
      size: CHARGE_BATCH,
      // A request is not delayed longer because a server is late for the one before it.
      overlap: true,
      run: (_, callers) => withTimeout(this.#chargeAll(callers), parts.timeout),
    });
  }

  charge(caller: Caller): Promise<Decision> {
    return this.#charges.add(this.redis.toGroup(callerName(caller)), caller);
  }

  async peek(windows: Windows): Promise<Quota> {
    const { counts, now } = await this.quotas.readCounts(callerName(windows));
    return peek(counts, windows.limits, now);
  }

  /** The ban in force, if this instance knows of one. `at` is the time now on the clock that the ban ends by. */
  knownBan(keyId: number): { ban: Ban; at: number } | undefined {
    const now = this.#redisTime();
    const ban = this.#knownBans.inForce(keyId, now);
    return ban && { ban, at: now.unix };
  }

  /** Whether a ban of a key is in force that began here, and that Redis has not heard of. */
  hasUnsentBan(keyId: number): boolean {
    return this.#knownBans.unsent.has(keyId) && this.knownBan(keyId) !== undefined;
  }

  /** A ban begins here, because Redis does not answer. It ends by this instance's clock. `restoreBans` sends it to Redis. */
  beginBan(keyId: number, accountId: number, { until, count }: Ban): void {
    const began = Math.floor(this.#redisTime().unix);
    const ban = { caller: planName(accountId), until: Math.ceil(until - this.#aheadBy), count, began };
    this.#knownBans.begin(keyId, ban);
  }

  /** Both windows, if this instance knows that one of them is used up. */
  knownUsedUp(caller: Caller): Quota | undefined {
    const counts = this.#knownCounts.get(callerName(caller));
    if (counts === undefined) return undefined;
    const now = this.#redisTime();
    const { quota } = take(correctCounts(counts, now), caller.limits, now);
    return quota.admitted ? undefined : quota;
  }

  bansInForce(): number {
    return [...this.#knownBans.all.keys()].filter((keyId) => this.knownBan(keyId) !== undefined).length;
  }

  serverOf(windows: Windows): string {
    return this.redis.serverOf(countsKey(this.#parts.environment, callerName(windows)));
  }

  /**
   * Tells a server that this instance is alive, and that it has informed the run `informed`. Rejects with Redirected while the
   * server answers and its hash slots are going to others.
   */
  async heartbeat(server: string, informed: string | undefined): Promise<Heartbeat> {
    if (!this.redis.servers().includes(server)) throw new NoAnswer(`${server} has left the cluster`);
    const args = [this.#instance, HEARTBEAT_EXPIRY, informed ?? ''];
    const isThere = (slot: number) => this.redis.ownerOf(slot) === server;
    let redirected: Redirected | undefined;
    // Only this server can tell its run, so the next key is tried instead of the next server.
    for (const key of instancesKeys(this.#parts.environment, isThere).take(INSTANCES_KEYS_TRIED)) {
      try {
        const [run, instances] = (await this.redis.runOn(server, HEARTBEAT, [key], args)) as [string, number];
        return { run, instances };
      } catch (error) {
        if (!(error instanceof Redirected)) throw error;
        redirected = error;
      }
    }
    throw redirected ?? new NoAnswer(`${server} has no hash slot`);
  }

  /** Restores on a server all counts and bans that this instance knows. */
  async inform(server: string): Promise<void> {
    await restoreAll(
      this.#knownCounts,
      ([caller]) => this.#isOn(server, caller),
      ([caller, counts]) => this.quotas.restoreCounts(caller, counts),
    );
    await this.#restoreBans(server, this.#knownBans.all);
  }

  /** Sends to a server the bans that began here while it did not answer. */
  async restoreBans(server: string): Promise<void> {
    await this.#restoreBans(server, this.#knownBans.unsent);
  }

  async #restoreBans(server: string, bans: ReadonlyMap<number, KnownBan>): Promise<void> {
    await restoreAll(
      bans,
      ([, { caller }]) => this.#isOn(server, caller),
      async ([keyId, ban]) => {
        await this.quotas.restoreBan(ban.caller, keyId, ban, ban.began);
        this.#knownBans.sent(keyId, ban);
      },
    );
  }

  #isOn(server: string, caller: string): boolean {
    return this.redis.serverOf(countsKey(this.#parts.environment, caller)) === server;
  }

  async #chargeAll(callers: readonly Caller[]): Promise<readonly Decision[]> {
    const { policy } = this.#parts;
    const groups = groupsOf(callers);
    const keys = groups.flatMap(({ caller }) => this.#keys(caller));
    const rules = [policy.banAfter, policy.banSeconds * 1000];
    const charges = groups.map(({ caller, times }) => {
      const { perMinute, perDay } = caller.limits;
      const known = this.#knownCounts.get(callerName(caller)) ?? UNKNOWN_COUNTS;
      const { minuteStart, minuteCount, day, dayCount } = known;
      return `${times} ${perMinute} ${perDay} ${minuteStart} ${minuteCount} ${day} ${dayCount}`;
    });
    const [results, replaced] = (await this.redis.run(CHARGE, keys, [...rules, ...charges])) as readonly [
      readonly ScriptResult[],
      readonly string[],
    ];
    for (const key of replaced) this.#parts.onReplaced(key);
    const decisions: Decision[] = [];
    for (const result of results) {
      const [times] = result;
      for (let others = times - 1; others >= 0; others--)
        decisions.push(this.#decision(callers[decisions.length] as Caller, result, others));
    }
    return decisions;
  }

  /**
   * The decision for a request with `others` admitted after it in its group. Runs also for an answer that came too late, so
   * that this instance knows what Redis has counted.
   */
  #decision(caller: Caller, result: ScriptResult, others: number): Decision {
    const name = callerName(caller);
    const [, outcome, now, minuteStart, minuteCount, day, dayCount, refusals, until, count] = result;
    const counts: Counts = {
      minuteStart,
      minuteCount: minuteCount - others,
      day,
      dayCount: dayCount - others,
    };
    if (others === 0) this.#knownCounts.set(name, counts);
    const at = { unix: now, monotonic: now };
    this.#aheadBy = this.#parts.clock().unix - now;
    if (outcome === 2 && caller.kind === 'key') {
      this.#knownBans.hear(caller.keyId, { caller: name, until, count });
      // With a refusal the ban begins now. Otherwise it was in force already, and the windows refused nothing.
      if (refusals > 0) this.#parts.onBan(caller.keyId, { until, count });
      const quota = toQuota(counts, caller.limits, at, refusals === 0);
      return { kind: 'banned', quota, ban: { until, count } };
    }
    if (caller.kind === 'key' && this.#knownBans.end(caller.keyId, now)) this.#parts.onLifted(caller.keyId);
    const quota = toQuota(counts, caller.limits, at, outcome === 1);
    if (outcome === 1) return { kind: 'admitted', quota };
    return { kind: 'refused', quota, refusalsLeft: refusalsLeft(refusals, this.#parts.policy) };
  }

  #redisTime(): Moment {
    const now = this.#parts.clock().unix - this.#aheadBy;
    return { unix: now, monotonic: now };
  }

  /** The keys of its counts, refusals and ban. Only a key has refusals and bans; other callers give the first key three times. */
  #keys(caller: Caller): readonly string[] {
    const { environment } = this.#parts;
    const name = callerName(caller);
    const counts = countsKey(environment, name);
    if (caller.kind !== 'key') return [counts, counts, counts];
    const { keyId } = caller;
    return [counts, refusalsKey(environment, name, keyId), banKey(environment, name, keyId)];
  }
}

/** Restores the callers or bans of a server, many at once. They are those of now: requests go on and add to them. */
async function restoreAll<T>(
  items: Iterable<T>,
  isThere: (item: T) => boolean,
  restore: (item: T) => Promise<void>,
): Promise<void> {
  for (const batch of chunksOf([...items], RESTORE_BATCH)) {
    const there = batch.filter(isThere);
    if (there.length > 0) await withTimeout(Promise.all(there.map(restore)), RESTORE_TIMEOUT);
    else await letOthersRun();
  }
}

/** Joins the requests of one caller that follow one another. */
function groupsOf(callers: readonly Caller[]) {
  const groups: { readonly caller: Caller; times: number }[] = [];
  for (const caller of callers) {
    const last = groups.at(-1);
    if (last !== undefined && isSame(last.caller, caller)) last.times++;
    else groups.push({ caller, times: 1 });
  }
  return groups;
}

/** Whether both have the same counts, limits and refusals. */
function isSame(one: Caller, other: Caller): boolean {
  const { perMinute, perDay } = other.limits;
  if (one.limits.perMinute !== perMinute || one.limits.perDay !== perDay) return false;
  if (callerName(one) !== callerName(other)) return false;
  return one.kind !== 'key' || (other.kind === 'key' && one.keyId === other.keyId);
}
