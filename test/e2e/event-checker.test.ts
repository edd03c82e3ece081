// Contract: section 13.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Change, type EventHistory, findFaults, type ReadEvent } from '../support/event-checker.ts';

const rex = { id: 1, name: 'Rex', categoryId: 7, status: 'available' };
const order = { id: 11, petId: 1, status: 'pending' };
const key = { id: 21, label: 'web' };

function change(type: string, data: Change['data'], version?: number): Change {
  const isOfAccount = type.startsWith('order.') || type.startsWith('key.');
  return { type, accountId: isOfAccount ? 3 : 0, version, data };
}

const CREATED = change('pet.created', rex, 1);
const ORDERED = change('order.created', order, 1);
const HELD = change('pet.updated', { ...rex, status: 'pending' }, 2);
const EXPIRED = change('order.expired', { ...order, status: 'expired' }, 2);
const RELEASED = change('pet.updated', rex, 3);
const RENAMED = change('pet.updated', { ...rex, name: 'Rexi' }, 4);
const DELETED = change('pet.deleted', { ...rex, name: 'Rexi' }, 5);
const MADE = change('key.created', key);
const REVOKED = change('key.revoked', key);

const CHANGES = [CREATED, MADE, ORDERED, HELD, EXPIRED, RELEASED, RENAMED, DELETED, REVOKED];

/** The event of a change, with a field that the database does not note. */
function tell({ type, version, data }: Change): ReadEvent {
  return {
    id: `${type} ${data.id} ${version ?? ''}`,
    type,
    ...(version !== undefined && { version }),
    data: { ...data, createdAt: 'today' },
  };
}

const EVENTS = CHANGES.map(tell);

/** Two followers, of which the second one got these events, and the writes of the changes one after the other. */
function history(events: readonly ReadEvent[], others: Partial<EventHistory> = {}): EventHistory {
  const sees = () => true;
  const followers = [
    { name: 'first', sees, events: EVENTS },
    { name: 'second', sees, events },
  ];
  return { changes: CHANGES, writes: [], followers, ...others };
}

function without(...dropped: readonly Change[]): readonly ReadEvent[] {
  return CHANGES.filter((one) => !dropped.includes(one)).map(tell);
}

/** All events, with these two at each other's places. */
function swap(one: Change, other: Change): readonly ReadEvent[] {
  return CHANGES.map((each) => tell(each === one ? other : each === other ? one : each));
}

const inTurn = [
  { event: 'pet.created Rex', began: 0, ended: 1 },
  { event: 'key.created web', began: 2, ended: 3 },
  { event: 'order.created 11', began: 4, ended: 5 },
  { event: 'pet.updated Rexi', began: 6, ended: 7 },
  { event: 'pet.deleted 1', began: 8, ended: 9 },
];

const CORRECT: Readonly<Record<string, EventHistory>> = {
  'nothing happened': { changes: [], writes: [], followers: [] },
  'every event once': history(EVENTS, { writes: inTurn }),
  'a follower that may see animals only': history([], {
    followers: [
      { name: 'first', sees: () => true, events: EVENTS },
      {
        name: 'second',
        sees: ({ accountId }) => accountId === 0,
        events: without(MADE, ORDERED, EXPIRED, REVOKED),
      },
    ],
  }),
  'writes at the same time, in either order': history(EVENTS, {
    writes: [
      { event: 'pet.created Rex', began: 2, ended: 9 },
      { event: 'key.created web', began: 1, ended: 8 },
    ],
  }),
  'a write without an answer that was done late': history(EVENTS, {
    writes: [
      { event: 'pet.created Rex', began: 2, ended: 3 },
      { event: 'pet.deleted 1', began: 0, ended: Number.POSITIVE_INFINITY },
    ],
  }),
  'a write without an answer that was never done': history(EVENTS, {
    writes: [{ event: 'pet.updated Bo', began: 0, ended: Number.POSITIVE_INFINITY }],
  }),
};

for (const [title, correct] of Object.entries(CORRECT)) {
  test(`correct is ${title}`, () => {
    assert.deepEqual(findFaults(correct), []);
  });
}

/** With the message that names the fault. */
const BROKEN: Readonly<Record<string, readonly [EventHistory, RegExp]>> = {
  'a missed event': [history(without(RENAMED)), /^second: pet\.updated 1 version 4 was missed$/],
  'a missed event of a key': [history(without(REVOKED)), /^second: key\.revoked 21 was missed$/],
  'an event that no follower got': [
    history([], { followers: [{ name: 'first', sees: () => true, events: without(CREATED) }] }),
    /^first: pet\.created 1 version 1 was missed$/,
  ],
  'a doubled event': [history([...EVENTS, tell(REVOKED)]), /^second: key\.revoked 21 came 2 times$/],
  'a doubled event with another id': [
    history([...EVENTS, { ...tell(REVOKED), id: 'other' }]),
    /^second: key\.revoked 21 came 2 times$/,
  ],
  'an event of another id for another follower': [
    history([...without(REVOKED), { ...tell(REVOKED), id: 'other' }]),
    /^key\.revoked 21 has several ids/,
  ],
  'two events with one id': [
    history([...without(REVOKED), { ...tell(REVOKED), id: tell(DELETED).id }]),
    /^key\.revoked 21 has several ids, or shares its id$/,
  ],
  'an invented event': [
    history([...EVENTS, tell(change('pet.created', { ...rex, id: 2 }, 1))]),
    /^second: pet\.created 2 version 1 is of no change that it may see$/,
  ],
  'an event of a transaction that was rolled back': [
    history(EVENTS, { changes: CHANGES.filter((one) => one !== DELETED) }),
    /^first: pet\.deleted 1 version 5 is of no change that it may see$/,
  ],
  'an event of another account': [
    history([], {
      followers: [{ name: 'first', sees: ({ accountId }) => accountId === 0, events: EVENTS }],
    }),
    /^first: order\.created 11 version 1 is of no change that it may see$/,
  ],
  'an event with other data': [
    history(without(DELETED).with(0, tell(change('pet.created', { ...rex, status: 'sold' }, 1)))),
    /^second: pet\.created 1 version 1 has other data$/,
  ],
  'versions out of order': [
    history(swap(RELEASED, RENAMED)),
    /^second: pet\.updated 1 version 3 came after a later change$/,
  ],
  'a key that is revoked before it is created': [
    history(swap(MADE, REVOKED)),
    /^second: key\.created 21 came after a later change$/,
  ],
  'a version that is left out': [
    history([], { changes: CHANGES.filter((one) => one !== RENAMED), followers: [] }),
    /^pet\.deleted 1 version 5 does not have the next version$/,
  ],
  'a version that is used twice': [
    history([], { changes: [...CHANGES, { ...DELETED, version: 5 }], followers: [] }),
    /^pet\.deleted 1 version 5 does not have the next version$/,
  ],
  'an order after the change of its animal': [
    history(swap(ORDERED, HELD)),
    /^second: order\.created 11 version 1 does not come before its pet\.updated$/,
  ],
  'an expiry after the change of its animal': [
    history(swap(EXPIRED, RELEASED)),
    /^second: order\.expired 11 version 2 does not come before its pet\.updated$/,
  ],
  'an event before another one that was answered before it began': [
    history(EVENTS, {
      writes: [
        { event: 'pet.created Rex', began: 2, ended: 3 },
        { event: 'key.created web', began: 0, ended: 1 },
      ],
    }),
    /^first: pet\.created Rex came before key\.created web, which was answered before it began$/,
  ],
  'an event far before another one that was answered before it began': [
    history(EVENTS, {
      writes: [
        { event: 'pet.created Rex', began: 5, ended: 9 },
        { event: 'key.created web', began: 2, ended: 9 },
        { event: 'pet.deleted 1', began: 0, ended: 4 },
      ],
    }),
    /^first: pet\.created Rex came before pet\.deleted 1, which was answered before it began$/,
  ],
  'an unanswered write whose event comes before one that was answered before': [
    history(EVENTS, {
      writes: [
        { event: 'pet.created Rex', began: 2, ended: Number.POSITIVE_INFINITY },
        { event: 'key.created web', began: 0, ended: 1 },
      ],
    }),
    /^first: pet\.created Rex came before key\.created web/,
  ],
  'an answered write that changed nothing': [
    history(EVENTS, { writes: [{ event: 'pet.created Bo', began: 0, ended: 1 }] }),
    /^pet\.created Bo was answered, and nothing changed$/,
  ],
  'two orders of what nothing puts in order': [
    history(swap(CREATED, MADE)),
    /^first and second got pet\.created 1 version 1 at different places$/,
  ],
};

for (const [title, [broken, message]] of Object.entries(BROKEN)) {
  test(`broken is ${title}`, () => {
    const faults = findFaults(broken);
    assert.ok(
      faults.some((fault) => message.test(fault)),
      `found: ${faults.join('; ')}`,
    );
  });
}
