import { after } from 'node:test';
import { testRedis } from '../support/redis.ts';
import { banContract } from './ban-contract.ts';
import { quotaCounterContract } from './quota-counter-contract.ts';
import { freshCounter } from './redis-fixture.ts';

const url = await testRedis({ after });

for (const contract of [quotaCounterContract, banContract]) {
  contract('Redis', (t, policy) => freshCounter(t, policy, [url]));
}
