import { hash } from 'node:crypto';
import type { TestContext } from 'node:test';
import { ErrorReply } from '@redis/client';
import type { BanPolicy } from '../../src/limits/ban.ts';
import { RedisLimiter } from '../../src/limits/redis/limiter.ts';
import { type NewConnection, newSocketConnection } from '../../src/limits/redis/connection.ts';
import { Redis, type Script } from '../../src/limits/redis/redis.ts';
import type { Clock } from '../../src/domain/clock.ts';
import { fakeClock } from '../support/clock.ts';
import { ask } from '../support/redis.ts';
import type { LimiterFixture } from './quota-contract.ts';

/** So far in the future that nothing expires by Redis' own clock during these tests. */
export const START = '2100-01-01T12:00:00Z';

/**
 * Stands before a script. The last argument is the time, in whole Unix milliseconds. Keys expire by it, too: those that the
 * script is given.
 */
const CLOCK = `
local server, instant, redis = redis, tonumber(table.remove(ARGV)), {}
for _, key in ipairs(KEYS) do
  local expiry = server.call('PEXPIRETIME', key)
  if expiry >= 0 and expiry < instant then server.call('DEL', key) end
end
redis.pcall = server.pcall
function redis.call(command, key, ...)
  if command == 'TIME' then return { math.floor(instant / 1000), instant % 1000 * 1000 } end
  if string.sub(command, 1, 7) ~= 'PEXPIRE' or command == 'PEXPIRETIME' then return server.call(command, key, ...) end
  local expiry = tonumber((...)) + (command == 'PEXPIRE' and instant or 0)
  if expiry <= instant then return server.call('DEL', key) end
  return server.call('PEXPIREAT', key, expiry)
end
`;

/** The same script on the clock of a test. */
function clocked(source: string): Script {
  const whole = `${CLOCK}\n${source}`;
  return { source: whole, sha: hash('sha1', whole, 'hex') };
}

/** Connections over which scripts are those of production, except that `now` (Unix milliseconds) is the time of Redis. */
export function onClock(now: () => number): NewConnection {
  const digests = new Map<string, string>();
  return (address, onError) => {
    const connection = newSocketConnection(address, onError);
    return {
      ...connection,
      async send(command) {
        const [name, script = '', ...rest] = command;
        const time = String(Math.floor(now()));
        if (name === 'EVALSHA') {
          const sha = digests.get(script);
          if (sha === undefined) throw new ErrorReply('NOSCRIPT No matching script. Please use EVAL.');
          return connection.send([name, sha, ...rest, time]);
        }
        if (name !== 'EVAL') return connection.send(command);
        const { source, sha } = clocked(script);
        digests.set(hash('sha1', script, 'hex'), sha);
        return connection.send([name, source, ...rest, time]);
      },
    };
  };
}

/** Connected until the test is over. */
export async function connected(
  t: TestContext,
  url: string,
  newConnection: NewConnection = newSocketConnection,
): Promise<Redis> {
  const redis = new Redis({ url, newConnection });
  t.after(() => redis.close());
  // A busy machine may not connect in the time that production allows.
  for (let tries = 1; ; tries++)
    try {
      await redis.open();
      break;
    } catch (error) {
      if (tries === 60) throw error;
    }
  return redis;
}

/** A limiter on empty servers whose clock the test moves. */
export async function freshLimiter(
  t: TestContext,
  policy: BanPolicy,
  urls: readonly string[],
): Promise<LimiterFixture & { readonly redis: Redis }> {
  for (const url of urls) await ask(url, ['FLUSHALL']);
  const clock = fakeClock(START);
  const redis = await connected(
    t,
    urls[0] ?? '',
    onClock(() => clock().unix),
  );
  return { clock, limiter: newLimiter(redis, clock, policy), redis };
}

/** Milliseconds. More than a busy machine needs. */
const TIMEOUT = 10_000;

/** One instance's view of the counters in Redis. */
export function newLimiter(redis: Redis, clock: Clock, policy: BanPolicy): RedisLimiter {
  return new RedisLimiter({
    redis,
    clock,
    policy,
    environment: 'production',
    timeout: TIMEOUT,
    onReplaced: () => undefined,
    onBan: () => undefined,
    onLifted: () => undefined,
  });
}
