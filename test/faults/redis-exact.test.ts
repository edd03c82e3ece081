// Contract: section 6.
import assert from 'node:assert/strict';
import type { Account } from '../../src/domain/account.ts';
import { each, keepAliveClient } from '../support/load.ts';
import { ask, temporaryRedis } from '../support/redis.ts';
import { startSharedCounting, Tally } from '../support/shared-counting.ts';
import { test } from '../support/test.ts';
import { findAccount } from '../support/store.ts';

/** Of each round, three times as many as are admitted. */
const REQUESTS = 1_500;

const LIMITS = { perMinute: 500, perDay: 100_000 };

test('50 clients over 3 services get exactly the 500 requests of their account', async (t) => {
  const redis = await temporaryRedis(t);
  const { services } = await startSharedCounting(t, 3, [redis.url], { limits: LIMITS });
  const [first] = services;
  assert.ok(first !== undefined);
  for (let round = 0; round < 10; round++) {
    const account = `round ${round}`;
    const key = await first.issueKey({ account, limits: LIMITS });
    const clients = services.map(({ url }) => keepAliveClient(url, key, 50));
    const tally = new Tally();
    await each([...Array(REQUESTS).keys()], 50, async (request) => {
      const client = clients[request % clients.length];
      if (client !== undefined) tally.note(await client.send('/v1/pets'));
    });
    for (const client of clients) client.close();
    assert.deepEqual([tally.admitted, tally.refused], [500, 1_000], `round ${round}`);
    // What was refused took nothing from the day.
    const owner: Account | undefined = await findAccount(first.store.accounts, account);
    const used: unknown = await ask(redis.url, [
      'HGET',
      `petstore:production:{account ${owner?.id}}:usage`,
      'dayCount',
    ]);
    assert.equal(used, '500');
  }
});
