import { lifetimeOfFile } from '../support/lifetime.ts';
import { testRedis } from '../support/redis.ts';
import { startForFile } from '../support/test.ts';
import { banContract } from './ban-contract.ts';
import { quotaCounterContract } from './quota-counter-contract.ts';
import { freshCounter } from './redis-fixture.ts';

const { url } = await startForFile(async () => ({ url: await testRedis(lifetimeOfFile()) }));

for (const contract of [quotaCounterContract, banContract]) {
  contract('Redis', (t, policy) => freshCounter(t, policy, [url]));
}
