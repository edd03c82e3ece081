import { lifetimeOfFile } from '../support/lifetime.ts';
import { testRedis } from '../support/redis.ts';
import { startForFile } from '../support/test.ts';
import { banContract } from './ban-contract.ts';
import { quotaContract } from './quota-contract.ts';
import { freshLimiter } from './redis-fixture.ts';

const { url } = await startForFile(async () => ({ url: await testRedis(lifetimeOfFile()) }));

for (const contract of [quotaContract, banContract]) {
  contract('Redis', (t, policy) => freshLimiter(t, policy, [url]));
}
