// Contract: section 6.2.
import type { Environment } from '../../domain/api-key.ts';
import { banInForce, type BanPolicy, refusalsLeft } from '../ban.ts';
import type { Clock, Moment } from '../../domain/clock.ts';
import { type Caller, callerName, type Verdict } from '../counter.ts';
import { peek, type Quota, quotaOf, restored, take, type Usage } from '../quota.ts';
import { withTimeout } from '../timeout.ts';
import { Batches } from './batches.ts';
import type { KnownBan, Heartbeat, SharedCounter } from '../shared-counter.ts';
import type { Redis } from './redis.ts';
import { banKey, instancesKey, refusalsKey, usageKey } from './keys.ts';
import { Knowledge } from './knowledge.ts';
import { readUsage, restoreBan, restoreUsage } from './quotas.ts';
import { loadScript } from './script.ts';

const CHARGE = loadScript('charge.lua');
const HEARTBEAT = loadScript('heartbeat.lua');

/** Milliseconds without a heartbeat after which an instance no longer counts. */
const HEARTBEAT_EXPIRY = 3_000;

/** Callers and bans that a server is told in one go, so that requests come between. */
const INFORM_BATCH = 500;

/** Milliseconds that a server has for such a batch. */
const INFORM_TIMEOUT = 500;

/** Requests that one script charges. The server does nothing else meanwhile. */
const CHARGE_BATCH = 100;

/** Usage of a caller that this instance does not know, as Redis stores it. */
const NO_USAGE: Usage = { minuteStart: 0, minuteCount: 0, day: 0, dayCount: 0 };

type Reply = readonly [
  times: number,
  verdict: 0 | 1 | 2,
  now: number,
  minuteStart: number,
  minuteCount: number,
  day: number,
  dayCount: number,
  refusals: number,
  banUntil: number,
  banCount: number,
];

export interface RedisCounterParts {
  readonly redis: Redis;
  readonly clock: Clock;
  readonly policy: BanPolicy;
  readonly environment: Environment;
  /** The unique name of this instance. */
  readonly instance: string;
  /** How long a charge waits for an answer, in milliseconds. */
  readonly timeout: number;
  /** Called for each key of Redis that had the wrong type and was replaced. */
  readonly onReplaced: (key: string) => void;
}

/**
 * Counts in Redis, on the clock of Redis, for all instances together. All requests of one turn of the event loop share one
 * round trip. Only a charge has a timeout; callers of the other methods add their own.
 */
export class RedisCounter implements SharedCounter {
  readonly #parts: RedisCounterParts;
  readonly #knowledge = new Knowledge();
  readonly #charges: Batches<Caller, Verdict>;
  /** Milliseconds that this instance's clock is ahead of Redis' clock. */
  #aheadBy = 0;

  constructor(parts: RedisCounterParts) {
    this.#parts = parts;
    this.#charges = new Batches(CHARGE_BATCH, (callers) =>
      withTimeout(this.#chargeAll(callers), parts.timeout),
    );
  }

  charge(caller: Caller): Promise<Verdict> {
    return this.#charges.add(this.#parts.redis.groupOf(callerName(caller)), caller);
  }

  peek(caller: Caller): Promise<Quota> {
    const { redis, environment } = this.#parts;
    return readUsage(redis, environment, callerName(caller)).then(({ usage, now }) =>
      peek(usage, caller.limits, now),
    );
  }

  knownBan(keyId: number): KnownBan | undefined {
    const now = this.#redisTime();
    const ban = banInForce({ ban: this.#knowledge.banOf(keyId) }, now);
    return ban && { ban, at: now.unix };
  }

  knownUsedUp(caller: Caller): Quota | undefined {
    const usage = this.#knowledge.usageOf(callerName(caller));
    if (usage === undefined) return undefined;
    const now = this.#redisTime();
    const { quota } = take(restored(usage, now), caller.limits, now);
    return quota.admitted ? undefined : quota;
  }

  bansInForce(): number {
    return this.#knowledge.allBans().filter(([keyId]) => this.knownBan(keyId) !== undefined).length;
  }

  servers(): readonly string[] {
    return this.#parts.redis.servers();
  }

  serverOf(caller: Caller): string {
    return this.#parts.redis.serverOf(usageKey(this.#parts.environment, callerName(caller)));
  }

  async heartbeat(server: string, informed: string | undefined): Promise<Heartbeat> {
    const { redis, environment, instance } = this.#parts;
    const key = instancesKey(environment, (each) => redis.serverOf(each) === server);
    const reply = await redis.run(HEARTBEAT, [key], [instance, HEARTBEAT_EXPIRY, informed ?? '']);
    const [run, instances] = reply as [string, number];
    return { run, instances };
  }

  async inform(server: string): Promise<void> {
    const { redis, environment } = this.#parts;
    const isThere = (caller: string) => redis.serverOf(usageKey(environment, caller)) === server;
    const usage = this.#knowledge.allUsage().filter(([caller]) => isThere(caller));
    const bans = this.#knowledge.allBans().filter(([, { caller }]) => isThere(caller));
    const known = [
      ...usage.map(
        ([caller, each]) =>
          () =>
            restoreUsage(redis, environment, caller, each),
      ),
      ...bans.map(
        ([keyId, ban]) =>
          () =>
            restoreBan(redis, environment, ban.caller, keyId, ban),
      ),
    ];
    for (let from = 0; from < known.length; from += INFORM_BATCH) {
      const told = known.slice(from, from + INFORM_BATCH).map((tell) => tell());
      await withTimeout(Promise.all(told), INFORM_TIMEOUT);
    }
  }

  reconnect(server: string): Promise<void> {
    return this.#parts.redis.reconnect(server);
  }

  close(): void {
    this.#parts.redis.close();
  }

  async #chargeAll(callers: readonly Caller[]): Promise<readonly Verdict[]> {
    const { redis, policy } = this.#parts;
    const groups = groupsOf(callers);
    const keys = groups.flatMap(({ caller }) => this.#keys(caller));
    const rules = [policy.banAfter, policy.banSeconds * 1000];
    const asked = groups.map(({ caller, times }) => {
      const { perMinute, perDay } = caller.limits;
      const known = this.#knowledge.usageOf(callerName(caller)) ?? NO_USAGE;
      const { minuteStart, minuteCount, day, dayCount } = known;
      return `${times} ${perMinute} ${perDay} ${minuteStart} ${minuteCount} ${day} ${dayCount}`;
    });
    const [replies, replaced] = (await redis.run(CHARGE, keys, [...rules, ...asked])) as readonly [
      readonly Reply[],
      readonly string[],
    ];
    for (const key of replaced) this.#parts.onReplaced(key);
    const verdicts: Verdict[] = [];
    for (const reply of replies) {
      const [times] = reply;
      for (let others = times - 1; others >= 0; others--)
        verdicts.push(this.#verdict(callers[verdicts.length] as Caller, reply, others));
    }
    return verdicts;
  }

  /**
   * The verdict for a request with `others` admitted after it in its group. Runs also for an answer that came too late, so
   * that this instance knows what Redis has counted.
   */
  #verdict(caller: Caller, reply: Reply, others: number): Verdict {
    const name = callerName(caller);
    const [, outcome, now, minuteStart, minuteCount, day, dayCount, refusals, until, count] = reply;
    const usage: Usage = {
      minuteStart,
      minuteCount: minuteCount - others,
      day,
      dayCount: dayCount - others,
    };
    if (others === 0) this.#knowledge.noteUsage(name, usage);
    const at = { unix: now, monotonic: now };
    this.#aheadBy = this.#parts.clock().unix - now;
    if (outcome === 2 && caller.kind === 'key') {
      this.#knowledge.noteBan(caller.keyId, { caller: name, until, count });
      // With a refusal the ban begins now. Otherwise it was in force already, and the windows refused nothing.
      const quota = quotaOf(usage, caller.limits, at, refusals === 0);
      return { kind: 'banned', quota, ban: { until, count } };
    }
    if (caller.kind === 'key') this.#knowledge.forgetBan(caller.keyId);
    const quota = quotaOf(usage, caller.limits, at, outcome === 1);
    if (outcome === 1) return { kind: 'admitted', quota };
    const left = caller.kind === 'key' ? refusalsLeft(refusals, this.#parts.policy) : undefined;
    return left === undefined ? { kind: 'refused', quota } : { kind: 'refused', quota, refusalsLeft: left };
  }

  /** The time of Redis' clock, by its last answer. */
  #redisTime(): Moment {
    const now = this.#parts.clock().unix - this.#aheadBy;
    return { unix: now, monotonic: now };
  }

  /** The keys of its usage, refusals and ban. An address has no refusals or ban, so it gives the first key three times. */
  #keys(caller: Caller): readonly string[] {
    const { environment } = this.#parts;
    const name = callerName(caller);
    const usage = usageKey(environment, name);
    if (caller.kind === 'address') return [usage, usage, usage];
    const { keyId } = caller;
    return [usage, refusalsKey(environment, name, keyId), banKey(environment, name, keyId)];
  }
}

interface Group {
  readonly caller: Caller;
  times: number;
}

/** Joins the requests of one caller that follow one another. */
function groupsOf(callers: readonly Caller[]): readonly Group[] {
  const groups: Group[] = [];
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
  return one.kind === 'key'
    ? other.kind === 'key' && one.keyId === other.keyId && one.accountId === other.accountId
    : other.kind === 'address' && one.address === other.address;
}
