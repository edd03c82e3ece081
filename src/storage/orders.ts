// Contract: sections 2 and 3.
import type { Actor } from '../domain/audit.ts';
import { instantFromText } from '../domain/instant.ts';
import type { NewOrder, Order, OrderQuery, OrderRepository, OrderStatus } from '../domain/order.ts';
import { transition } from '../domain/pet-status.ts';
import type { PetStatus } from '../domain/pet.ts';
import type { Failure, Result } from '../domain/result.ts';
import { ORDER_STATUSES } from '../domain/statuses.ts';
import { isCurrent, toJson } from '../domain/written.ts';
import { addAudit } from './audit.ts';
import type { Value } from './sql.ts';
import type { Transaction } from './transaction.ts';
import type { Engine, Newest } from './engine.ts';
import { expireDue, expireOrders } from './order-expiry.ts';
import { accountOrder, COLUMNS, type NamedRow, orderFromRow, type OrderRow, ORDERS } from './order-rows.ts';
import { firstId, pageOf } from './page.ts';
import { changeStatus, closeOrder, lockPet } from './pet-state.ts';
import { ACCOUNTS, columnsOf, insertInto } from './tables.ts';

export const TABLES = [ORDERS];

const INSERT = `${insertInto(ORDERS, [
  'account_id',
  'pet_id',
  'quantity',
  'ship_date',
  'status',
  'created_at',
  'expires_at',
])} RETURNING ${COLUMNS}`;

/** An order of any account. */
const FIND_ANY = `SELECT ${COLUMNS} FROM orders WHERE id = $1`;

const FIND = `${FIND_ANY} AND account_id = $2`;

async function findOrder(
  transaction: Transaction,
  accountId: number,
  id: bigint,
): Promise<Order | undefined> {
  const [row] = await transaction.query<OrderRow>(FIND, [id, accountId]);
  return row && orderFromRow(row);
}

/** The status of an animal, and when its open order expires. */
const LOOK = `SELECT pets.status, expires_at FROM pets
  LEFT JOIN orders ON pet_id = pets.id AND orders.status = 'pending' WHERE pets.id = $1`;

/**
 * Why an animal cannot be ordered now, or undefined if it may be possible. It takes no lock. When a thousand requests
 * order one animal at once, nearly all are refused here, and with locks they would wait for each other.
 */
async function orderFault(
  transaction: Transaction,
  petId: bigint,
): Promise<Failure<'invalid_request' | 'conflict'> | undefined> {
  const [row] = await transaction.query<[status: PetStatus | null, expiresAt: bigint | null]>(LOOK, [petId]);
  if (row === undefined) return { error: 'invalid_request' };
  const [status, expiresAt] = row;
  const isOverdue = expiresAt !== null && Number(expiresAt) <= (await transaction.now());
  return isOverdue || mayOrder(status ?? undefined, expiresAt !== null) ? undefined : { error: 'conflict' };
}

function mayOrder(status: PetStatus | undefined, hasOpenOrder: boolean): boolean {
  return transition('order made', status, hasOpenOrder) !== undefined;
}

/** Makes an order that expires `hold` milliseconds later. */
async function createOrder(
  transaction: Transaction,
  accountId: number,
  { petId, shipDate }: NewOrder,
  hold: number,
): Promise<Result<Order, 'invalid_request' | 'conflict'>> {
  const fault = await orderFault(transaction, petId);
  if (fault !== undefined) return fault;
  const state = await lockPet(transaction, petId);
  if (state === undefined) return { error: 'invalid_request' };
  const { pet, openOrder } = state;
  if (!mayOrder(pet.status, openOrder !== undefined)) return { error: 'conflict' };
  await changeStatus(transaction, pet, 'order made', false);
  const now = await transaction.now();
  const shipped = shipDate === undefined ? null : (instantFromText(shipDate) ?? null);
  const values = [accountId, petId, 1, shipped, 'pending', now, now + hold];
  const [row] = await transaction.query<OrderRow>(INSERT, values);
  if (row === undefined) throw new Error('The database returned no id.');
  return { value: orderFromRow(row) };
}

async function completeOrder(
  transaction: Transaction,
  accountId: number,
  id: bigint,
): Promise<Result<Order, 'not_found' | 'conflict'>> {
  const order = await findOrder(transaction, accountId, id);
  if (order === undefined) return { error: 'not_found' };
  const state = await lockPet(transaction, order.petId);
  if (state?.openOrder !== id) return { error: 'conflict' };
  await closeOrder(transaction, state.pet, id, 'complete');
  return { value: { ...order, status: 'complete', complete: true } };
}

async function cancelOrder(
  transaction: Transaction,
  accountId: number,
  id: bigint,
  ifMatch: readonly string[] | undefined,
): ReturnType<OrderRepository['cancel']> {
  const found = await findOrder(transaction, accountId, id);
  if (found === undefined) return { error: 'not_found' };
  const state = await lockPet(transaction, found.petId);
  // Read again, because the lock may have waited for another change, or expired the order.
  const order = await findOrder(transaction, accountId, id);
  if (!isCurrent(ifMatch, toJson(order))) return { error: 'precondition_failed' };
  if (order?.status === 'complete') return { error: 'conflict' };
  if (state?.openOrder === id) await closeOrder(transaction, state.pet, id, 'cancelled');
  return { value: undefined };
}

/** Cancels an order of any account, for an operator. */
async function cancelOrderBy(
  transaction: Transaction,
  actor: Actor,
  id: bigint,
): ReturnType<OrderRepository['cancelBy']> {
  const [row] = await transaction.query<OrderRow>(FIND_ANY, [id]);
  if (row === undefined) return { error: 'not_found' };
  const [, accountId, petId] = row;
  const state = await lockPet(transaction, petId);
  if (state?.openOrder === id) {
    await closeOrder(transaction, state.pet, id, 'cancelled');
    const change = { before: { status: 'pending' }, after: { status: 'cancelled' } };
    const target = { kind: 'order', name: String(id) } as const;
    await addAudit(transaction, actor, {
      action: 'orders cancel',
      target,
      accountId: Number(accountId),
      ...change,
    });
  } else if ((await findOrder(transaction, Number(accountId), id))?.status === 'complete') {
    return { error: 'conflict' };
  }
  return { value: undefined };
}

export const WRITES = {
  create: createOrder,
  complete: completeOrder,
  cancel: cancelOrder,
  cancelBy: cancelOrderBy,
  expire: expireOrders,
};

/** The statement for a page. An index alone answers it, however many orders there are. */
export function pageQuery(
  newest: Newest,
  { accountId, limit, status, petId, before }: OrderQuery,
): { sql: string; values: Value[] } {
  const values: Value[] = [firstId(before)];
  const place = (value: Value) => `$${values.push(value)}`;
  const columns = {
    ...(accountId !== undefined && { account_id: place(accountId) }),
    ...(petId !== undefined && { pet_id: place(petId) }),
  };
  // One more than asked for.
  const page = (its: typeof columns & { status?: string }) =>
    `SELECT ${COLUMNS} FROM orders ${newest(its, '$1')} LIMIT ${limit + 1}`;
  if (status !== undefined) return { sql: page({ ...columns, status: place(status) }), values };
  if (accountId === undefined) return { sql: page(columns), values };
  // The indexes by account have the status before the id, so a page of any status merges the pages of all.
  const pages = ORDER_STATUSES.map(
    (each) => `SELECT * FROM (${page({ ...columns, status: `'${each}'` })}) AS ${each}`,
  );
  const sql = `SELECT * FROM (${pages.join(' UNION ALL ')}) AS merged ORDER BY id DESC LIMIT ${limit + 1}`;
  return { sql, values };
}

/**
 * The orders of the animal `$1`, with the names of their accounts. CROSS, because the index has the account before the
 * animal, and SQLite would read all orders instead.
 */
function ordersOfPet(status: OrderStatus | undefined): string {
  return `SELECT ${columnsOf(ORDERS, 'o')}, a.name FROM accounts a CROSS JOIN orders o
    WHERE o.account_id = a.id AND o.pet_id = $1 ${status === undefined ? '' : 'AND o.status = $2'} ORDER BY o.id DESC`;
}

/** `sql` with the name of the account behind the columns of each order. */
function joinAccounts(sql: string): string {
  return `SELECT found.*, accounts.name FROM (${sql}) AS found JOIN accounts ON accounts.id = found.account_id
    ORDER BY found.id DESC`;
}

/**
 * Runs work on the same id one after the other, so that a crowd that wants one animal takes one connection and not all of
 * them. When one fails, those that wait behind it fail too, so nobody waits longer for a database that does not answer.
 */
function inTurn(): <T>(id: bigint, work: () => Promise<T>) => Promise<T> {
  const last = new Map<bigint, Promise<unknown>>();
  return async (id, work) => {
    const turn = (last.get(id) ?? Promise.resolve()).then(work);
    last.set(id, turn);
    try {
      return await turn;
    } finally {
      if (last.get(id) === turn) last.delete(id);
    }
  };
}

export function open(engine: Engine, { orderHold }: { readonly orderHold: number }): OrderRepository {
  const orderInTurn = inTurn();
  return {
    async list(query) {
      const { sql, values } = pageQuery(engine.newest, query);
      return pageOf((await engine.read<OrderRow>(sql, values)).map(orderFromRow), query.limit);
    },
    async listWithAccounts(query) {
      const { sql, values } = pageQuery(engine.newest, query);
      const rows = await engine.read<NamedRow>(joinAccounts(sql), values);
      return pageOf(rows.map(accountOrder), query.limit);
    },
    async listOfPet(petId, status) {
      const values = status === undefined ? [petId] : [petId, status];
      return (await engine.read<NamedRow>(ordersOfPet(status), values)).map(accountOrder);
    },
    async getWithAccount(id) {
      const [row] = await engine.read<NamedRow>(joinAccounts(FIND_ANY), [id]);
      return row && toJson(accountOrder(row));
    },
    async *readAll() {
      await using snapshot = await engine.snapshot();
      const names = new Map<bigint, string>();
      for await (const rows of snapshot.rows(ACCOUNTS)) for (const [id, name] of rows) names.set(id, name);
      for await (const rows of snapshot.rows(ORDERS))
        yield* rows.map((row) => accountOrder([...row, names.get(row[1]) ?? '']));
    },
    async get(accountId, id) {
      const [row] = await engine.read<OrderRow>(FIND, [id, accountId]);
      return row && toJson(orderFromRow(row));
    },
    create: (accountId, order, idempotency) =>
      orderInTurn(order.petId, () => engine.writeOnce(idempotency, createOrder, accountId, order, orderHold)),
    complete: (accountId, id, idempotency) => engine.writeOnce(idempotency, completeOrder, accountId, id),
    cancel: (accountId, id, ifMatch) => engine.write(cancelOrder, accountId, id, ifMatch),
    cancelBy: (actor, id) => engine.write(cancelOrderBy, actor, id),
    expireDue: () => expireDue(engine),
  };
}
