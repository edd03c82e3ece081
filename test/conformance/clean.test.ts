// Contract: all sections that can be seen from outside.
import assert from 'node:assert/strict';
import { checkService, promisesOf } from '../support/checked-service.ts';
import { migratedPostgres } from '../support/migrated-postgres.ts';
import { startTestService, temporaryDatabase } from '../support/service.ts';
import { test } from '../support/test.ts';

const FREE = { perMinute: 60, perDay: 1_000 };

/** Of answers that no service gives which is well, and is asked slowly. */
const NEVER_SHOWN = [
  '4.2 429 and 503 carry Retry-After',
  '6.4 Retry-After of a 429 is the time until X-RateLimit-Reset',
];

for (const [name, open] of Object.entries({ SQLite: temporaryDatabase, PostgreSQL: migratedPostgres }))
  test(`${name}: the service keeps every promise, on the Free plan too, and nothing is left but orders`, async (t) => {
    let stop = async () => {};
    // Before the database goes: what is registered first runs first.
    t.after(() => stop());
    const service = await startTestService(t, { databaseUrl: await open(t) });
    stop = () => service.stop();
    const key = await service.issueKey({ limits: FREE });
    const report = await checkService(service.url, key, service.clock);
    assert.deepEqual(
      report.outcomes.flatMap(({ findings }) => findings),
      [],
    );
    assert.deepEqual(promisesOf(report, 'not checked'), NEVER_SHOWN);
    assert.equal(report.stopped, undefined);
    for (const path of report.left) assert.match(path, /^\/store\/orders\/\d+ \((?:complete|cancelled)\)$/);
  });
