import { ErrorReply } from '@redis/client';
import { DAY, MINUTE } from '../../src/domain/clock.ts';
import {
  banInForce,
  type BanPolicy,
  type BanRecord,
  correctBan,
  countRefusal,
} from '../../src/limits/ban.ts';
import { correctCounts, type Counts, take } from '../../src/limits/quota.ts';
import { loadScript } from '../../src/limits/redis/redis.ts';
import type { RedisKeys } from './redis-keys.ts';

/** One call of a script. */
interface ScriptCall {
  readonly keys: readonly string[];
  readonly args: readonly string[];
  readonly store: RedisKeys;
  /** Whole Unix milliseconds. */
  readonly now: number;
  readonly runId: string;
}

type ScriptModel = (call: ScriptCall) => unknown;

const NO_LIMITS = { perMinute: 0, perDay: 0 };

/** A text as Lua's `tonumber(text) or 0`. Hexadecimal numbers are not modelled. */
function toNumber(text: string | undefined): number {
  return text !== undefined && /^\s*[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?\s*$/i.test(text)
    ? Number(text)
    : 0;
}

/** A number as Redis writes it for Lua. */
function toText(number: number): string {
  if (!Number.isSafeInteger(number))
    throw new RangeError(`only whole numbers are modelled, and not ${number}`);
  return String(number);
}

type Fields = ReadonlyMap<string, string>;

/** Reads a key; of the wrong type it is empty. */
function peekHash(store: RedisKeys, key: string): Fields {
  try {
    return store.read(key, 'hash');
  } catch (error) {
    if (error instanceof ErrorReply) return new Map();
    throw error;
  }
}

/** Reads a key that will be written. One of the wrong type is deleted first, and noted. */
function read<T extends 'hash' | 'list' | 'zset'>(
  store: RedisKeys,
  key: string,
  type: T,
  replaced: string[] = [],
) {
  try {
    return store.read(key, type);
  } catch (error) {
    if (!(error instanceof ErrorReply)) throw error;
    store.delete(key);
    replaced.push(key);
    return store.read(key, type);
  }
}

function writeFields(store: RedisKeys, key: string, fields: Readonly<Record<string, number>>): void {
  store.change(key, 'hash', (hash) => {
    for (const [name, value] of Object.entries(fields)) hash.set(name, toText(value));
  });
}

function toCounts(fields: Fields): Counts {
  const [minuteStart = 0, minuteCount = 0, day = 0, dayCount = 0] = COUNTS.map((name) =>
    toNumber(fields.get(name)),
  );
  return { minuteStart, minuteCount, day, dayCount };
}

const COUNTS = ['minuteStart', 'minuteCount', 'day', 'dayCount'];

function toBan(fields: Fields) {
  return { until: toNumber(fields.get('until')), count: toNumber(fields.get('count')) };
}

function isNewer(one: Counts, other: Counts): boolean {
  return one.day > other.day || (one.day === other.day && one.dayCount > other.dayCount);
}

function charge({ keys, args, store, now }: ScriptCall): unknown {
  const at = { unix: now, monotonic: now };
  const [banAfter = 0, banTime = 0] = args.map(Number);
  const policy: BanPolicy = { banAfter, banSeconds: banTime / 1_000 };
  const replies: number[][] = [];
  const replaced: string[] = [];

  function chargeGroup(countsKey: string, refusalsKey: string, banKey: string, group: string): void {
    const [times = 0, perMinute = 0, perDay = 0, ...known] = group.split(' ').map(Number);
    const [minuteStart = 0, minuteCount = 0, day = 0, dayCount = 0] = known;
    const heard: Counts = { minuteStart, minuteCount, day, dayCount };
    const stored = toCounts(read(store, countsKey, 'hash', replaced));
    const newest = isNewer(correctCounts(heard, at), correctCounts(stored, at)) ? heard : stored;
    let isChanged = newest.minuteStart > now;
    // Nothing is admitted here: only windows that are over end.
    let { counts } = take(correctCounts(newest, at), NO_LIMITS, at);

    const isKey = banKey !== countsKey;
    let ban = { until: 0, count: 0 };
    const writeBan = (next: typeof ban) => {
      ban = next;
      writeFields(store, banKey, { until: ban.until, count: ban.count });
      store.expireAt(banKey, ban.until + DAY);
    };
    if (isKey) {
      ban = toBan(read(store, banKey, 'hash', replaced));
      const corrected = correctBan(ban, policy, at);
      if (corrected.until < ban.until) writeBan(corrected);
    }

    const reply = (number: number, decision: 0 | 1 | 2, refusals: number) => {
      const { minuteStart: start, minuteCount: minute, day: today, dayCount: count } = counts;
      replies.push([number, decision, now, start, minute, today, count, refusals, ban.until, ban.count]);
    };

    /** Counts one refusal, and gives how many count now. */
    const refuse = (): number => {
      read(store, refusalsKey, 'list', replaced);
      return store.change(refusalsKey, 'list', (list) => {
        // The clock of Redis may be set back, so what lies far ahead counts no more, either.
        while (list.length > 0 && Math.abs(now - toNumber(list[0])) >= MINUTE) list.shift();
        const last = ban.until > 0 ? ban : undefined;
        const record: BanRecord = { refusals: list.map(toNumber), ban: last };
        const begun = countRefusal(record, policy, at);
        list.push(toText(now));
        const refusals = list.length;
        if (begun !== undefined) {
          list.length = 0;
          writeBan(begun);
        }
        return refusals;
      });
    };

    let admitted = 0;
    for (let request = 0; request < times; request++) {
      if (banInForce({ ban }, at) !== undefined) {
        reply(1, 2, 0);
        continue;
      }
      const taken = take(counts, { perMinute, perDay }, at);
      if (taken.quota.admitted) {
        admitted++;
        isChanged = true;
        ({ counts } = taken);
        // One reply for all that are admitted, as of the last of them.
        if (admitted > 1) replies.pop();
        reply(admitted, 1, 0);
        continue;
      }
      const refusals = isKey ? refuse() : 0;
      if (isKey) store.expireAt(refusalsKey, now + MINUTE);
      reply(1, banInForce({ ban }, at) === undefined ? 0 : 2, refusals);
    }

    if (isChanged) {
      writeFields(store, countsKey, { ...counts });
      store.expireAt(countsKey, (counts.day + 1) * DAY + MINUTE);
    }
  }

  for (const [index, group] of args.slice(2).entries()) {
    const [countsKey = '', refusalsKey = '', banKey = ''] = keys.slice(index * 3, index * 3 + 3);
    chargeGroup(countsKey, refusalsKey, banKey, group);
  }
  return [replies, replaced];
}

function readCounts({ keys: [key = ''], store, now }: ScriptCall): unknown {
  const fields = peekHash(store, key);
  return [now, ...COUNTS.map((name) => toNumber(fields.get(name)))];
}

function readBans({ keys, store, now }: ScriptCall): unknown {
  const bans = keys.map((key) => toBan(peekHash(store, key)));
  return [now, ...bans.flatMap(({ until, count }) => [until, count])];
}

function restoreCounts({ keys: [key = ''], args, store }: ScriptCall): unknown {
  read(store, key, 'hash');
  const expiry = Math.max(Number(args[0]), store.expiryOf(key));
  for (let index = 1; index < args.length; index += 4) {
    const [instantName = '', instant, countName = '', count] = args.slice(index, index + 4);
    const restored = [Number(instant), Number(count)] as const;
    const fields = store.read(key, 'hash');
    const stored = [toNumber(fields.get(instantName)), toNumber(fields.get(countName))] as const;
    if (restored[0] > stored[0] || (restored[0] === stored[0] && restored[1] > stored[1]))
      writeFields(store, key, { [instantName]: restored[0], [countName]: restored[1] });
  }
  store.expireAt(key, expiry);
  return null;
}

function restoreBan({ keys: [key = ''], args, store }: ScriptCall): unknown {
  const [ending = 0, number = 0, began = 0] = args.map(Number);
  let [until, count] = [ending, number];
  const stored = toBan(read(store, key, 'hash'));
  if (began > 0) {
    const isNext = stored.until > 0 && stored.until <= began && began - stored.until < DAY;
    until = Math.max(until, stored.until);
    count = Math.max(count, stored.count + (isNext ? 1 : 0));
  } else if (stored.until > until || (stored.until === until && stored.count > count)) {
    ({ until, count } = stored);
  }
  writeFields(store, key, { until, count });
  store.expireAt(key, until + DAY);
  return null;
}

function liftBan({ keys: [key = ''], store }: ScriptCall): unknown {
  return store.delete(key) ? 1 : 0;
}

function heartbeat({ keys: [key = ''], args, store, now, runId }: ScriptCall): unknown {
  const [instance = '', milliseconds, informed] = args;
  read(store, key, 'zset');
  const count = store.change(key, 'zset', (instances) => {
    if (informed === runId) instances.set(`${instance} ${runId}`, now);
    for (const [name, seen] of instances) if (seen <= now - Number(milliseconds)) instances.delete(name);
    return [...instances.keys()].filter((name) => name.endsWith(runId)).length;
  });
  store.expireAt(key, now + Number(milliseconds));
  return [runId, count];
}

const MODELS: Readonly<Record<string, ScriptModel>> = {
  'bans.lua': readBans,
  'charge.lua': charge,
  'heartbeat.lua': heartbeat,
  'lift.lua': liftBan,
  'read.lua': readCounts,
  'restore-ban.lua': restoreBan,
  'restore.lua': restoreCounts,
};

/** The scripts of production in TypeScript, by their digest. */
export const SCRIPTS: ReadonlyMap<string, ScriptModel> = new Map(
  Object.entries(MODELS).map(([name, model]) => [loadScript(name).sha, model]),
);
