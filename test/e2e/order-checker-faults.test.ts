// Contract: sections 2 and 3.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  pet,
  order,
  creating,
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
  during,
} from '../support/handmade-histories.ts';
import { faultsOf } from '../support/order-checker.ts';
import type { Operation, Recorded } from '../support/order-events.ts';

const BROKEN: Record<string, readonly Recorded[]> = {
  'two open orders': inTurn([created, ordered, reordered]),
  'two orders at once that are both made': [...inTurn([created]), ...atOnce(ordered, reordered)],
  'an order of an animal that is sold': inTurn([created, sold, ordered]),
  'an order that is refused though the animal is available': inTurn([created, refused('order')]),
  'an order of an animal that is gone': inTurn([created, deleted, ordered]),
  'an order that came into being twice': inTurn([
    created,
    ordered,
    cancelled,
    listOrders([order('pending', 12), order('cancelled')]),
  ]),
  'an answered order that is gone': inTurn([created, ordered, getOrder('not_found')]),
  'an answered order that is not listed': inTurn([created, ordered, listOrders([])]),
  'a lost patch': inTurn([created, sold, get(pet())]),
  'a patch that is seen and gone again': [
    ...inTurn([created]),
    ...during(sold, get(pet('sold')), get(pet())),
  ],
  'a patch that is answered with something else': inTurn([created, patched({ status: 'sold' }, pet())]),
  'a status patched while an order is open': inTurn([created, ordered, sold]),
  'a patch that is refused though no order is open': inTurn([created, refused('patch')]),
  'a patch of a content that was not current': inTurn([
    created,
    sold,
    patched({ name: 'Rex' }, { ...pet('sold'), name: 'Rex' }, pet()),
  ]),
  'a patch of the current content that is refused': inTurn([
    created,
    { ...sold, ifMatch: pet(), answer: 'precondition_failed' } as Operation,
  ]),
  'a delete while an order is open': inTurn([created, ordered, deleted]),
  'a delete that is refused though no order is open': inTurn([created, refused('delete')]),
  'a deleted animal that is read': inTurn([created, deleted, get(pet())]),
  'a deleted animal that is listed': inTurn([created, deleted, list([pet()])]),
  'an animal that is not listed': inTurn([created, list([])]),
  'an animal that is listed by a status that it has no more': inTurn([
    created,
    sold,
    list([pet()], { status: 'available' }),
  ]),
  'sold without a complete': inTurn([created, ordered, get(pet('sold'))]),
  'a complete of an order that was cancelled': inTurn([created, ordered, cancelled, completed]),
  'a complete that is refused though the order is open': inTurn([created, ordered, refused('complete')]),
  'a complete that leaves the animal pending': inTurn([created, ordered, completed, get(pet('pending'))]),
  'a complete and a cancel at once that are both done': [
    ...inTurn([created, ordered]),
    ...atOnce(completed, cancelled),
  ],
  'a cancel of an order that is complete': inTurn([created, ordered, completed, cancelled]),
  'pending without an open order': inTurn([created, ordered, cancelled, get(pet('pending'))]),
  'available with an open order': inTurn([created, ordered, get(pet())]),
  'an order that is complete, and its animal pending': inTurn([
    created,
    ordered,
    completed,
    getOrder(order('complete')),
    get(pet('pending')),
  ]),
  'an order that is open, and its animal sold': [
    ...inTurn([created, ordered]),
    ...during(completed, get(pet('sold')), getOrder(order())),
  ],
  'an order that is cancelled, and its animal pending': [
    ...inTurn([created, ordered]),
    ...during(cancelled, getOrder(order('cancelled')), get(pet('pending'))),
  ],
  'an order that expires before its time': inTurn([created, ordered, getOrder(order('expired'))]),
  'an animal that is available before the time of its order': inTurn([
    created,
    ordered,
    expireAt(100),
    get(pet()),
  ]),
  'a complete of an order whose time has passed': inTurn([created, ordered, expireAt(-60), completed]),
  'a complete a second after the time': [
    ...inTurn([created, ordered, expireAt(20)]),
    ...inTurn([completed], 21),
  ],
  'an order that stays open long after its time': [
    ...inTurn([created, ordered, expireAt(-60)]),
    ...inTurn([get(pet('pending'))], 60),
  ],
  'an order that expired and is open again': inTurn([
    created,
    ordered,
    expireAt(-60),
    get(pet()),
    getOrder(expiring('pending', -60)),
  ]),
  'an id of an animal used twice': inTurn([created, deleted, creating({ ...pet(), name: 'Other' })]),
  'an id of an order used twice': inTurn([
    created,
    ordered,
    cancelled,
    { ...reordered, answer: { ...order('pending'), shipDate: 'date 12' } } as Operation,
  ]),
  'ids that do not ascend': inTurn([creating({ ...pet(), name: 'Other', id: 2 }), created]),
  'a list that is not in the order of ids': inTurn([
    created,
    creating(pet('available', 2)),
    list([pet(), pet('available', 2)]),
  ]),
  'a list with a status that was not asked for': inTurn([created, list([pet()], { status: 'sold' })]),
  'an animal that nobody added': inTurn([created, list([pet('sold', 7), pet()])]),
  'an order that nobody made': inTurn([created, listOrders([order()])]),
  'an order that changes its animal': inTurn([created, ordered, getOrder({ ...order(), petId: 2 })]),
  'an order that is pending and complete': inTurn([
    created,
    ordered,
    getOrder({ ...order(), complete: true }),
  ]),
  'an order without an answer that is seen and gone again': inTurn([
    created,
    unanswered(ordered),
    get(pet('pending')),
    get(pet()),
  ]),
  'a patch without an answer that is seen and gone again': inTurn([
    created,
    unanswered(sold),
    get(pet('sold')),
    get(pet()),
  ]),
};

for (const [title, history] of Object.entries(BROKEN)) {
  test(`broken is ${title}`, () => {
    assert.deepEqual(faultsOf(history.slice(0, -1)), [], 'the fault is in the last operation');
    assert.notDeepEqual(faultsOf(history), []);
  });
}
