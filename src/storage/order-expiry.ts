// Contract: section 3.12.
import { statusAfter } from '../domain/pet-status.ts';
import type { Value } from './sql.ts';
import type { Transaction } from './transaction.ts';
import type { Engine } from './engine.ts';

/** Orders that one transaction expires: few enough that it holds their animals for milliseconds. */
const EXPIRED_AT_ONCE = 100;

const IS_DUE = `SELECT 1 FROM orders WHERE status = 'pending' AND expires_at <= $1 LIMIT 1`;

/** Leaves out animals that another transaction changes now, so it never waits: others wait for its animals. */
const LOCK_DUE = `SELECT pet_id FROM orders JOIN pets ON pets.id = pet_id
  WHERE orders.status = 'pending' AND expires_at <= $1
  ORDER BY expires_at LIMIT ${EXPIRED_AT_ONCE} FOR UPDATE OF pets SKIP LOCKED`;

/** Places for the ids of as many animals, from `$2` on. */
const THEIR_IDS = Array.from({ length: EXPIRED_AT_ONCE }, (_, index) => `$${index + 2}`).join(', ');

/** A new look, because another transaction may have closed an order before its animal was locked. */
const EXPIRE = `UPDATE orders SET status = 'expired'
  WHERE status = 'pending' AND expires_at <= $1 AND pet_id IN (${THEIR_IDS}) RETURNING pet_id`;

const SET_STATUS = `UPDATE pets SET status = $1 WHERE id IN (${THEIR_IDS})`;

export async function expireOrders(transaction: Transaction): Promise<boolean> {
  const now = Math.floor(await transaction.now());
  const due = await transaction.query<PetIdRow>(LOCK_DUE, [now]);
  if (due.length === 0) return false;
  const expired = await transaction.query<PetIdRow>(EXPIRE, [now, ...theirIds(due)]);
  await transaction.query(SET_STATUS, [statusAfter('order expired', 'pending', true), ...theirIds(expired)]);
  return due.length === EXPIRED_AT_ONCE;
}

type PetIdRow = readonly [petId: bigint];

/** A value for each of THEIR_IDS. */
function theirIds(rows: readonly PetIdRow[]): Value[] {
  return Array.from({ length: EXPIRED_AT_ONCE }, (_, index) => rows[index]?.[0] ?? null);
}

/** Expires a portion of the orders whose time has passed. Resolves with whether there may be more. */
export async function expireDue(engine: Engine): Promise<boolean> {
  // Usually there are none, and a read costs less than a write.
  const due = await engine.read(IS_DUE, [Math.floor(await engine.now())]);
  return due.length > 0 && (await engine.write(expireOrders));
}
