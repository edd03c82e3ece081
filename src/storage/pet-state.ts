// Contract: section 2.
import { type PetEvent, statusAfter } from '../domain/pet-status.ts';
import type { OrderStatus } from '../domain/order.ts';
import type { Pet } from '../domain/pet.ts';
import type { Transaction } from './transaction.ts';
import { PETS } from './pets.ts';
import { sql } from './sql.ts';

/** An animal that a transaction has locked. */
export interface PetState {
  readonly pet: Pet;
  /** The id of its open order, if it has one. */
  readonly openOrder: bigint | undefined;
}

const OPEN_ORDER = `SELECT id, expires_at FROM orders WHERE pet_id = $1 AND status = 'pending'`;

/**
 * Locks an animal, so that nothing else happens to it or to its orders until the commit. Expires its open order first if its
 * time has passed. Every write that changes a status or an order begins here, in this order of locks.
 */
export async function lockPet(transaction: Transaction, id: bigint): Promise<PetState | undefined> {
  const [pet] = await transaction.select(PETS, sql`WHERE id = ${id} ${transaction.dialect.forUpdate()}`);
  if (pet === undefined) return undefined;
  // An animal with an open order is pending.
  if (pet.status !== 'pending') return { pet, openOrder: undefined };
  const [open] = await transaction.query<[id: bigint, expiresAt: bigint]>(OPEN_ORDER, [id]);
  if (open === undefined) return { pet, openOrder: undefined };
  const [openOrder, expiresAt] = open;
  if (Number(expiresAt) > (await transaction.now())) return { pet, openOrder };
  return { pet: await closeOrder(transaction, pet, openOrder, 'expired'), openOrder: undefined };
}

const EVENT_OF = {
  complete: 'order completed',
  cancelled: 'order cancelled',
  expired: 'order expired',
} as const satisfies Partial<Record<OrderStatus, PetEvent>>;

/** Closes the open order of a locked animal. Returns the animal as it is then. */
export async function closeOrder(
  transaction: Transaction,
  pet: Pet,
  orderId: bigint,
  status: keyof typeof EVENT_OF,
): Promise<Pet> {
  await transaction.query('UPDATE orders SET status = $2 WHERE id = $1', [orderId, status]);
  return changeStatus(transaction, pet, EVENT_OF[status], true);
}

/** Changes the status of a locked animal as the table of transitions says. */
export async function changeStatus(
  transaction: Transaction,
  pet: Pet,
  event: PetEvent,
  hasOpenOrder: boolean,
): Promise<Pet> {
  const status = statusAfter(event, pet.status, hasOpenOrder);
  await transaction.query('UPDATE pets SET status = $2 WHERE id = $1', [pet.id, status]);
  return { ...pet, status };
}
