// Contract: section 2.7.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findBirthDateIssue, isOwnedBy, statusAfter, TRANSITIONS, transition } from './rules.ts';
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

test('an order gives its animal the status after it, and nothing else does', () => {
  assert.equal(statusAfter('order completed', 'pending', true), 'sold');
  for (const [event, status, hasOpenOrder] of [
    ['order made', 'sold', false],
    ['status patched', 'sold', false],
    ['deleted', 'sold', false],
  ] as const)
    assert.throws(() => statusAfter(event, status, hasOpenOrder), {
      message: `An animal that is sold has no transition for "${event}".`,
    });
  assert.throws(() => statusAfter('order made', undefined, false), {
    message: 'An animal that is without a status has no transition for "order made".',
  });
});

test('a change without an account may be about the animals of all', () => {
  const pet = { ownerId: 7 };
  assert.deepEqual([isOwnedBy(pet, 7), isOwnedBy(pet, 8), isOwnedBy(pet, undefined)], [true, false, true]);
});

test('an animal is born tomorrow in UTC at the latest', () => {
  const midnight = Date.parse('2027-01-15');
  assert.equal(findBirthDateIssue(undefined, midnight), undefined);
  assert.equal(findBirthDateIssue('2027-01-16', midnight), undefined);
  for (const [day, now] of [
    ['2027-01-16', midnight - 1],
    ['2027-01-17', midnight],
  ] as const)
    assert.equal(findBirthDateIssue(day, now), 'birthDate must not be after tomorrow in UTC.');
});
