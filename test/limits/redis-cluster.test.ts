import { lifetimeOfFile } from '../support/lifetime.ts';
import { temporaryCluster } from '../support/redis.ts';
import { startForFile } from '../support/test.ts';
import { banContract } from './ban-contract.ts';
import { quotaCounterContract } from './quota-counter-contract.ts';
import { freshCounter } from './redis-fixture.ts';

const cluster = await startForFile(async () =>
  (await temporaryCluster(lifetimeOfFile())).map(({ url }) => url),
);

for (const contract of [quotaCounterContract, banContract]) {
  contract('cluster', (t, policy) => freshCounter(t, policy, cluster));
}
