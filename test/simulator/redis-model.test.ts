// The model of Redis says what Redis says.
import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { parseRedisUrl } from '../../src/config/redis-url.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../../src/domain/clock.ts';
import { LIMIT_MAX } from '../../src/domain/plan.ts';
import { type Connection, newSocketConnection } from '../../src/limits/redis/connection.ts';
import { banKey, countsKey, refusalsKey } from '../../src/limits/redis/names.ts';
import { loadScript } from '../../src/limits/redis/redis.ts';
import { onClock, START } from '../limits/redis-fixture.ts';
import { lifetimeOfFile } from '../support/lifetime.ts';
import { temporaryRedis } from '../support/redis.ts';
import { rounds } from '../support/rounds.ts';
import { startForFile, test } from '../support/test.ts';
import { RedisModel } from './redis-model.ts';
import { linkRedis } from './redis-network.ts';

const server = await startForFile(() => temporaryRedis(lifetimeOfFile()));

/** Unix milliseconds. Nothing expires by the clock of the real server. */
const BEGIN = Date.parse(START);

const toKeys = (account: number, key: number) => {
  const name = `account ${account}`;
  return {
    counts: countsKey('production', name),
    refusals: refusalsKey('production', name, key),
    ban: banKey('production', name, key),
  };
};
const API_KEYS = [toKeys(1, 1), toKeys(1, 2), toKeys(2, 3)];
const ADDRESS = countsKey('production', 'address 192.0.2.1');
const CALLERS = [...API_KEYS, { counts: ADDRESS, refusals: ADDRESS, ban: ADDRESS }];
const BANS = API_KEYS.map(({ ban }) => ban);
const INSTANCES = 'petstore:production:{instances 0}';
const KEYS = [...new Set(CALLERS.flatMap(({ counts, refusals, ban }) => [counts, refusals, ban])), INSTANCES];

/** A command. `<now+5>` stands for an instant, `<day-1>` for a day, `<end+1>` for the expiry of the counts of a day. */
type Step = readonly string[] | { readonly pass: number } | { readonly midnight: number };

/** Milliseconds, at the ends of what the rule counts. */
const lengths = fc.constantFrom(
  0,
  1,
  999,
  2_999,
  3_000,
  50_000,
  59_999,
  60_000,
  60_001,
  HOUR,
  DAY,
  DAY + MINUTE,
);
const offsets = fc.oneof(
  lengths,
  lengths.map((length) => -length),
);
const instants = offsets.map((offset) => `<now${signed(offset)}>`);

/** Few, so that the ends and beginnings of bans meet. */
const banInstants = fc
  .constantFrom(0, 1, -1, 50_000, -50_000, DAY, -DAY)
  .map((offset) => `<now${signed(offset)}>`);

function signed(number: number): string {
  return number < 0 ? `${number}` : `+${number}`;
}

/** A script by its name, with its keys and arguments. */
function call(name: string, keys: readonly string[], args: readonly (string | number)[] = []): Step {
  return [name, String(keys.length), ...keys, ...args.map(String)];
}

const number = fc.oneof({ weight: 9, arbitrary: fc.nat(9) }, fc.constantFrom(LIMIT_MAX - 1, LIMIT_MAX));

/** Counts that an instance knows. */
const counts = fc
  .record({ start: instants, minute: number, day: fc.integer({ min: -2, max: 3 }), count: number })
  .map(({ start, minute, day, count }) => ({ start, minute, day: signed(day), count }));

const groups = fc.record({
  caller: fc.constantFrom(...CALLERS),
  rule: fc.tuple(
    fc.oneof({ weight: 9, arbitrary: fc.integer({ min: 1, max: 6 }) }, fc.constant(100)),
    fc.oneof(fc.nat(5), fc.nat(5), number),
    fc.constantFrom(0, 3, 8, LIMIT_MAX),
  ),
  known: fc.oneof(
    fc.constant('0 0 0 0'),
    counts.map(({ start, minute, day, count }) => `${start} ${minute} <day${day}> ${count}`),
  ),
});

const charge = fc
  .record({
    banAfter: fc.oneof({ weight: 9, arbitrary: fc.integer({ min: 1, max: 4 }) }, fc.constant(10_000)),
    banTime: fc.constantFrom(SECOND, 50_000, DAY),
    groups: fc.array(groups, { minLength: 1, maxLength: 3 }),
  })
  .map(({ banAfter, banTime, groups: all }) =>
    call(
      'charge.lua',
      all.flatMap(({ caller }) => [caller.counts, caller.refusals, caller.ban]),
      [banAfter, banTime, ...all.map(({ rule, known }) => `${rule.join(' ')} ${known}`)],
    ),
  );

const restore = fc
  .record({ caller: fc.constantFrom(...CALLERS), counts })
  .map(({ caller, counts: { start, minute, day, count } }) =>
    call(
      'restore.lua',
      [caller.counts],
      [`<end${day}>`, 'minuteStart', start, 'minuteCount', minute, 'day', `<day${day}>`, 'dayCount', count],
    ),
  );

const restoreBan = fc
  .record({
    ban: fc.constantFrom(...BANS),
    until: banInstants,
    // A double holds no power of two that is higher than the 1,023rd.
    count: fc.oneof({ weight: 4, arbitrary: fc.nat(4) }, fc.constantFrom(60, 1_024, 1_025, LIMIT_MAX)),
    began: fc.oneof(fc.constant('0'), banInstants, banInstants),
  })
  .map(({ ban, until, count, began }) => call('restore-ban.lua', [ban], [until, count, began]));

const heartbeat = fc
  .record({ instance: fc.constantFrom('a', 'b', 'c'), run: fc.constantFrom('<run>', '<run>', 'other', '') })
  .map(({ instance, run }) => call('heartbeat.lua', [INSTANCES], [instance, 3_000, run]));

const read = fc.oneof(
  fc.constantFrom(...CALLERS).map((caller) => call('read.lua', [caller.counts])),
  fc.subarray(BANS, { minLength: 1 }).map((bans) => call('bans.lua', bans)),
  fc.constantFrom(...BANS).map((ban) => call('lift.lua', [ban])),
  fc.constant(['SCAN', '0', 'MATCH', banKey('production', '*', '*'), 'COUNT', '1000']),
);

const key = fc.constantFrom(...KEYS);
const field = fc.constantFrom('minuteStart', 'minuteCount', 'day', 'dayCount', 'until', 'count', 'other');
const text = fc.constantFrom('', 'hello', '7', ' 8 ', '1e3', '.5e1', '1x');

/** What only others write. */
const foreign: fc.Arbitrary<Step> = fc.oneof(
  fc.tuple(fc.constant('SET'), key, text),
  fc.tuple(fc.constant('DEL'), key),
  fc.tuple(fc.constant('HSET'), key, field, text),
  fc.tuple(fc.constant('RPUSH'), key, fc.oneof(text, instants)),
  fc.tuple(fc.constant('ZADD'), key, instants, fc.constant('d other')),
  fc.tuple(
    fc.constant('PEXPIREAT'),
    key,
    lengths.map((length) => `<now+${length + 1}>`),
  ),
  fc.constant(['FLUSHALL']),
);

const passing: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ pass: lengths }) },
  // A clock that is set.
  { weight: 1, arbitrary: fc.record({ pass: offsets }) },
  { weight: 1, arbitrary: fc.record({ midnight: fc.integer({ min: -1, max: 1 }) }) },
);

/** Histories of all steps, and of few kinds of steps, so that these meet more often. */
const histories = fc.oneof(
  ...[
    [charge, charge, restore, restoreBan, heartbeat, read, foreign, passing],
    [charge, charge, passing],
    [charge, restoreBan, passing],
    [restoreBan, passing],
    [restore, charge, passing],
    [heartbeat, heartbeat, passing],
  ].map((kinds) => fc.array(fc.oneof(...kinds), { minLength: 1, maxLength: 40, size: 'max' })),
);

interface Scene {
  /** Unix milliseconds. */
  readonly now: number;
  readonly run: string;
}

/** A command as it is sent. */
function toCommand([name = '', ...rest]: readonly string[], { now, run }: Scene): readonly string[] {
  const day = Math.floor(now / DAY);
  const args = rest.map((each) =>
    each
      .replace('<run>', run)
      .replace(/<now([+-]\d+)>/, (_, offset) => String(now + Number(offset)))
      .replace(/<day([+-]\d+)>/, (_, offset) => String(day + Number(offset)))
      .replace(/<end([+-]\d+)>/, (_, offset) => String((day + Number(offset) + 1) * DAY + MINUTE)),
  );
  return name.endsWith('.lua') ? ['EVAL', loadScript(name).source, ...args] : [name, ...args];
}

/** All that a real server holds, as `RedisKeys.dump` gives it. */
const DUMP = `
local all = {}
for _, key in ipairs(KEYS) do
  local type = redis.call('TYPE', key).ok
  local read = { string = { 'GET' }, hash = { 'HGETALL' }, list = { 'LRANGE', 0, -1 }, zset = { 'ZRANGE', 0, -1, 'WITHSCORES' } }
  local command, from, to, scores = unpack(read[type] or {})
  if command ~= nil then
    local held = from == nil and redis.call(command, key)
      or scores == nil and redis.call(command, key, from, to)
      or scores ~= nil and redis.call(command, key, from, to, scores)
    all[#all + 1] = { key, type, redis.call('PEXPIRETIME', key), held }
  end
end
return all`;

async function dump(connection: Connection) {
  const reply = await connection.send(['EVAL', DUMP, String(KEYS.length), ...KEYS]);
  const dumped = reply as [name: string, type: string, expiry: number, held: string | string[]][];
  return dumped
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, type, expiry, held]) => {
      const texts = typeof held === 'string' ? [held] : held;
      return [name, type, expiry, type === 'hash' || type === 'zset' ? joinPairs(texts) : texts];
    });
}

function joinPairs(texts: readonly string[]): readonly string[] {
  const pairs = Array.from(
    { length: texts.length / 2 },
    (_, pair) => `${texts[2 * pair]}=${texts[2 * pair + 1]}`,
  );
  return pairs.toSorted();
}

/** What a command comes to: a reply, or the kind of an error. SCAN gives keys in any order. */
async function outcome(connection: Connection, command: readonly string[]): Promise<unknown> {
  try {
    const reply = await connection.send(command);
    if (command[0] !== 'SCAN') return { reply };
    const [cursor, keys] = reply as [string, string[]];
    return { cursor, keys: keys.toSorted() };
  } catch (error) {
    return { error: (error as Error).message.replace(/ .*/s, '') };
  }
}

test('the model answers each command as Redis does, and holds the same', async (t) => {
  const scene = { now: BEGIN, run: '' };
  const address = parseRedisUrl(server.url);
  const name = `${address.host}:${address.port}`;
  const real = onClock(() => scene.now)(address, assert.ifError);
  t.after(() => real.close());
  await real.connect();
  scene.run = /run_id:(\w+)/.exec(String(await real.send(['INFO'])))?.[1] ?? '';
  await fc.assert(
    fc.asyncProperty(histories, async (history) => {
      scene.now = BEGIN;
      const redis = new RedisModel({ servers: [name], now: () => scene.now, newRunId: () => scene.run });
      const model = linkRedis(redis).newConnection(address, assert.ifError);
      await Promise.all([model.connect(), real.send(['FLUSHALL'])]);
      for (const step of history) {
        if ('pass' in step) scene.now += step.pass;
        else if ('midnight' in step) scene.now = (Math.floor(scene.now / DAY) + 1) * DAY + step.midnight;
        else {
          const command = toCommand(step, scene);
          assert.deepEqual(await outcome(model, command), await outcome(real, command));
        }
        // Reads every key, so that those that have expired are gone from both, even if the clock is set back.
        assert.deepEqual(redis.server(name).keys.dump(), await dump(real));
      }
    }),
    { numRuns: rounds(1_000) },
  );
});

test('the model knows a script from its first use until a restart or SCRIPT FLUSH, as Redis does', async (t) => {
  const address = parseRedisUrl(server.url);
  const name = `${address.host}:${address.port}`;
  const real = newSocketConnection(address, assert.ifError);
  t.after(() => real.close());
  const redis = new RedisModel({ servers: [name], now: () => BEGIN, newRunId: () => 'run' });
  // Its connection is lost with the restart.
  const model = linkRedis(redis).newConnection(address, () => undefined);
  await Promise.all([real.connect(), model.connect()]);
  const { source, sha } = loadScript('lift.lua');
  const known = ['EVALSHA', sha, '1', INSTANCES];
  const commands = [
    ['FLUSHALL'],
    ['SCRIPT', 'FLUSH'],
    known,
    ['EVAL', source, '1', INSTANCES],
    known,
    ['SCRIPT', 'FLUSH'],
    known,
  ];
  for (const command of commands) {
    const [answer, expected] = await Promise.all(
      [model, real].map((connection) => connection.send(command).catch((error: Error) => error.message)),
    );
    assert.equal(answer, expected);
  }
  await model.send(['EVAL', source, '1', INSTANCES]);
  redis.server(name).restart({ withData: true });
  const next = linkRedis(redis).newConnection(address, assert.ifError);
  await next.connect();
  await assert.rejects(next.send(known), /^Error: NOSCRIPT /);
});
