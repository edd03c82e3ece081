// Contract: sections 6.9 and 8.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type UsageBatch } from '../../domain/usage.ts';
import { HOUR } from '../../domain/clock.ts';
import { type KeyUse, KeyUses, UsageCounts } from '../../observability/key-usage.ts';
import { fakeClock, unixMilliseconds } from '../../../test/support/clock.ts';

test('uses that could not be written stay due, the written ones wait a minute', async () => {
  const clock = fakeClock();
  const written: KeyUse[] = [];
  let whileWriting = () => {};
  let failing = true;
  const uses = new KeyUses(clock, async (portion) => {
    whileWriting();
    if (failing && written.length > 0) throw new Error('disk full');
    written.push(...portion);
  });
  const keyIds = Array.from({ length: 1_000 }, (_, index) => index + 1);
  const recordAll = () => {
    for (const keyId of keyIds) uses.record(keyId, unixMilliseconds(clock));
  };
  clock.advance(5);
  const first = unixMilliseconds(clock);
  recordAll();
  whileWriting = () => {
    if (written.length === 0) return;
    clock.advance(1);
    for (const keyId of keyIds.slice(0, 500)) uses.record(keyId, unixMilliseconds(clock));
  };
  await assert.rejects(uses.flush(), /disk full/);
  assert.ok(written.length > 0 && written.length < 500);
  const early = written.splice(0);
  assert.deepEqual(new Set(early.map(([, at]) => at)), new Set([first]));

  whileWriting = () => {};
  failing = false;
  await uses.flush();
  const late = keyIds.slice(early.length).map((keyId) => [keyId, keyId <= 500 ? first + 1 : first]);
  assert.deepEqual(
    written.splice(0).toSorted(([one], [other]) => one - other),
    late,
  );

  clock.advance(60_000);
  await uses.flush();
  assert.deepEqual(
    written,
    early.map(([keyId]) => [keyId, first + 1]),
  );
});

test('a key that is used during the write of its use is written a minute later', async () => {
  const clock = fakeClock();
  const written: KeyUse[] = [];
  const uses = new KeyUses(clock, async (portion) => {
    written.push(...portion);
    clock.advance(1);
    if (written.length === 1) uses.record(1, unixMilliseconds(clock));
  });
  const first = unixMilliseconds(clock);
  uses.record(1, first);
  await uses.flush();
  clock.advance(60_000);
  await uses.flush();
  assert.deepEqual(written, [
    [1, first],
    [1, first + 1],
  ]);
});

test('a key that is used during a flush is written once, with its last use', async () => {
  const clock = fakeClock();
  const written: KeyUse[] = [];
  const uses = new KeyUses(clock, async (portion) => void written.push(...portion));
  const keyIds = Array.from({ length: 1_000 }, (_, index) => index + 1);
  for (const keyId of keyIds) uses.record(keyId, unixMilliseconds(clock));
  await uses.flush();
  written.splice(0);
  clock.advance(60_000);
  const again = unixMilliseconds(clock);
  for (const keyId of keyIds.slice(500)) uses.record(keyId, again);
  const flush = uses.flush();
  // The first of them is forgotten by now, the last one has yet to wake.
  clock.advance(1);
  for (const keyId of [1, 999]) uses.record(keyId, unixMilliseconds(clock));
  await flush;
  assert.deepEqual(
    written.toSorted(([one], [other]) => one - other),
    [1, ...keyIds.slice(500)].map((keyId) => [keyId, keyId === 1 || keyId === 999 ? again + 1 : again]),
  );
});

const NOON = 1_795_000_000_000;

function counting(fail: (batch: UsageBatch) => boolean = () => false) {
  const batches: UsageBatch[] = [];
  const add = async (batch: UsageBatch) => {
    batches.push(batch);
    if (fail(batch)) throw new Error('The answer is lost.');
  };
  return { batches, usage: new UsageCounts({ add }, 'one', ['listPets', 'createPet']) };
}

test('requests are counted by hour, key, operation and outcome', async () => {
  const { usage, batches } = counting();
  for (const status of [200, 304, 404, 429, 503]) usage.record(7, 0, status, NOON);
  usage.record(7, 1, 201, NOON + HOUR);
  usage.record(9_000_000_000, -1, 404, NOON + HOUR);
  await usage.flush();
  const hour = Math.floor(NOON / HOUR);
  assert.deepEqual(
    batches.flatMap(({ counts }) => counts),
    [
      { hour, keyId: 7, operation: 'listPets', counts: [2, 0, 0, 0] },
      { hour, keyId: 7, operation: 'listPets', counts: [0, 1, 0, 0] },
      { hour, keyId: 7, operation: 'listPets', counts: [0, 0, 1, 0] },
      { hour, keyId: 7, operation: 'listPets', counts: [0, 0, 0, 1] },
      { hour: hour + 1, keyId: 7, operation: 'createPet', counts: [1, 0, 0, 0] },
      { hour: hour + 1, keyId: 9_000_000_000, operation: 'other', counts: [0, 1, 0, 0] },
    ],
  );
});

test('a batch whose answer is lost is written again under its number', async () => {
  let lost = true;
  const { usage, batches } = counting(() => lost);
  usage.record(7, 0, 200, NOON);
  await assert.rejects(usage.flush());
  usage.record(7, 0, 200, NOON);
  lost = false;
  await usage.flush();
  assert.deepEqual(
    batches.map(({ sequence, counts }) => [sequence, counts[0]?.counts[0]]),
    [
      [1, 1],
      [1, 1],
      [2, 1],
    ],
  );
});

test('while the database is down, the counts of an hour stay together', async () => {
  let down = true;
  const { usage, batches } = counting(() => down);
  for (let failed = 0; failed < 5; failed++) {
    usage.record(7, 0, 200, NOON);
    await assert.rejects(usage.flush());
  }
  down = false;
  await usage.flush();
  assert.deepEqual(
    batches.slice(-2).map(({ sequence, counts }) => [sequence, counts.length, counts[0]?.counts[0]]),
    [
      [1, 1, 1],
      [2, 1, 4],
    ],
  );
});

test('a request that began in the hour before is counted there', async () => {
  const { usage, batches } = counting();
  usage.record(7, 0, 200, NOON);
  usage.record(7, 0, 200, NOON + HOUR);
  usage.record(7, 0, 200, NOON);
  await usage.flush();
  const hour = Math.floor(NOON / HOUR);
  assert.deepEqual(
    batches.map(({ counts }) => counts.map(({ hour: its, counts: [ok] }) => [its, ok])),
    [[[hour, 2]], [[hour + 1, 1]]],
  );
});

test('a thousand counts are written at once, and each counts once', async () => {
  const { usage, batches } = counting();
  for (let keyId = 1; keyId <= 2_500; keyId++) usage.record(keyId, 1, 201, NOON);
  await usage.flush();
  assert.deepEqual(
    batches.map(({ counts }) => counts.length),
    [1_000, 1_000, 500],
  );
  const ids = batches.flatMap(({ counts }) => counts.map(({ keyId }) => keyId));
  assert.equal(new Set(ids).size, 2_500);
});

test('a flush with nothing to write writes nothing', async () => {
  const { usage, batches } = counting();
  await usage.flush();
  assert.deepEqual(batches, []);
});
