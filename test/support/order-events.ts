import type { Timed } from './linearizability.ts';
import type { Answer, Event, Order, Pet } from './order-model.ts';

interface Listed {
  readonly id: number;
  readonly status?: string | undefined;
  readonly categoryId?: number;
  readonly petId?: number;
}

/** Every value that is given must match. */
export interface Filter extends Partial<Omit<Listed, 'id'>> {
  readonly ids?: readonly number[];
}

/** A page of a list: `before` is the id where the page before ended. */
interface PageOf<Item> {
  readonly filter: Filter;
  readonly limit: number;
  readonly before?: number | undefined;
  readonly answer: readonly Item[];
}

/** Operations that are events of one animal as they are. */
type Same = Event & { readonly kind: 'patch' | 'delete' | 'complete' | 'cancel' | 'expire at' };

/** What a client did. Every new animal has a name and every order a date of its own, so a later read can tell which it is. */
export type Operation =
  | Same
  | { readonly kind: 'create'; readonly pet: Omit<Pet, 'id'>; readonly answer: Pet | undefined }
  | {
      readonly kind: 'order';
      readonly petId: number;
      readonly shipDate: string;
      readonly answer: Answer<Order, 'invalid_request' | 'conflict'>;
    }
  | { readonly kind: 'get'; readonly petId: number; readonly answer: Pet | 'not_found' }
  | ({ readonly kind: 'list' } & PageOf<Pet>)
  | { readonly kind: 'get order'; readonly orderId: number; readonly answer: Order | 'not_found' }
  | ({ readonly kind: 'list orders' } & PageOf<Order>);

export type Recorded = Operation & Timed;

/** How long the services hold an order, in milliseconds: the default of ORDER_HOLD_HOURS. */
export const HOLD = 72 * 3_600_000;

/** What a whole history says about the ids in it. */
export interface Known {
  /** The id of each animal that a client of the history added, by its first name. */
  readonly petIds: ReadonlyMap<string, number>;
  /** Each order that a client of the history made, by its date. Both hold only what some answer shows. */
  readonly orders: ReadonlyMap<string, Order>;
  readonly petOfOrder: ReadonlyMap<number, number>;
}

export function knownOf(history: readonly Recorded[]): Known {
  const names = new Set(history.flatMap((each) => (each.kind === 'create' ? [each.pet.name] : [])));
  const dates = new Set(history.flatMap((each) => (each.kind === 'order' ? [each.shipDate] : [])));
  const pets = history.flatMap(petsIn).filter(({ name }) => names.has(name));
  const orders = history.flatMap(ordersIn).filter(({ shipDate }) => dates.has(shipDate));
  return {
    petIds: new Map(pets.map(({ name, id }) => [name, id])),
    orders: new Map(orders.map((order) => [order.shipDate, order])),
    petOfOrder: new Map(orders.map(({ id, petId }) => [id, petId])),
  };
}

/** The animals that the answer of an operation shows. */
export function petsIn(operation: Operation): readonly Pet[] {
  const { kind } = operation;
  if (kind === 'list') return operation.answer;
  if (kind !== 'create' && kind !== 'get' && kind !== 'patch') return [];
  return typeof operation.answer === 'object' ? [operation.answer] : [];
}

/** The orders that the answer of an operation shows. */
export function ordersIn(operation: Operation): readonly Order[] {
  const { kind } = operation;
  if (kind === 'list orders') return operation.answer;
  if (kind !== 'order' && kind !== 'complete' && kind !== 'get order') return [];
  return typeof operation.answer === 'object' ? [operation.answer] : [];
}

type OfAnimal = Event & Timed & { readonly animal: number };

/** What an operation means for each animal of the history that it concerns. */
export function eventsOf(operation: Recorded, known: Known): readonly OfAnimal[] {
  const { began, ended } = operation;
  const of = (animal: number | undefined, event: Event): OfAnimal => ({
    animal: animal ?? 0,
    ...event,
    began,
    ended,
  });
  const ofOrder = (orderId: number, event: Event) => of(known.petOfOrder.get(orderId), event);
  switch (operation.kind) {
    case 'create': {
      const { pet, answer } = operation;
      // No answer shows this animal, so nothing depends on it.
      const id = answer?.id ?? known.petIds.get(pet.name);
      return id === undefined ? [] : [of(id, { kind: 'create', pet: { id, ...pet }, answer })];
    }
    case 'order': {
      const { petId, shipDate, answer } = operation;
      const order = known.orders.get(shipDate);
      const expiresAt = order === undefined ? Number.POSITIVE_INFINITY : Date.parse(order.createdAt) + HOLD;
      return [of(petId, { kind: 'order', petId, orderId: order?.id ?? shipDate, expiresAt, answer })];
    }
    case 'patch':
    case 'delete':
      return [of(operation.petId, operation)];
    case 'complete':
    case 'cancel':
    case 'expire at':
      return [ofOrder(operation.orderId, operation)];
    case 'get': {
      const { petId, answer } = operation;
      return [of(petId, { kind: 'read pet', answer: answer === 'not_found' ? undefined : answer })];
    }
    case 'get order': {
      const { orderId, answer } = operation;
      return [ofOrder(orderId, { kind: 'read order', orderId, answer })];
    }
    case 'list': {
      const isMatch = (pet: Pet) => isInFilter(pet, operation.filter);
      const animals = [...known.petIds.values()];
      return [
        ...operation.answer
          .filter(({ id }) => animals.includes(id))
          .map((answer) => of(answer.id, { kind: 'read pet', answer })),
        ...missing(operation, animals).map((id) => of(id, { kind: 'pet not listed', isMatch })),
      ];
    }
    case 'list orders': {
      const { status, petId } = operation.filter;
      const orders = [...known.petOfOrder.keys()];
      return [
        ...operation.answer
          .filter(({ id }) => orders.includes(id))
          .map((answer) => ofOrder(answer.id, { kind: 'read order', orderId: answer.id, answer })),
        ...missing(operation, orders)
          .filter((id) => petId === undefined || petId === known.petOfOrder.get(id))
          .map((orderId) => ofOrder(orderId, { kind: 'order not listed', orderId, status })),
      ];
    }
  }
}

export function isInFilter(item: Listed, { ids, ...values }: Filter): boolean {
  const names = Object.keys(values) as (keyof typeof values)[];
  return (ids?.includes(item.id) ?? true) && names.every((name) => item[name] === values[name]);
}

/** The ids that a page would show if they matched, and does not show. */
function missing(
  { answer, limit, before = Number.POSITIVE_INFINITY }: PageOf<Listed>,
  ids: readonly number[],
): readonly number[] {
  const shown = new Set(answer.map(({ id }) => id));
  const end = answer.length < limit ? 0 : (answer.at(-1)?.id ?? 0);
  return ids.filter((id) => id < before && id > end && !shown.has(id));
}
