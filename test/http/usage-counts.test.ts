// Contract: section 6.9.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HOUR, type UsageBatch } from '../../src/domain/usage.ts';
import { UsageCounts } from '../../src/http/usage-counts.ts';

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
  for (const status of [200, 304, 404, 429, 503]) usage.note(7, 0, status, NOON);
  usage.note(7, 1, 201, NOON + HOUR);
  usage.note(9_000_000_000, -1, 404, NOON + HOUR);
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
  usage.note(7, 0, 200, NOON);
  await assert.rejects(usage.flush());
  usage.note(7, 0, 200, NOON);
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
    usage.note(7, 0, 200, NOON);
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
  usage.note(7, 0, 200, NOON);
  usage.note(7, 0, 200, NOON + HOUR);
  usage.note(7, 0, 200, NOON);
  await usage.flush();
  const hour = Math.floor(NOON / HOUR);
  assert.deepEqual(
    batches.map(({ counts }) => counts.map(({ hour: its, counts: [ok] }) => [its, ok])),
    [[[hour, 2]], [[hour + 1, 1]]],
  );
});

test('a thousand counts are written at once, and each counts once', async () => {
  const { usage, batches } = counting();
  for (let keyId = 1; keyId <= 2_500; keyId++) usage.note(keyId, 1, 201, NOON);
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
