import type { Account, KeyRecord } from '../../domain/account.ts';
import type { Environment } from '../../domain/api-key.ts';
import { type Ban, type BanPolicy, refusalsLeft } from '../../domain/ban.ts';
import type { Clock } from '../../domain/clock.ts';
import { type Limits, PLANS } from '../../domain/plan.ts';
import {
  accountCaller,
  type Caller,
  callerName,
  type CounterChanges,
  type KeyBan,
  type QuotaAdmin,
  type Verdict,
} from '../../domain/ports.ts';
import { DAY, MINUTE, peek, type Quota, quotaOf, type Usage } from '../../domain/quota.ts';
import { loadScript, type Redis } from './connection.ts';

const CHARGE = loadScript(new URL('charge.lua', import.meta.url));
const READ = loadScript(new URL('read.lua', import.meta.url));
const RESTORE = loadScript(new URL('restore.lua', import.meta.url));
const LIFT = loadScript(new URL('lift.lua', import.meta.url));

/** Usage remembered of so many callers, to tell a server that lost its memory. */
const REMEMBERED = 100_000;

/** As Redis stores usage, of a caller that this instance never saw. */
const NOTHING: Usage = { minuteStart: 0, minuteCount: 0, day: 0, dayCount: 0 };

const VERDICTS = ['refused', 'admitted', 'banned'] as const;

type Reply = readonly [
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

export interface RedisQuotasParts {
  readonly redis: Redis;
  readonly clock: Clock;
  readonly policy: BanPolicy;
  /** Each environment counts for itself. */
  readonly environment: Environment;
}

/**
 * Quotas and bans that all instances share, on the clock of Redis: one round trip a request whatever the outcome.
 * Keys hold the numbers of accounts and keys, and addresses; never an API key. Rejects when Redis does not answer.
 */
export class RedisQuotas implements QuotaAdmin {
  readonly #redis: Redis;
  readonly #clock: Clock;
  readonly #policy: BanPolicy;
  readonly #environment: Environment;
  readonly #known = new Map<string, Usage>();

  constructor({ redis, clock, policy, environment }: RedisQuotasParts) {
    this.#redis = redis;
    this.#clock = clock;
    this.#policy = policy;
    this.#environment = environment;
  }

  async charge(caller: Caller): Promise<Verdict> {
    const name = callerName(caller);
    const limits = limitsOfCaller(caller);
    const { banAfter, banSeconds } = this.#policy;
    const { minuteStart, minuteCount, day, dayCount } = this.#known.get(name) ?? NOTHING;
    const rules = [limits.perMinute, limits.perDay, banAfter, banSeconds * 1000];
    const args = [...rules, minuteStart, minuteCount, day, dayCount];
    const reply = (await this.#redis.run(CHARGE, this.#keys(name, caller), args)) as Reply;
    const [verdict, now, , , , , refusals, banUntil, banCount] = reply;
    const usage = usageOf(reply);
    this.#remember(name, usage);
    const quota = quotaOf(usage, limits, { unix: now, monotonic: now }, verdict === 1);
    switch (VERDICTS[verdict]) {
      case 'admitted':
        return { kind: 'admitted', quota };
      case 'refused': {
        const left = caller.kind === 'key' ? refusalsLeft(refusals, this.#policy) : undefined;
        return left === undefined
          ? { kind: 'refused', quota }
          : { kind: 'refused', quota, refusalsLeft: left };
      }
      case 'banned':
        return { kind: 'banned', quota, ban: this.#localBan({ until: banUntil, count: banCount }, now) };
    }
  }

  async peek(caller: Caller): Promise<Quota> {
    return this.#read(callerName(caller), limitsOfCaller(caller));
  }

  usageOf(account: Account): Promise<Quota> {
    return this.#read(accountCaller(account.id), account.limits);
  }

  async listBans(): Promise<readonly KeyBan[]> {
    const bans: KeyBan[] = [];
    for await (const key of this.#redis.scan(`petstore:${this.#environment}:{*}:ban:*`)) {
      const [now, until, count] = (await this.#redis.run(READ, [key], ['ban'])) as [number, number, number];
      if (until > now)
        bans.push({
          keyId: Number(key.slice(key.lastIndexOf(':') + 1)),
          ...this.#localBan({ until, count }, now),
        });
    }
    return bans.toSorted((a, b) => a.keyId - b.keyId);
  }

  async liftBan(keyId: number): Promise<boolean> {
    let lifted = false;
    for await (const key of this.#redis.scan(`petstore:${this.#environment}:{*}:ban:${keyId}`)) {
      lifted = (await this.#redis.run(LIFT, [key], [])) === 1 || lifted;
    }
    return lifted;
  }

  /** Takes over counters that were kept elsewhere, by caller and by key; instants are Unix milliseconds. */
  async restore(
    { usage }: Pick<CounterChanges, 'usage'>,
    bans: readonly (Ban & Pick<KeyRecord, 'id' | 'account'>)[],
  ): Promise<void> {
    for (const [name, { minuteStart, minuteCount, day, dayCount }] of usage) {
      const values = [
        'minuteStart',
        minuteStart,
        'minuteCount',
        minuteCount,
        'day',
        day,
        'dayCount',
        dayCount,
      ];
      await this.#redis.run(RESTORE, [this.#key(name, 'usage')], [(day + 1) * DAY + MINUTE, ...values]);
    }
    for (const { id, account, until, count } of bans) {
      const key = this.#key(accountCaller(account.id), `ban:${id}`);
      await this.#redis.run(RESTORE, [key], [until + DAY, 'until', until, 'count', count]);
    }
  }

  async #read(name: string, limits: Limits): Promise<Quota> {
    const reply = (await this.#redis.run(READ, [this.#key(name, 'usage')], ['usage'])) as number[];
    const [now = 0, minuteStart = 0, minuteCount = 0, day = 0, dayCount = 0] = reply;
    return peek({ minuteStart, minuteCount, day, dayCount }, limits, { unix: now, monotonic: now });
  }

  /** All keys of a caller lie in the hash slot of what stands between the braces. */
  #key(name: string, kind: string): string {
    return `petstore:${this.#environment}:{${name}}:${kind}`;
  }

  #keys(name: string, caller: Caller): string[] {
    const usage = this.#key(name, 'usage');
    if (caller.kind === 'address') return [usage];
    const { keyId } = caller;
    return [usage, this.#key(name, `refusals:${keyId}`), this.#key(name, `ban:${keyId}`)];
  }

  /** The end of a ban on our own clock, which the headers are printed by. */
  #localBan({ until, count }: Ban, redisNow: number): Ban {
    return { until: this.#clock().unix + (until - redisNow), count };
  }

  #remember(name: string, usage: Usage): void {
    // Deleted first, so that the caller that was silent for the longest is the first to be forgotten.
    this.#known.delete(name);
    if (this.#known.size >= REMEMBERED) this.#known.delete(this.#known.keys().next().value ?? '');
    this.#known.set(name, usage);
  }
}

function limitsOfCaller(caller: Caller): Limits {
  return caller.kind === 'key' ? caller.limits : PLANS.free;
}

function usageOf([, , minuteStart, minuteCount, day, dayCount]: Reply): Usage {
  return { minuteStart, minuteCount, day, dayCount };
}
