// Contract: sections 2 and 3.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  pet,
  order,
  withoutStatus,
  created,
  ordered,
  reordered,
  completed,
  cancelled,
  deleted,
  refused,
  unanswered,
  patched,
  sold,
  get,
  list,
  getOrder,
  listOrders,
  expireAt,
  expiring,
  inTurn,
  atOnce,
} from '../support/handmade-histories.ts';
import { faultsOf } from '../support/order-checker.ts';
import type { Operation, Recorded } from '../support/order-events.ts';

const CORRECT: Record<string, readonly Recorded[]> = {
  'nothing happened': [],
  'an adoption': inTurn([
    created,
    get(pet()),
    ordered,
    get(pet('pending')),
    getOrder(order()),
    refused('order'),
    refused('patch'),
    refused('delete'),
    completed,
    list([pet('sold')], { status: 'sold' }),
    listOrders([order('complete')]),
    refused('cancel'),
    deleted,
    get('not_found'),
    listOrders([order('complete')]),
  ]),
  'an order that is cancelled twice and made again': inTurn([
    created,
    ordered,
    cancelled,
    cancelled,
    refused('complete'),
    get(pet()),
    reordered,
    listOrders([order('pending', 12), order('cancelled')], { petId: 1 }),
    listOrders([order('cancelled')], { status: 'cancelled' }),
  ]),
  'an order that expires late, and cannot be completed before': inTurn([
    created,
    ordered,
    expireAt(-60),
    refused('complete'),
    get(pet('pending')),
    getOrder(expiring('pending', -60)),
    get(pet()),
    getOrder(expiring('expired', -60)),
    cancelled,
    reordered,
  ]),
  'a complete shortly before the time, and one shortly after': [
    ...inTurn([created, ordered, expireAt(100)]),
    ...inTurn([completed], 99),
  ],
  'pending without an order is a status like any other': inTurn([
    created,
    patched({ status: 'pending' }, pet('pending')),
    refused('order'),
    patched({ status: null }, withoutStatus),
    deleted,
  ]),
  'orders at once, of which one is made': [
    ...inTurn([created]),
    ...atOnce(refused('order'), ordered, get(pet()), get(pet('pending')), {
      ...refused('order'),
      shipDate: 'x',
    } as Operation),
  ],
  'a complete and a cancel at once, of which one is done': [
    ...inTurn([created, ordered]),
    ...atOnce(completed, refused('cancel')),
    ...inTurn([get(pet('sold'))], 70),
  ],
};

const UNANSWERED: Record<string, readonly Recorded[]> = {
  'an order without an answer that nobody ever sees': inTurn([created, unanswered(ordered), get(pet())]),
  'an order without an answer that is seen late': inTurn([
    created,
    unanswered(ordered),
    get(pet()),
    get(pet('pending')),
    listOrders([order()]),
    completed,
  ]),
  'an order without an answer that nobody sees, but that holds its animal': inTurn([
    created,
    unanswered(ordered),
    get(pet('pending')),
    refused('patch'),
    refused('delete'),
  ]),
  'a create, a patch and a delete without an answer': inTurn([
    unanswered(created),
    get(pet()),
    unanswered(sold),
    get(pet()),
    get(pet('sold')),
    unanswered(deleted),
    get('not_found'),
  ]),
  'a complete without an answer that is done later': inTurn([
    created,
    ordered,
    unanswered(completed),
    get(pet('pending')),
    getOrder(order('complete')),
  ]),
};

for (const [title, history] of Object.entries({ ...CORRECT, ...UNANSWERED })) {
  test(`correct is ${title}`, () => {
    assert.deepEqual(faultsOf(history), []);
  });
}
