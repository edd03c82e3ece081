import type { Environment } from '../../domain/api-key.ts';
import { chunksOf } from '../../domain/chunks.ts';
import { cached } from '../../domain/cached.ts';
import { type Clock, DAY, MINUTE, type Moment } from '../../domain/clock.ts';
import type { Ban } from '../ban.ts';
import {
  type BannableKey,
  type BanQuery,
  callerName,
  limitsUnavailable,
  type KeyBan,
  planName,
  type RateLimitAdmin,
  type Windows,
} from '../limiter.ts';
import { peek, type Quota, correctCounts, type Counts } from '../quota.ts';
import { bannableKey, banKey, countsKey } from './names.ts';
import { loadScript, type Redis } from './redis.ts';

const READ = loadScript('read.lua');
const RESTORE = loadScript('restore.lua');
const RESTORE_BAN = loadScript('restore-ban.lua');
const BANS = loadScript('bans.lua');
const LIFT = loadScript('lift.lua');

/** Bans that one script reads. The server does nothing else meanwhile. */
const BANS_READ = 500;

/** Answers of a scan that a page can wait for. */
const FEW_ANSWERS = 4;

/** Milliseconds for which the keys that a longer scan found are used again. */
const SCAN_LIFETIME = 5_000;

/** The counters in Redis, to be read, restored and lifted. A caller is given by `callerName`. */
export class RedisQuotas implements RateLimitAdmin {
  readonly #redis: Redis;
  readonly #clock: Clock;
  readonly #environment: Environment;
  /** The keys with a ban in force, by their numbers. */
  readonly #bannedKeys: () => Promise<{ readonly keys: readonly BannableKey[] }>;

  constructor({ redis, clock, environment }: { redis: Redis; clock: Clock; environment: Environment }) {
    this.#redis = redis;
    this.#clock = clock;
    this.#environment = environment;
    this.#bannedKeys = cached(clock, () => this.#scanBans(), {
      lifetime: ({ isSlow }) => (isSlow ? SCAN_LIFETIME : 0),
      isSlow: ({ isSlow }) => isSlow,
    });
  }

  peek(windows: Windows): Promise<Quota> {
    return reached(async () => {
      const { counts, now } = await this.readCounts(callerName(windows));
      return peek(counts, windows.limits, now);
    });
  }

  listBans(query: BanQuery = {}): Promise<readonly KeyBan[]> {
    return reached(() => this.#listBans(query));
  }

  countBans(): Promise<number> {
    return reached(async () => (await this.#bannedKeys()).keys.length);
  }

  findBans(keys: readonly BannableKey[]): Promise<readonly KeyBan[]> {
    return reached(() => this.#findBans(keys));
  }

  liftBan(key: BannableKey): Promise<KeyBan | undefined> {
    return reached(async () => {
      const [ban] = await this.#readBans([key]);
      const wasBanned = (await this.#redis.run(LIFT, [this.#banKeyOf(key)], [])) === 1;
      return wasBanned ? ban : undefined;
    });
  }

  close(): void {
    this.#redis.close();
  }

  async #listBans({
    accountId,
    after = 0,
    limit = Number.POSITIVE_INFINITY,
    signal,
  }: BanQuery): Promise<readonly KeyBan[]> {
    const { keys } = await this.#bannedKeys();
    const listed = keys.filter(
      ({ id, account }) => id > after && (accountId === undefined || account.id === accountId),
    );
    const found: KeyBan[] = [];
    // Read again, because a ban may have been lifted since the scan.
    for (const part of chunksOf(listed, BANS_READ)) {
      found.push(...(await this.#findBans(part)));
      if (found.length >= limit) break;
      signal?.throwIfAborted();
    }
    return found.slice(0, limit);
  }

  async #findBans(keys: readonly BannableKey[]): Promise<readonly KeyBan[]> {
    // All keys of a script are on one server, and in a cluster in one slot.
    const groups = Map.groupBy(keys, ({ account }) => this.#redis.toGroup(planName(account.id)));
    const calls = [...groups.values()].flatMap((group) =>
      Array.from(chunksOf(group, BANS_READ), (part) => this.#readBans(part)),
    );
    const byKey = new Map((await Promise.all(calls)).flat().map((ban) => [ban.keyId, ban]));
    return keys.flatMap(({ id }) => byKey.get(id) ?? []);
  }

  /** The bans in force of keys that share a script. */
  async #readBans(keys: readonly BannableKey[]): Promise<readonly KeyBan[]> {
    const names = keys.map((key) => this.#banKeyOf(key));
    const [now = 0, ...numbers] = (await this.#redis.run(BANS, names, [])) as number[];
    const unix = this.#clock().unix;
    return keys.flatMap(({ id }, index) => {
      const [until = 0, count = 0] = numbers.slice(2 * index, 2 * index + 2);
      // Converted to this process's clock, because its reader goes by that clock.
      return until > now ? { keyId: id, until: unix + (until - now), count } : [];
    });
  }

  /** Looks at every key of Redis, because the bans of a cluster are in the slots of their accounts. */
  async #scanBans(): Promise<{ readonly keys: readonly BannableKey[]; readonly isSlow: boolean }> {
    const banned = new Map<number, BannableKey>();
    let answers = 0;
    for await (const names of this.#redis.scan(banKey(this.#environment, '*', '*'))) {
      answers++;
      const keys = names.flatMap((name) => bannableKey(name) ?? []);
      const byId = new Map(keys.map((key) => [key.id, key]));
      for (const { keyId } of await this.#findBans([...byId.values()])) {
        const key = byId.get(keyId);
        if (key !== undefined) banned.set(keyId, key);
      }
    }
    const ids = Float64Array.from(banned.keys()).toSorted();
    const keys = Array.from(ids, (id) => banned.get(id)).filter((key) => key !== undefined);
    return { keys, isSlow: answers > FEW_ANSWERS };
  }

  #banKeyOf({ id, account }: BannableKey): string {
    return banKey(this.#environment, planName(account.id), id);
  }

  /** The counts of a caller, and the time on Redis' clock. */
  async readCounts(caller: string): Promise<{ counts: Counts; now: Moment }> {
    const key = countsKey(this.#environment, caller);
    const numbers = (await this.#redis.run(READ, [key], [])) as number[];
    const [unix = 0, minuteStart = 0, minuteCount = 0, day = 0, dayCount = 0] = numbers;
    const now = { unix, monotonic: unix };
    return { counts: correctCounts({ minuteStart, minuteCount, day, dayCount }, now), now };
  }

  /** Writes counts that are known elsewhere, with instants in Unix milliseconds. Redis keeps newer counts. */
  async restoreCounts(caller: string, { minuteStart, minuteCount, day, dayCount }: Counts): Promise<void> {
    const key = countsKey(this.#environment, caller);
    const minute = ['minuteStart', minuteStart, 'minuteCount', minuteCount];
    const fields = [...minute, 'day', day, 'dayCount', dayCount];
    await this.#redis.run(RESTORE, [key], [(day + 1) * DAY + MINUTE, ...fields]);
  }

  /** Like `restoreCounts`, for the ban of a key. A ban that `began` after the stored one had ended is a further ban. */
  async restoreBan(caller: string, keyId: number, { until, count }: Ban, began = 0): Promise<void> {
    await this.#redis.run(RESTORE_BAN, [banKey(this.#environment, caller, keyId)], [until, count, began]);
  }
}

/** Every error of Redis or its driver means that the counters cannot be read now. Others are faults of this program. */
async function reached<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    throw error instanceof TypeError || error instanceof RangeError ? error : limitsUnavailable(error);
  }
}
