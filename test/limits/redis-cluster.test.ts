import assert from 'node:assert/strict';
import { Redis } from '../../src/limits/redis/redis.ts';
import { lifetimeOfFile } from '../support/lifetime.ts';
import { ask, temporaryCluster } from '../support/redis.ts';
import { startForFile, test } from '../support/test.ts';
import { banContract } from './ban-contract.ts';
import { quotaContract } from './quota-contract.ts';
import { freshLimiter } from './redis-fixture.ts';

const cluster = await startForFile(async () =>
  (await temporaryCluster(lifetimeOfFile())).map(({ url }) => url),
);

for (const contract of [quotaContract, banContract]) {
  contract('cluster', (t, policy) => freshLimiter(t, policy, cluster));
}

test('a cluster is refused when any of its servers evicts keys', async () => {
  const [url = '', , last = ''] = cluster;
  const set = async (memory: string, policy: string) => {
    await ask(last, ['CONFIG', 'SET', 'maxmemory', memory, 'maxmemory-policy', policy]);
  };
  await set('100mb', 'allkeys-lru');
  try {
    const message = `The Redis server ${new URL(last).host} evicts keys`;
    await assert.rejects(new Redis({ url }).open(), (error) => String(error).includes(message));
  } finally {
    await set('0', 'noeviction');
  }
});
