// Contract: section 13. What one turn of the event loop does, however many wait or events there are.
import assert from 'node:assert/strict';
import { Socket } from 'node:net';
import { requireValue, REX } from '../../../test/storage/fixture.ts';
import { sqliteFixture } from '../../../test/storage/sqlite-fixture.ts';
import { CLIENT } from '../../../test/support/store.ts';
import { test } from '../../../test/support/test.ts';
import { watchTurns } from '../../../test/support/turns.ts';
import { SCOPES } from '../../domain/scope.ts';
import { Feed } from './feed.ts';
import type { EventQuery } from './repository.ts';
import { visibleStreams } from './rules.ts';

test('one event wakes 1,000 readers 50 a turn, and those of equal streams share their read', async (t) => {
  const { store } = await sqliteFixture(t);
  const reads: EventQuery[] = [];
  const list = (query: EventQuery) => {
    reads.push(query);
    return store.events.list(query);
  };
  const feed = new Feed({ ...store.events, list });
  await feed.look();
  const { last: after } = await store.events.findBounds();
  let woken = 0;
  const readers = Array.from({ length: 1_000 }, async (_, index) => {
    const accountId = 1 + (index % 100);
    const streams = visibleStreams({ accountId, environment: 'production', scopes: SCOPES }, ['pet.*']);
    assert.ok(await feed.wait({ accountId, streams, after }, 60_000, new Socket()));
    woken++;
    return feed.listForWoken({ streams, after, limit: 100 });
  });
  requireValue(await store.pets.create(CLIENT, REX));
  const counts = [0];
  await watchTurns(feed.look(), () => counts.push(woken));
  for (const page of await Promise.all(readers)) assert.equal(page.items.length, 1);
  const most = Math.max(...counts.slice(1).map((count, index) => count - (counts[index] ?? 0)));
  assert.ok(most > 0 && most <= 50, `${most}`);
  assert.equal(reads.length, 1);
  // Afterwards each reader reads for itself again.
  const streams = visibleStreams({ accountId: 1, environment: 'production', scopes: SCOPES }, ['pet.*']);
  await feed.listForWoken({ streams, after, limit: 100 });
  assert.equal(reads.length, 2);
});

test('a place just after a large import is found in rounds', async (t) => {
  const { store, raw, clock } = await sqliteFixture(t);
  const { events } = store;
  const imported = Math.floor(clock().unix);
  const count = 30_000;
  raw().exec(`INSERT INTO events (key, account_id, environment, type, at, version, data)
    WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count})
    SELECT 'event ' || n, 0, '', 'pet.created', ${imported}, 1, '{}' FROM numbers`);
  let place: bigint | undefined;
  const turns = await watchTurns(events.findPlace(imported + 1).then((found) => (place = found)));
  assert.equal(place, BigInt(count));
  assert.ok(turns >= count / 5_000, `${turns}`);
  assert.equal(await events.findPlace(imported), 0n);
});
