// Contract: sections 6.7 and 6.10.
import assert from 'node:assert/strict';
import { test } from '../support/test.ts';
import { HOLDER_LIMITS } from '../../src/domain/plan.ts';
import { callerName } from '../../src/limits/limiter.ts';
import { assertError } from '../support/api.ts';
import { fakeClock } from '../support/clock.ts';
import { lifetimeOfFile } from '../support/lifetime.ts';
import { migratedPostgres } from '../support/migrated-postgres.ts';
import { startTestService, temporaryDatabase } from '../support/service.ts';
import { holderContract } from './holder-contract.ts';
import { senderOf } from './keys-contract.ts';

/** They outlive the services of each test. */
const file = lifetimeOfFile();
const DATABASES: Readonly<Record<string, () => Promise<string>>> = {
  SQLite: async () => temporaryDatabase(file),
  PostgreSQL: () => migratedPostgres(file),
};

holderContract('SQLite', startTestService);

for (const [name, newDatabase] of Object.entries(DATABASES)) {
  test(`${name}: a restart keeps the holder's windows exactly`, async (t) => {
    const databaseUrl = await newDatabase();
    const clock = fakeClock();
    const before = await startTestService(t, { databaseUrl, clock });
    const key = await before.issueKey();
    for (let count = 0; count < 45; count++) await senderOf(before, key)('/account/keys');
    await before.stop();
    clock.advance(20_000);
    const after = await startTestService(t, { databaseUrl, clock });
    const send = senderOf(after, key);
    const { headers } = await send('/account/keys');
    assert.equal(headers.get('ratelimit'), '"minute";r=14;t=40, "day";r=4954;t=43180');
    for (let count = 0; count < 14; count++) await send('/account/keys');
    const refused = await send('/account/keys');
    assertError(refused, 'rate_limit_exceeded');
    assert.equal(refused.headers.get('retry-after'), '40');
    assert.equal((await send('/pets')).status, 200);
  });

  test(`${name}: a used-up day of the holder ends at midnight UTC`, async (t) => {
    const service = await startTestService(t, { databaseUrl: await newDatabase() });
    const send = senderOf(service, await service.issueKey());
    const day = Math.floor(service.clock().unix / 86_400_000);
    const counts = { minuteStart: 0, minuteCount: 0, day, dayCount: HOLDER_LIMITS.perDay - 1 };
    await service.store.limits.writeCounts(
      new Map([[callerName({ kind: 'holder', accountId: 1, limits: HOLDER_LIMITS }), counts]]),
    );
    assert.equal((await send('/account')).status, 200);
    const refused = await send('/account');
    assertError(refused, 'daily_limit_exceeded');
    // Tests begin at noon.
    assert.equal(refused.headers.get('retry-after'), '43200');
    assert.equal((await send('/pets')).status, 200);
    service.clock.advance(43_200_000);
    assert.equal((await send('/account')).status, 200);
  });
}
