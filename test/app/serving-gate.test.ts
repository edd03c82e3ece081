// When a service admits requests (docs/design/sqlite.md and docs/design/postgres.md). Contract: section 1.4.
import assert from 'node:assert/strict';
import { renameSync } from 'node:fs';
import type { TestContext } from 'node:test';
import { pino } from 'pino';
import { ServingGate } from '../../src/app/serving-gate.ts';
import type { Store } from '../../src/resources/repositories.ts';
import { postgresFixture } from '../storage/postgres-fixture.ts';
import { sqliteFixture } from '../storage/sqlite-fixture.ts';
import { test } from '../support/test.ts';

const REFUSED = 'requests are refused with 503 for now';
const AGAIN = 'requests are answered again';

function gateOf(store: Store, reload = async () => {}) {
  const messages: string[] = [];
  const write = (line: string) => void messages.push((JSON.parse(line) as { msg: string }).msg);
  const state = { isOpen: true };
  return { gate: new ServingGate({ store, state, reload, log: pino({}, { write }) }), state, messages };
}

/** A gate over a SQLite file that can be moved away and back. */
async function sqliteGate(t: TestContext) {
  const { store, file } = await sqliteFixture(t);
  await store.lockForServing('production');
  return {
    ...gateOf(store),
    moveAway: () => renameSync(file, `${file}.moved`),
    moveBack: () => renameSync(`${file}.moved`, file),
  };
}

test('each outage of the store is logged once, and so is its end', async (t) => {
  const { gate, state, messages, moveAway, moveBack } = await sqliteGate(t);
  for (let outage = 1; outage <= 2; outage++) {
    moveAway();
    for (let check = 0; check < 3; check++) await gate.check();
    assert.equal(state.isOpen, false);
    moveBack();
    for (let check = 0; check < 3; check++) await gate.check();
    assert.equal(state.isOpen, true);
  }
  assert.deepEqual(messages, [REFUSED, AGAIN, REFUSED, AGAIN]);
});

test('a store that is lost during a check closes the gate', async (t) => {
  const { gate, state, moveAway } = await sqliteGate(t);
  const checked = gate.check();
  moveAway();
  void gate.check();
  await checked;
  assert.equal(state.isOpen, false);
});

test('a gate does not open when the store may be lost again', async (t) => {
  const { gate, messages, moveAway, moveBack } = await sqliteGate(t);
  moveAway();
  await gate.check();
  moveBack();
  const checked = gate.check();
  moveAway();
  void gate.check();
  await checked;
  assert.deepEqual(messages, [REFUSED]);
});

test('counts are read again once after the lock was lost, and again if that fails', async (t) => {
  const { store, raw } = await postgresFixture(t);
  await store.lockForServing('production');
  const reloads: number[] = [];
  const { gate, state } = gateOf(store, async () => {
    if (reloads.push(reloads.length) === 1) throw new Error('the database does not answer');
  });
  await raw(`SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`);
  // The first check that finds the lock retaken reads the counts in vain.
  while (reloads.length === 0) await gate.check();
  assert.equal(state.isOpen, false);
  for (let check = 0; check < 3; check++) await gate.check();
  assert.equal(state.isOpen, true);
  assert.equal(reloads.length, 2);
});

test('a gate ends only when its running check is over', async (t) => {
  const { gate } = await sqliteGate(t);
  let isOver = false;
  const checked = gate.check().then(() => (isOver = true));
  await gate.end();
  assert.equal(isOver, true);
  await checked;
});
