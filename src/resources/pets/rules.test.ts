// Contract: section 2.7.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TRANSITIONS, transition } from './rules.ts';
import { PetStatus } from './schema.ts';

const STATUSES = [...PetStatus.options, undefined];
const EVENTS = [...new Set(TRANSITIONS.map(({ event }) => event))];

/** All that may happen: event, status before, whether an order is open, and what follows. */
const ALLOWED = [
  ['order made', 'available', false, 'pending'],
  ['order completed', 'pending', true, 'sold'],
  ['order cancelled', 'pending', true, 'available'],
  ['order expired', 'pending', true, 'available'],
  ...STATUSES.map((status) => ['status patched', status, false, 'any']),
  ...STATUSES.map((status) => ['deleted', status, false, 'gone']),
];

test('an animal changes as the contract says, and in no other way', () => {
  const found = EVENTS.flatMap((event) =>
    STATUSES.flatMap((status) =>
      [false, true].flatMap((hasOpenOrder) => {
        const to = transition(event, status, hasOpenOrder)?.to;
        return to === undefined ? [] : [[event, status, hasOpenOrder, to]];
      }),
    ),
  );
  assert.deepEqual(found, ALLOWED);
});

test('no state has two transitions for one event', () => {
  const places = TRANSITIONS.map(({ event, from, hasOpenOrder }) => `${event} ${from} ${hasOpenOrder}`);
  assert.equal(new Set(places).size, places.length);
});
