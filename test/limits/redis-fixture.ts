import { hash } from 'node:crypto';
import type { TestContext } from 'node:test';
import type { BanPolicy } from '../../src/limits/ban.ts';
import { RedisLimiter } from '../../src/limits/redis/limiter.ts';
import { Redis, type Script } from '../../src/limits/redis/redis.ts';
import type { Clock } from '../../src/domain/clock.ts';
import { fakeClock } from '../support/clock.ts';
import { ask } from '../support/redis.ts';
import type { LimiterFixture } from './quota-contract.ts';

/** So far in the future that nothing expires by Redis' own clock during these tests. */
export const START = '2100-01-01T12:00:00Z';

/**
 * Redis with a clock that the test moves. The scripts are those of production, except that `now` (Unix milliseconds)
 * replaces the call that asks Redis for the time.
 */
export function onClock(redis: Redis, now: () => number): Redis {
  const rewrite = ({ source }: Script): Script => {
    const milliseconds = now();
    const time = `{ '${Math.floor(milliseconds / 1_000)}', '${(milliseconds % 1_000) * 1_000}' }`;
    const rewritten = source.replace("redis.call('TIME')", time);
    return { source: rewritten, sha: hash('sha1', rewritten, 'hex') };
  };
  const run = redis.run.bind(redis);
  redis.run = (script, keys, args) => run(rewrite(script), keys, args);
  return redis;
}

/** Connected until the test is over. */
export async function connected(t: TestContext, url: string): Promise<Redis> {
  const redis = new Redis({ url });
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
  const redis = onClock(await connected(t, urls[0] ?? ''), () => clock().unix);
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
