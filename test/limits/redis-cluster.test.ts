import { lifetimeOfFile } from '../support/lifetime.ts';
import { temporaryCluster } from '../support/redis.ts';
import { startForFile } from '../support/test.ts';
import { banContract } from './ban-contract.ts';
import { quotaContract } from './quota-contract.ts';
import { freshLimiter } from './redis-fixture.ts';

const cluster = await startForFile(async () =>
  (await temporaryCluster(lifetimeOfFile())).map(({ url }) => url),
);

for (const contract of [quotaContract, banContract]) {
  contract('cluster', (t, policy) => freshLimiter(t, policy, cluster));
}
