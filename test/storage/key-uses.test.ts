// Contract: section 8.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type KeyUse, KeyUses } from '../../src/storage/key-uses.ts';
import { fakeClock, unixMilliseconds } from '../support/clock.ts';

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
  const noteAll = () => {
    for (const keyId of keyIds) uses.note(keyId, unixMilliseconds(clock));
  };
  clock.advance(5);
  const first = unixMilliseconds(clock);
  noteAll();
  whileWriting = () => {
    if (written.length === 0) return;
    clock.advance(1);
    for (const keyId of keyIds.slice(0, 500)) uses.note(keyId, unixMilliseconds(clock));
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
    if (written.length === 1) uses.note(1, unixMilliseconds(clock));
  });
  const first = unixMilliseconds(clock);
  uses.note(1, first);
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
  for (const keyId of keyIds) uses.note(keyId, unixMilliseconds(clock));
  await uses.flush();
  written.splice(0);
  clock.advance(60_000);
  const again = unixMilliseconds(clock);
  for (const keyId of keyIds.slice(500)) uses.note(keyId, again);
  const flush = uses.flush();
  // The first of them is forgotten by now, the last one has yet to wake.
  clock.advance(1);
  for (const keyId of [1, 999]) uses.note(keyId, unixMilliseconds(clock));
  await flush;
  assert.deepEqual(
    written.toSorted(([one], [other]) => one - other),
    [1, ...keyIds.slice(500)].map((keyId) => [keyId, keyId === 1 || keyId === 999 ? again + 1 : again]),
  );
});
