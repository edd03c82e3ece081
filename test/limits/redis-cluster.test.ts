import { after } from 'node:test';
import { temporaryCluster } from '../support/redis.ts';
import { banContract } from './ban-contract.ts';
import { quotaCounterContract } from './quota-counter-contract.ts';
import { freshCounter } from './redis-fixture.ts';

const cluster = (await temporaryCluster({ after })).map(({ url }) => url);

for (const contract of [quotaCounterContract, banContract]) {
  contract('a cluster of three', (t, policy) => freshCounter(t, policy, cluster));
}
