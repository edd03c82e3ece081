import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MINUTE, SECOND } from '../../src/domain/clock.ts';
import { Outages } from '../../src/observability/outages.ts';

test('an outage begins once, however long it lasts and however many meet it', () => {
  const outages = new Outages();
  const begun: number[] = [];
  for (let now = 0; now < 10 * MINUTE; now += SECOND)
    for (const port of [5432, 5433])
      if (outages.begins(`connect ECONNREFUSED 127.0.0.1:${port}`, now)) begun.push(now);
  assert.deepEqual(begun, [0]);
  assert.equal(outages.begins('disk is full', 10 * MINUTE), true);
  assert.equal(outages.begins('connect ECONNREFUSED 127.0.0.1:5432', 10 * MINUTE), false);
  // For a minute, nobody has met it.
  assert.equal(outages.begins('connect ECONNREFUSED 127.0.0.1:5432', 11 * MINUTE), true);
});

test('reasons that never come again take no memory', () => {
  const outages = new Outages();
  const nameOf = (index: number) =>
    Array.from(String(index), (digit) => 'abcdefghij'[Number(digit)]).join('');
  for (let index = 0; index < 100_000; index++) assert.ok(outages.begins(nameOf(index), 0));
  assert.equal(outages.begins(nameOf(99_999), 0), false);
  assert.equal(outages.begins(nameOf(0), 0), true);
});
