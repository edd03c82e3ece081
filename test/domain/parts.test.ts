import assert from 'node:assert/strict';
import { test } from 'node:test';
import { doAtOnce, doInTurns, mapInParts } from '../../src/domain/parts.ts';
import { repeatRounds } from '../../src/domain/rounds.ts';

const double = () => mapInParts([1, 2, 3], (value) => value * 2);

test('parts are done at once, or one in each turn of the event loop', async () => {
  assert.deepEqual(doAtOnce(double()), [2, 4, 6]);
  const done = doInTurns(double());
  const passed: number[] = [];
  for (const turn of [1, 2, 3]) setImmediate(() => passed.push(turn));
  assert.deepEqual(await done, [2, 4, 6]);
  assert.ok(passed.length > 0, 'others ran in between');
});

test('rounds repeat until one is the last, or until they are aborted', async () => {
  let rounds = 0;
  await repeatRounds(async () => ++rounds < 3);
  assert.equal(rounds, 3);
  const abort = new AbortController();
  const round = async () => {
    if (++rounds === 5) abort.abort();
    return rounds < 9;
  };
  await repeatRounds(round, abort.signal);
  assert.equal(rounds, 5);
  await repeatRounds(round, abort.signal);
  assert.equal(rounds, 5, 'none after it');
});
