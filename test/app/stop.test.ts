// What a stop leaves to the next start. Contract: section 6.
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { test } from 'node:test';
import { MINUTE } from '../../src/domain/clock.ts';
import { repeatRounds } from '../../src/domain/rounds.ts';
import { startTestService, temporaryDatabase } from '../support/service.ts';

test('a stop leaves events that are too old to the next start', async (t) => {
  const databaseUrl = temporaryDatabase(t);
  const service = await startTestService(t, { databaseUrl });
  const db = new DatabaseSync(databaseUrl.slice('sqlite:'.length));
  t.after(() => db.close());
  const count = () => Number(db.prepare('SELECT count(*) AS count FROM events').get()?.['count']);
  db.exec(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
    INSERT INTO events (account_id, environment, type, at, data) SELECT 0, '', 'pet.created', i, '{}' FROM n`);
  await service.passTime(MINUTE);
  const before = count();
  while (count() === before) await nextTurn();
  await service.stop();
  assert.ok(count() > 0, 'the stop waited for the deletion');
});

test('rounds go on while there may be more, and end between two when they are aborted', async () => {
  const over = new AbortController();
  const run = async (last: number) => {
    let rounds = 0;
    await repeatRounds(async () => {
      rounds++;
      if (rounds === 3) over.abort();
      return rounds < last;
    }, over.signal);
    return rounds;
  };
  assert.equal(await run(2), 2);
  assert.equal(await run(10), 3);
  assert.equal(await run(10), 0);
});
