import type { Account } from '../../domain/account.ts';
import type { Environment } from '../../domain/api-key.ts';
import type { Author } from '../../domain/audit.ts';
import { type Clock, DAY, MINUTE, type Moment } from '../../domain/clock.ts';
import type { Ban } from '../ban.ts';
import { countersUnavailable, type KeyBan, type LiftedBan, planName, type QuotaAdmin } from '../counter.ts';
import { peek, type Quota, restored, type Usage } from '../quota.ts';
import { banKey, usageKey } from './keys.ts';
import type { Redis } from './redis.ts';
import { loadScript } from './server.ts';

const READ = loadScript('read.lua');
const RESTORE = loadScript('restore.lua');
const RESTORE_BAN = loadScript('restore-ban.lua');
const LIFT = loadScript('lift.lua');

/** The counters in Redis, to be read, restored and lifted. A caller is given by `callerName`. */
export class RedisQuotas implements QuotaAdmin {
  readonly #redis: Redis;
  readonly #clock: Clock;
  readonly #environment: Environment;

  constructor({ redis, clock, environment }: { redis: Redis; clock: Clock; environment: Environment }) {
    this.#redis = redis;
    this.#clock = clock;
    this.#environment = environment;
  }

  usageOf(account: Account): Promise<Quota> {
    return reached(async () => {
      const { usage, now } = await this.readUsage(planName(account.id));
      return peek(usage, account.limits, now);
    });
  }

  listBans(): Promise<readonly KeyBan[]> {
    return reached(() => this.#listBans());
  }

  bansOf(accountId: number, keyIds: readonly number[]): Promise<readonly KeyBan[]> {
    return reached(async () => {
      const bans = await Promise.all(
        keyIds.map((keyId) => this.#readBan(keyId, banKey(this.#environment, planName(accountId), keyId))),
      );
      return bans.filter((ban) => ban !== undefined);
    });
  }

  liftBan(_author: Author, keyId: number): Promise<LiftedBan | undefined> {
    return reached(() => this.#liftBan(keyId));
  }

  close(): void {
    this.#redis.close();
  }

  async #listBans(): Promise<readonly KeyBan[]> {
    const bans = new Map<number, KeyBan>();
    for await (const key of this.#redis.scan(banKey(this.#environment, '*', '*'))) {
      const keyId = Number(key.slice(key.lastIndexOf(':') + 1));
      const ban = await this.#readBan(keyId, key);
      if (ban !== undefined) bans.set(keyId, ban);
    }
    return [...bans.values()].toSorted((a, b) => a.keyId - b.keyId);
  }

  async #liftBan(keyId: number): Promise<LiftedBan | undefined> {
    let lifted: LiftedBan | undefined;
    for await (const key of this.#redis.scan(banKey(this.#environment, '*', keyId))) {
      const ban = await this.#readBan(keyId, key);
      const wasBanned = (await this.#redis.run(LIFT, [key], [])) === 1;
      if (wasBanned && ban !== undefined) lifted = { ban, isRecorded: false };
    }
    return lifted;
  }

  async #readBan(keyId: number, key: string): Promise<KeyBan | undefined> {
    const [now, until, count] = (await this.#redis.run(READ, [key], ['ban'])) as [number, number, number];
    // Converted to this process's clock, because its reader goes by that clock.
    return until > now ? { keyId, until: this.#clock().unix + (until - now), count } : undefined;
  }

  /** The usage of a caller, and the time on Redis' clock. */
  async readUsage(caller: string): Promise<{ usage: Usage; now: Moment }> {
    const key = usageKey(this.#environment, caller);
    const numbers = (await this.#redis.run(READ, [key], ['usage'])) as number[];
    const [unix = 0, minuteStart = 0, minuteCount = 0, day = 0, dayCount = 0] = numbers;
    const now = { unix, monotonic: unix };
    return { usage: restored({ minuteStart, minuteCount, day, dayCount }, now), now };
  }

  /** Writes usage that is known elsewhere, with instants in Unix milliseconds. Redis keeps its own where that is newer. */
  async restoreUsage(caller: string, { minuteStart, minuteCount, day, dayCount }: Usage): Promise<void> {
    const key = usageKey(this.#environment, caller);
    const minute = ['minuteStart', minuteStart, 'minuteCount', minuteCount];
    const fields = [...minute, 'day', day, 'dayCount', dayCount];
    await this.#redis.run(RESTORE, [key], [(day + 1) * DAY + MINUTE, ...fields]);
  }

  /** Like `restoreUsage`, for the ban of a key. A ban that `began` after the stored one had ended is a further ban. */
  async restoreBan(caller: string, keyId: number, { until, count }: Ban, began = 0): Promise<void> {
    await this.#redis.run(RESTORE_BAN, [banKey(this.#environment, caller, keyId)], [until, count, began]);
  }
}

/** Every error of Redis or its driver means that the counters cannot be read now. Others are faults of this program. */
async function reached<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    throw error instanceof TypeError || error instanceof RangeError ? error : countersUnavailable(error);
  }
}
