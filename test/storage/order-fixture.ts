import type { TestContext } from 'node:test';
import type { ErrorCode } from '../../src/domain/errors.ts';
import { PLANS } from '../../src/domain/plan.ts';
import type { OrderRepository } from '../../src/resources/orders/repository.ts';
import type { Order } from '../../src/resources/orders/schema.ts';
import type { OrderStatus } from '../../src/resources/orders/rules.ts';
import type { PetStatus } from '../../src/resources/pets/rules.ts';
import type { Idempotency } from '../../src/domain/idempotency.ts';
import type { Store } from '../../src/resources/repositories.ts';
import { type FixtureRules, get, type NewFixture, REX, requireValue } from './fixture.ts';
import { CLIENT, createAccount } from '../support/store.ts';

export const refused = <Code extends ErrorCode>(error: Code) => ({ error });

export const NO_CONTENT = { value: undefined };

/** A fixture with two accounts, and what the tests of orders ask of its store. */
export async function orderFixture(t: TestContext, fresh: NewFixture, rules?: FixtureRules) {
  const fixture = await fresh(t, rules);
  const { accounts, pets, orders } = fixture.store;
  const mine = (await createAccount(accounts, 'mine', 'free', PLANS.free)).id;
  const otherAccount = (await createAccount(accounts, 'theirs', 'free', PLANS.free)).id;
  const once: Idempotency = {
    accountId: mine,
    key: 'sha256 order-1',
    fingerprint: 'a'.repeat(64),
    status: 201,
    location: '/store/orders/{id}',
  };
  return {
    ...fixture,
    ...of(fixture.store),
    mine,
    otherAccount,
    once,
    pets,
    orders,
    /** Adds an animal. Returns its id. */
    addPet: async (status?: PetStatus) =>
      requireValue(await pets.create(CLIENT, { ...REX, ...(status !== undefined && { status }) })).id,
    /** Orders an animal that is available. */
    order: async (petId: bigint, accountId = mine) =>
      requireValue(await orders.create(CLIENT, accountId, { petId })),
  };
}

/** The states of animals and orders in a store. */
export function of({ pets, orders }: Pick<Store, 'pets' | 'orders'>) {
  const orderState = async (id: bigint): Promise<OrderStatus | undefined> =>
    (await findOrder(orders, id))?.status;
  const petState = async (id: bigint) => (await get(pets, id))?.status;
  return {
    orderState,
    petState,
    /** Both, as in `['pending', 'pending']`. */
    states: async ({ id, petId }: Order) => [await petState(petId), await orderState(id)],
  };
}

/** The order of any account with this id. */
export async function findOrder(orders: OrderRepository, id: bigint): Promise<Order | undefined> {
  const found = await orders.getWithAccount(id);
  if ('error' in found) return undefined;
  const { accountId: _, account: __, ...order } = found.value;
  return order;
}
