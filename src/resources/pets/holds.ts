// Contract: section 3. What open orders allow of animals. Orders answer.
import { sql } from '../../storage/sql.ts';
import { ask, Question, type Transaction } from '../../storage/transaction.ts';
import type { Claim } from './rules.ts';
import { type PetRow, PETS } from './table.ts';

/** An animal that a transaction has locked, and the id of its open order, if it has one. */
export interface Hold {
  readonly pet: PetRow;
  readonly openOrder: bigint | undefined;
}

/** The hold of a locked animal. An open order whose time has passed expires first. */
export const SETTLE_HOLD = new Question<[pet: PetRow], Hold>(async (_transaction, pet) => ({
  pet,
  openOrder: undefined,
}));

/** What orders say of the status of these animals. It changes nothing: an order whose time has passed says nothing. */
export const FIND_CLAIMS = new Question<[ids: readonly bigint[]], ReadonlyMap<bigint, Claim>>(
  async () => new Map(),
);

/** Locks an animal until the commit. Every change of its status or its orders begins here, in this order of locks. */
export async function lockPet(transaction: Transaction, id: bigint): Promise<Hold | undefined> {
  const [pet] = await transaction.select(PETS, sql`WHERE id = ${id} ${transaction.dialect.forUpdate()}`);
  return pet && ask(transaction, SETTLE_HOLD, pet);
}

/**
 * The claims on locked animals. Unless this is a trial, overdue orders expire first, and `pets` gets their animals as they
 * are then.
 */
export async function settleClaims(
  transaction: Transaction,
  pets: PetRow[],
  isTrial = false,
): Promise<ReadonlyMap<bigint, Claim>> {
  if (!isTrial)
    for (const [index, pet] of pets.entries())
      if (pet.status === 'pending') pets[index] = (await ask(transaction, SETTLE_HOLD, pet)).pet;
  return ask(
    transaction,
    FIND_CLAIMS,
    pets.map(({ id }) => id),
  );
}
