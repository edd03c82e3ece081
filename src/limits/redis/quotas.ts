import type { Account, KeyRecord } from '../../domain/account.ts';
import type { Environment } from '../../domain/api-key.ts';
import type { Ban } from '../ban.ts';
import { type Clock, DAY, MINUTE, type Moment } from '../../domain/clock.ts';
import { accountCaller, type CounterChanges, type KeyBan, type QuotaAdmin } from '../counter.ts';
import { peek, type Quota, restored, type Usage } from '../quota.ts';
import type { Redis } from './redis.ts';
import { banKey, usageKey } from './keys.ts';
import { loadScript } from './script.ts';

const READ = loadScript('read.lua');
const RESTORE = loadScript('restore.lua');
const LIFT = loadScript('lift.lua');

/** The operator's view of the counters in Redis. */
export class RedisQuotas implements QuotaAdmin {
  readonly #redis: Redis;
  readonly #clock: Clock;
  readonly #environment: Environment;

  constructor({ redis, clock, environment }: { redis: Redis; clock: Clock; environment: Environment }) {
    this.#redis = redis;
    this.#clock = clock;
    this.#environment = environment;
  }

  async usageOf(account: Account): Promise<Quota> {
    const { usage, now } = await readUsage(this.#redis, this.#environment, accountCaller(account.id));
    return peek(usage, account.limits, now);
  }

  async listBans(): Promise<readonly KeyBan[]> {
    const bans = new Map<number, KeyBan>();
    for await (const key of this.#redis.scan(banKey(this.#environment, '*', '*'))) {
      const [now, until, count] = (await this.#redis.run(READ, [key], ['ban'])) as [number, number, number];
      const keyId = Number(key.slice(key.lastIndexOf(':') + 1));
      // Converted to this process's clock, which the caller prints it by.
      if (until > now) bans.set(keyId, { keyId, until: this.#clock().unix + (until - now), count });
    }
    return [...bans.values()].toSorted((a, b) => a.keyId - b.keyId);
  }

  async liftBan(keyId: number): Promise<boolean> {
    let lifted = false;
    for await (const key of this.#redis.scan(banKey(this.#environment, '*', keyId))) {
      lifted = (await this.#redis.run(LIFT, [key], [])) === 1 || lifted;
    }
    return lifted;
  }

  /** Takes over counters from elsewhere, with instants in Unix milliseconds. Redis keeps what is newer there. */
  async restore(
    { usage }: Pick<CounterChanges, 'usage'>,
    bans: readonly (Ban & Pick<KeyRecord, 'id' | 'account'>)[],
  ): Promise<void> {
    for (const [caller, each] of usage) await restoreUsage(this.#redis, this.#environment, caller, each);
    for (const { id, account, ...ban } of bans)
      await restoreBan(this.#redis, this.#environment, accountCaller(account.id), id, ban);
  }
}

/** The usage of a caller, and the time by Redis' clock. */
export async function readUsage(
  redis: Redis,
  environment: Environment,
  caller: string,
): Promise<{ usage: Usage; now: Moment }> {
  const reply = (await redis.run(READ, [usageKey(environment, caller)], ['usage'])) as number[];
  const [now = 0, minuteStart = 0, minuteCount = 0, day = 0, dayCount = 0] = reply;
  const at = { unix: now, monotonic: now };
  return { usage: restored({ minuteStart, minuteCount, day, dayCount }, at), now: at };
}

export async function restoreUsage(
  redis: Redis,
  environment: Environment,
  caller: string,
  { minuteStart, minuteCount, day, dayCount }: Usage,
): Promise<void> {
  const minute = ['minuteStart', minuteStart, 'minuteCount', minuteCount];
  const pairs = [...minute, 'day', day, 'dayCount', dayCount];
  await redis.run(RESTORE, [usageKey(environment, caller)], [(day + 1) * DAY + MINUTE, ...pairs]);
}

export async function restoreBan(
  redis: Redis,
  environment: Environment,
  caller: string,
  keyId: number,
  { until, count }: Ban,
): Promise<void> {
  const key = banKey(environment, caller, keyId);
  await redis.run(RESTORE, [key], [until + DAY, 'until', until, 'count', count]);
}
