// Contract: all sections that can be seen from outside.
import assert from 'node:assert/strict';
import { checkService, listPromises } from '../support/checked-service.ts';
import { fakeClock } from '../support/clock.ts';
import { migratedPostgres } from '../support/migrated-postgres.ts';
import { stopDatabaseClock } from '../support/postgres-clock.ts';
import { startTestService, temporaryDatabase } from '../support/service.ts';
import { test } from '../support/test.ts';

const FREE = { perMinute: 60, perDay: 1_000 };

/** Of answers that no service gives which is well, and is asked slowly, and of a key without every scope. */
const NEVER_SHOWN = [
  '4.2 429 and 503 carry Retry-After',
  '5.2 an operation whose scope the key lacks is 403',
  '6.4 Retry-After of a 429 is the time until X-RateLimit-Reset',
];

for (const name of ['SQLite', 'PostgreSQL'])
  test(`${name}: the service keeps every promise, on the Free plan too, and nothing is left but orders and ended keys`, async (t) => {
    let stop = async () => {};
    // Before the database goes: what is registered first runs first.
    t.after(() => stop());
    const isSqlite = name === 'SQLite';
    const clock = fakeClock();
    const databaseUrl = isSqlite ? temporaryDatabase(t) : await migratedPostgres(t);
    const advance = isSqlite ? undefined : await stopDatabaseClock(databaseUrl, clock().unix);
    const service = await startTestService(t, { databaseUrl, clock });
    stop = () => service.stop();
    const key = await service.issueKey({ limits: FREE });
    const report = await checkService(service.url, key, clock, {
      wait: async (milliseconds) => {
        clock.advance(milliseconds);
        await advance?.(milliseconds);
      },
    });
    assert.deepEqual(
      report.outcomes.flatMap(({ findings }) => findings),
      [],
    );
    assert.deepEqual(listPromises(report, 'not checked'), NEVER_SHOWN);
    assert.equal(report.stopped, undefined);
    for (const path of report.left)
      assert.match(
        path,
        /^\/(?:store\/orders\/\d+ \((?:complete|cancelled)\)|account\/keys\/\d+ \(revoked\))$/,
      );
  });
