import * as fc from 'fast-check';
import { knownOf } from './order-events.ts';
import type { Recorder } from './order-recorder.ts';

/** More open orders than the account of a history has: no refusal is for them. */
export const MAX_OPEN_ORDERS = '1000000';

const STATUSES = ['available', 'pending', 'sold'] as const;

const step = fc.record({
  kind: fc.constantFrom(
    ...(['order', 'order', 'order', 'order', 'complete', 'complete', 'cancel', 'cancel', 'cancel'] as const),
    ...([
      'patch status',
      'patch status',
      'patch status',
      'patch name',
      'patch category',
      'patch read',
    ] as const),
    ...(['expire', 'expire', 'delete', 'create'] as const),
    ...(['get', 'get', 'list', 'list', 'get order', 'list orders', 'list orders'] as const),
  ),
  instance: fc.nat(2),
  /** Which of the animals: 0 is the newest. */
  animal: fc.nat(3),
  /** Which order of the animal: 0 is the newest. */
  order: fc.constantFrom(0, 0, 0, 1),
  status: fc.constantFrom('available', 'available', ...STATUSES, null),
  /** Which filters a list has, and whether an order expires in a moment or is late already. */
  variant: fc.nat(3),
});

/** What nine clients do at once, five operations each, one after the other. */
const plan = fc.array(fc.array(step, { minLength: 4, maxLength: 4 }), { minLength: 9, maxLength: 9 });

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;
type OrderKind = Step['kind'] & ('complete' | 'cancel' | 'expire' | 'get order');
export type Plan = readonly (readonly Step[])[];

/** Returns `count` plans, the same ones every time. */
export function inventPlans(count: number): readonly Plan[] {
  return fc.sample(plan, { numRuns: count, seed: 18 });
}

/** Milliseconds from now to the instants at which orders expire: long ago, at once and in a moment. */
const EXPIRIES = [-60_000, 0, 20];

/** Performs a plan with three new animals of a category that no other history has. */
export async function perform(actions: Plan, recorder: Recorder, categoryId: number): Promise<void> {
  const pets: number[] = [];
  const orders = new Map<number, number[]>();
  const create = async (instance: number, status: string | null) => {
    const name = crypto.randomUUID();
    const pet = await recorder.create(instance, { name, categoryId, ...(status !== null && { status }) });
    if (pet !== undefined) pets.unshift(pet.id);
  };

  const act = async ({ kind, instance, animal, order, status, variant }: Step): Promise<unknown> => {
    const petId = pets[animal] ?? pets[0];
    if (petId === undefined) return create(instance, status);
    const its = orders.get(petId) ?? [];
    const orderId = its[order] ?? its[0];
    switch (kind) {
      case 'create':
        return create(instance, status);
      case 'delete':
        return recorder.delete(instance, petId);
      case 'patch status':
        return recorder.patch(instance, petId, { status });
      case 'patch name':
        return recorder.patch(instance, petId, { name: crypto.randomUUID() });
      case 'patch category':
        return recorder.patch(instance, petId, { categoryId: categoryId + (variant % 2) });
      case 'patch read': {
        const read = await recorder.get(instance, petId);
        return read && recorder.patch(instance, petId, { name: crypto.randomUUID(), status }, read);
      }
      case 'get':
        return recorder.get(instance, petId);
      case 'list': {
        const filters = [{ categoryId }, { status: status ?? 'pending', categoryId }, { ids: [...pets] }];
        return recorder.list(instance, filters[variant] ?? {});
      }
      case 'list orders': {
        const filters = [{ petId }, { petId, status: 'pending' }, { status: 'complete' }];
        return recorder.listOrders(instance, filters[variant] ?? {});
      }
      case 'order':
        return makeOrder(instance, petId);
      case 'complete':
      case 'cancel':
      case 'get order':
      case 'expire':
        return orderId === undefined
          ? makeOrder(instance, petId)
          : actOnOrder(kind, instance, orderId, variant);
    }
  };
  const makeOrder = async (instance: number, petId: number) => {
    const order = await recorder.order(instance, petId);
    if (order !== undefined) orders.set(petId, [order.id, ...(orders.get(petId) ?? [])]);
  };
  const actOnOrder = (kind: OrderKind, instance: number, orderId: number, variant: number) => {
    switch (kind) {
      case 'complete':
        return recorder.complete(instance, orderId);
      case 'cancel':
        return recorder.cancel(instance, orderId);
      case 'get order':
        return recorder.getOrder(instance, orderId);
      case 'expire':
        return recorder.expireAt(orderId, Date.now() + (EXPIRIES[variant] ?? 0));
    }
  };

  await Promise.all([0, 1, 2].map((instance) => create(instance, 'available')));
  await Promise.all(
    actions.map(async (steps) => {
      for (const each of steps) await act(each);
    }),
  );
}

/** Reads every animal and every order that the history shows. */
export async function readAll(recorder: Recorder, instance: number): Promise<void> {
  const ids = [...knownOf(recorder.history).petIds.values()];
  if (ids.length > 0) await recorder.list(instance, { ids });
  for (const petId of ids) await recorder.listOrders(instance, { petId });
}
