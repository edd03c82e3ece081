// Contract: section 10.2.
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { assertError } from '../../../test/support/api.ts';
import { adminOf, startTestConsole } from '../../../test/support/console.ts';
import { temporaryDatabase } from '../../../test/support/service.ts';

test('an error of the database that is no outage is 500, and its cause is in the log', async (t) => {
  const databaseUrl = temporaryDatabase(t);
  const { its, ask } = await adminOf(await startTestConsole(t, { databaseUrl }));
  const db = new DatabaseSync(databaseUrl.slice('sqlite:'.length));
  // The service's own statement cannot run, as with too many variables.
  db.exec('ALTER TABLE standings RENAME TO elsewhere');
  for (const path of ['/bans', '/overview']) assertError(await ask(path), 'internal_error');
  db.exec('ALTER TABLE elsewhere RENAME TO standings');
  db.close();
  const faults = its.log.filter(({ msg }) => msg === 'internal error');
  assert.equal(faults.length, 2);
  for (const { err } of faults) assert.match((err as Error).message, /no such table/);
});
