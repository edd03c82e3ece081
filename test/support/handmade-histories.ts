import { type Filter, HOLD, type Operation, type Recorded } from './order-events.ts';
import type { Order, Pet, PetChanges } from './order-model.ts';

/* Operations for the tests of the checker. The animal has the id 1, and its first order has the id 11. */

/** When the histories happen, in Unix milliseconds: one operation a second, unless they say otherwise. */
const START = Date.UTC(2027, 0, 1);
const SECOND = 1_000;

export const pet = (status = 'available', id = 1): Pet => {
  return { id, name: `Pet ${id}`, categoryId: 1, status };
};
export const withoutStatus: Pet = { id: 1, name: 'Pet 1', categoryId: 1 };

export const order = (status: Order['status'] = 'pending', id = 11): Order => ({
  id,
  petId: 1,
  shipDate: `date ${id}`,
  status,
  complete: status === 'complete',
  createdAt: new Date(START).toISOString(),
  expiresAt: new Date(START + HOLD).toISOString(),
});

export const creating = (answer: Pet): Operation => {
  const { id: _id, ...its } = answer;
  return { kind: 'create', pet: its, answer };
};
export const created = creating(pet());
export const ordered: Operation = { kind: 'order', petId: 1, shipDate: 'date 11', answer: order() };
export const reordered: Operation = {
  kind: 'order',
  petId: 1,
  shipDate: 'date 12',
  answer: order('pending', 12),
};
export const completed: Operation = { kind: 'complete', orderId: 11, answer: order('complete') };
export const cancelled: Operation = { kind: 'cancel', orderId: 11, answer: 'done' };
export const deleted: Operation = { kind: 'delete', petId: 1, answer: 'done' };

export const refused = (kind: 'order' | 'complete' | 'cancel' | 'delete' | 'patch'): Operation => {
  const request = { petId: 1, orderId: 11, shipDate: 'date 99', changes: { status: 'sold' } };
  return { kind, ...request, answer: 'conflict' };
};
export const unanswered = (operation: Operation): Operation =>
  ({ ...operation, answer: undefined }) as Operation;
export const patched = (changes: PetChanges, answer: Pet, ifMatch?: Pet): Operation => {
  return { kind: 'patch', petId: 1, changes, ifMatch, answer };
};
export const sold = patched({ status: 'sold' }, pet('sold'));

export const get = (answer: Pet | 'not_found'): Operation => ({ kind: 'get', petId: 1, answer });
export const list = (answer: readonly Pet[], filter: Filter = {}): Operation => {
  return { kind: 'list', filter, limit: 100, answer };
};
export const getOrder = (answer: Order | 'not_found'): Operation => ({
  kind: 'get order',
  orderId: 11,
  answer,
});
export const listOrders = (answer: readonly Order[], filter: Filter = {}): Operation => {
  return { kind: 'list orders', filter, limit: 100, answer };
};
/** Sets the end of order 11 to `seconds` after the start. */
export const expireAt = (seconds: number): Operation => {
  return { kind: 'expire at', orderId: 11, instant: START + seconds * SECOND };
};
export const expiring = (status: Order['status'], seconds: number): Order => {
  return { ...order(status), expiresAt: new Date(START + seconds * SECOND).toISOString() };
};

/** One after the other, a second each, with a second between. */
export function inTurn(operations: readonly Operation[], from = 0): readonly Recorded[] {
  return operations.map((operation, index) => {
    const began = START + (from + 2 * index) * SECOND;
    const isUnanswered = 'answer' in operation && operation.answer === undefined;
    return { ...operation, began, ended: isUnanswered ? Number.POSITIVE_INFINITY : began + SECOND };
  });
}

/** All at the same time. */
export function atOnce(...operations: readonly Operation[]): readonly Recorded[] {
  return operations.flatMap((operation) => during(operation));
}

/** A long operation, and others one after the other while it lasts. */
export function during(long: Operation, ...operations: readonly Operation[]): readonly Recorded[] {
  return [{ ...long, began: START + 50 * SECOND, ended: START + 90 * SECOND }, ...inTurn(operations, 55)];
}
