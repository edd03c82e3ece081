import type { Model, Timed } from './linearizability.ts';

export type OrderStatus = 'pending' | 'complete' | 'cancelled' | 'expired';

export interface Pet {
  readonly id: number;
  readonly name: string;
  readonly categoryId: number;
  readonly status?: string;
}

export interface Order {
  readonly id: number;
  readonly petId: number;
  /** Every order of a history has a date of its own. */
  readonly shipDate: string;
  readonly status: OrderStatus;
  readonly complete: boolean;
  readonly createdAt: string;
  readonly expiresAt: string;
}

export type PetChanges = Partial<Pick<Pet, 'name' | 'categoryId'>> & { readonly status?: string | null };

type OrderId = number | string;

/** What a request did, or the code of its refusal; undefined when no answer came. */
export type Answer<Done, Code extends string> = Done | Code | undefined;

/** An event of one animal, or of one of its orders. */
export type Event =
  | { readonly kind: 'create'; readonly pet: Pet; readonly answer: Pet | undefined }
  | {
      readonly kind: 'patch';
      readonly petId: number;
      readonly changes: PetChanges;
      /** The content whose entity tag was sent as `If-Match`. */
      readonly ifMatch?: Pet | undefined;
      readonly answer: Answer<Pet, 'not_found' | 'precondition_failed' | 'conflict'>;
    }
  | {
      readonly kind: 'delete';
      readonly petId: number;
      readonly answer: Answer<'done', 'not_found' | 'conflict'>;
    }
  | {
      readonly kind: 'order';
      readonly petId: number;
      /** The date of the order if no answer shows its id. */
      readonly orderId: OrderId;
      /** Unix milliseconds. */
      readonly expiresAt: number;
      readonly answer: Answer<Order, 'invalid_request' | 'conflict'>;
    }
  | {
      readonly kind: 'complete';
      readonly orderId: number;
      readonly answer: Answer<Order, 'not_found' | 'conflict'>;
    }
  | {
      readonly kind: 'cancel';
      readonly orderId: number;
      readonly answer: Answer<'done', 'not_found' | 'conflict'>;
    }
  /** The test sets the time at which a pending order expires, in Unix milliseconds. */
  | { readonly kind: 'expire at'; readonly orderId: number; readonly instant: number }
  | { readonly kind: 'read pet'; readonly answer: Pet | undefined }
  | { readonly kind: 'read order'; readonly orderId: number; readonly answer: Order | 'not_found' }
  /** A list that would have shown the animal if this had been true. */
  | { readonly kind: 'pet not listed'; readonly isMatch: (pet: Pet) => boolean }
  | { readonly kind: 'order not listed'; readonly orderId: number; readonly status: string | undefined };

/** One animal with its orders by id. */
interface State {
  readonly pet: Pet | undefined;
  readonly orders: ReadonlyMap<OrderId, OrderState>;
}

interface OrderState {
  readonly status: OrderStatus;
  /** Unix milliseconds. */
  readonly expiresAt: number;
  /** Unix milliseconds: from here on, the order may not be open. */
  readonly closedBy: number;
}

/** Milliseconds by which the clocks of the test, the services and the database may differ. */
const CLOCKS = 100;

/** Milliseconds in which an order must expire after its time: a second, and as long as a busy machine may stall. */
const LATE = 1_000 + 30_000;

export const NOTHING: State = { pet: undefined, orders: new Map() };

/** Animals with their orders, as section 2 of the contract describes them. */
export const ORDER_MODEL: Model<State, Event & Timed> = {
  after(state, event) {
    const open = openOrder(state);
    return open !== undefined && event.began > open.closedBy ? undefined : after(state, event);
  },
  byItself(state, until) {
    const open = openOrder(state);
    return open !== undefined && open.expiresAt - CLOCKS <= until
      ? closed(state, open.id, 'expired')
      : undefined;
  },
  key: ({ pet, orders }) => JSON.stringify([contentOf(pet), ...orders]),
};

function after(state: State, event: Event & Timed): State | undefined {
  const { pet, orders } = state;
  switch (event.kind) {
    case 'create':
      return pet === undefined && isSame(event.pet, event.answer ?? event.pet)
        ? { ...state, pet: event.pet }
        : undefined;
    case 'read pet':
      return isSame(pet, event.answer) ? state : undefined;
    case 'pet not listed':
      return pet === undefined || !event.isMatch(pet) ? state : undefined;
    case 'patch':
      return patched(state, event);
    case 'delete': {
      const refusal = pet === undefined ? 'not_found' : openOrder(state) && 'conflict';
      if (refusal !== undefined) return event.answer === refusal ? state : undefined;
      return event.answer === undefined || event.answer === 'done' ? { ...state, pet: undefined } : undefined;
    }
    case 'order': {
      const { orderId, expiresAt, answer } = event;
      const refusal = pet === undefined ? 'invalid_request' : isOrderable(state) ? undefined : 'conflict';
      if (pet === undefined || refusal !== undefined) return answer === refusal ? state : undefined;
      if (answer !== undefined && (typeof answer === 'string' || answer.status !== 'pending'))
        return undefined;
      const order: OrderState = { status: 'pending', expiresAt, closedBy: expiresAt + LATE };
      return { pet: { ...pet, status: 'pending' }, orders: new Map([...orders, [orderId, order]]) };
    }
    case 'complete':
      return completed(state, event);
    case 'cancel': {
      const status = orders.get(event.orderId)?.status;
      if (status === 'pending' && (event.answer === 'done' || event.answer === undefined))
        return closed(state, event.orderId, 'cancelled');
      const given = status === undefined ? 'not_found' : status === 'complete' ? 'conflict' : 'done';
      return status !== 'pending' && event.answer === given ? state : undefined;
    }
    case 'expire at': {
      const { orderId, instant, ended } = event;
      const order = orders.get(orderId);
      if (order?.status !== 'pending') return order && state;
      const late = { ...order, expiresAt: instant, closedBy: Math.max(instant, ended) + LATE };
      return { ...state, orders: new Map([...orders, [orderId, late]]) };
    }
    case 'read order': {
      const { orderId, answer } = event;
      const order = orders.get(orderId);
      if (order === undefined || answer === 'not_found') return undefined;
      const isCurrent = answer.status === order.status && Date.parse(answer.expiresAt) === order.expiresAt;
      return isCurrent ? state : undefined;
    }
    case 'order not listed': {
      const status = orders.get(event.orderId)?.status;
      const isListed = status !== undefined && (event.status ?? status) === status;
      return isListed ? undefined : state;
    }
  }
}

function patched(state: State, { changes, ifMatch, answer }: Event & { kind: 'patch' }): State | undefined {
  const { pet } = state;
  if (pet === undefined) return answer === 'not_found' ? state : undefined;
  const isStale = ifMatch !== undefined && !isSame(ifMatch, pet);
  const isOpen = 'status' in changes && openOrder(state) !== undefined;
  const refusal = isStale ? 'precondition_failed' : isOpen ? 'conflict' : undefined;
  if (refusal !== undefined) return answer === refusal ? state : undefined;
  const { status = pet.status, ...others } = changes;
  const { status: _before, ...rest } = pet;
  const next = { ...rest, ...others, ...(typeof status === 'string' && { status }) };
  const fits = answer === undefined || (typeof answer === 'object' && isSame(answer, next));
  return fits ? { ...state, pet: next } : undefined;
}

function completed(state: State, { orderId, answer, began, ended }: Event & Timed & { kind: 'complete' }) {
  const order = state.orders.get(orderId);
  if (order === undefined) return answer === 'not_found' ? state : undefined;
  if (answer === 'conflict')
    return order.status !== 'pending' || ended >= order.expiresAt - CLOCKS ? state : undefined;
  if (answer === 'not_found' || order.status !== 'pending' || began > order.expiresAt + CLOCKS)
    return undefined;
  return closed(state, orderId, 'complete');
}

/** The state after an open order is closed, with its animal as it is then. */
function closed({ pet, orders }: State, id: OrderId, status: OrderStatus): State | undefined {
  const order = orders.get(id);
  if (pet === undefined || order === undefined) return undefined;
  return {
    pet: { ...pet, status: status === 'complete' ? 'sold' : 'available' },
    orders: new Map([...orders, [id, { ...order, status }]]),
  };
}

function openOrder({ orders }: State): (OrderState & { readonly id: OrderId }) | undefined {
  for (const [id, order] of orders) if (order.status === 'pending') return { id, ...order };
  return undefined;
}

function isOrderable(state: State): boolean {
  return state.pet?.status === 'available' && openOrder(state) === undefined;
}

function contentOf(pet: Pet | undefined): unknown {
  return pet && [pet.id, pet.name, pet.categoryId, pet.status];
}

function isSame(a: Pet | undefined, b: Pet | undefined): boolean {
  return JSON.stringify(contentOf(a)) === JSON.stringify(contentOf(b));
}
