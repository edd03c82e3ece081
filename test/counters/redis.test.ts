import { after } from 'node:test';
import { temporaryCluster, temporaryRedis } from '../support/redis.ts';
import { banContract } from './ban-contract.ts';
import { quotaCounterContract } from './quota-counter-contract.ts';
import { freshCounter } from './redis-fixture.ts';

const alone = await temporaryRedis({ after });
const cluster = await temporaryCluster({ after });

for (const contract of [quotaCounterContract, banContract]) {
  contract('Redis', (t, policy) => freshCounter(t, policy, [alone.url]));
  contract('a cluster of three', (t, policy) =>
    freshCounter(
      t,
      policy,
      cluster.map(({ url }) => url),
    ),
  );
}
