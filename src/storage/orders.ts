// Contract: sections 2 and 3.
import { INT64_MAX } from '../domain/int64.ts';
import { instantFromText } from '../domain/instant.ts';
import { type NewOrder, type Order, OrderStatus, type OrderRepository } from '../domain/order.ts';
import { transition } from '../domain/pet-status.ts';
import type { Answer, Refusal } from '../domain/ports.ts';
import { isCurrent, toJson } from '../written.ts';
import type { Engine, StoreSettings, Transaction, Value } from './engine.ts';
import { writeOnce } from './idempotency.ts';
import { pageOf } from './page.ts';
import { changeStatus, closeOrder, lockPet } from './pet-state.ts';
import { columnsOf, insertInto, type RowOf, type Table } from './tables.ts';

export const ORDERS = {
  name: 'orders',
  key: ['id'],
  columns: [
    ['id', 'integer'],
    ['account_id', 'integer'],
    ['pet_id', 'integer'],
    ['quantity', 'integer'],
    ['ship_date', 'integer?'],
    ['status', 'text'],
    ['created_at', 'integer'],
    ['expires_at', 'integer'],
  ],
  assignsIds: true,
} as const satisfies Table;

export const TABLES = [ORDERS];

type OrderRow = RowOf<typeof ORDERS>;

const COLUMNS = columnsOf(ORDERS);

const INSERT = `${insertInto(ORDERS, [
  'account_id',
  'pet_id',
  'quantity',
  'ship_date',
  'status',
  'created_at',
  'expires_at',
])} RETURNING ${COLUMNS}`;

/** `$2` is null for any account. */
const FIND = `SELECT ${COLUMNS} FROM orders WHERE id = $1 AND account_id = coalesce($2, account_id)`;

/** Orders that one transaction expires. */
const EXPIRED_AT_ONCE = 500;

const IS_DUE = `SELECT 1 FROM orders WHERE status = 'pending' AND expires_at <= $1 LIMIT 1`;

/** In the order of their ids, and without those that another transaction changes now, so that no two wait for each other. */
const LOCK_DUE = `SELECT id FROM pets WHERE id IN (
    SELECT pet_id FROM orders WHERE status = 'pending' AND expires_at <= $1 ORDER BY expires_at LIMIT ${EXPIRED_AT_ONCE}
  ) ORDER BY id FOR UPDATE SKIP LOCKED`;

export function orderFromRow(row: OrderRow): Order {
  const [id, , petId, , shipDate, status, createdAt, expiresAt] = row;
  return {
    id,
    petId,
    quantity: 1n,
    ...(shipDate !== null && { shipDate: isoTime(shipDate) }),
    status: status as OrderStatus,
    complete: status === 'complete',
    createdAt: isoTime(createdAt),
    expiresAt: isoTime(expiresAt),
  };
}

function isoTime(instant: bigint): string {
  return new Date(Number(instant)).toISOString();
}

async function findOrder(
  transaction: Transaction,
  accountId: number | null,
  id: bigint,
): Promise<Order | undefined> {
  const [row] = await transaction.query<OrderRow>(FIND, [id, accountId]);
  return row && orderFromRow(row);
}

/** Makes an order that expires `hold` milliseconds later. */
async function createOrder(
  transaction: Transaction,
  accountId: number,
  { petId, shipDate }: NewOrder,
  hold: number,
): Promise<Answer<201> | Refusal<'invalid_request' | 'conflict'>> {
  const state = await lockPet(transaction, petId);
  if (state === undefined) return { refused: 'invalid_request' };
  const { pet, openOrder } = state;
  if (transition('order made', pet.status, openOrder !== undefined) === undefined)
    return { refused: 'conflict' };
  await changeStatus(transaction, pet, 'order made', false);
  const now = await transaction.now();
  const shipped = shipDate === undefined ? null : (instantFromText(shipDate) ?? null);
  const values = [accountId, petId, 1, shipped, 'pending', now, now + hold];
  const [row] = await transaction.query<OrderRow>(INSERT, values);
  if (row === undefined) throw new Error('The database returned no id.');
  const order = orderFromRow(row);
  return { status: 201, location: `/store/orders/${order.id}`, json: toJson(order) };
}

async function completeOrder(
  transaction: Transaction,
  accountId: number,
  id: bigint,
): Promise<Answer<200> | Refusal<'not_found' | 'conflict'>> {
  const order = await findOrder(transaction, accountId, id);
  if (order === undefined) return { refused: 'not_found' };
  const state = await lockPet(transaction, order.petId);
  if (state?.openOrder !== id) return { refused: 'conflict' };
  await closeOrder(transaction, state.pet, id, 'complete');
  return {
    status: 200,
    location: undefined,
    json: toJson({ ...order, status: 'complete', complete: true }),
  };
}

async function cancelOrder(
  transaction: Transaction,
  accountId: number | null,
  id: bigint,
  ifMatch: readonly string[] | undefined,
): ReturnType<OrderRepository['cancel']> {
  const found = await findOrder(transaction, accountId, id);
  if (found === undefined) return { refused: 'not_found' };
  const state = await lockPet(transaction, found.petId);
  // Read again, because the lock may have waited for another change, or expired the order.
  const order = await findOrder(transaction, accountId, id);
  if (!isCurrent(ifMatch, toJson(order))) return { refused: 'precondition_failed' };
  if (order?.status === 'complete') return { refused: 'conflict' };
  if (state?.openOrder === id) await closeOrder(transaction, state.pet, id, 'cancelled');
  return { status: 204, location: undefined, json: '' };
}

/** Expires orders whose time has passed. Returns how many. */
async function expireOrders(transaction: Transaction): Promise<number> {
  const now = Math.floor(await transaction.now());
  const due = await transaction.query<[id: bigint]>(LOCK_DUE, [now]);
  // `lockPet` expires the order of its animal.
  for (const [petId] of due) await lockPet(transaction, petId);
  return due.length;
}

export const WRITES = { createOrder, completeOrder, cancelOrder, expireOrders };

export function open(engine: Engine, { orderHold }: Pick<StoreSettings, 'orderHold'>): OrderRepository {
  return {
    async list({ accountId, limit, status, petId, before }) {
      const values: Value[] = [before ?? INT64_MAX];
      const place = (value: Value) => `$${values.push(value)}`;
      const filters = [
        'id < $1',
        ...(accountId === undefined ? [] : [`account_id = ${place(accountId)}`]),
        ...(petId === undefined ? [] : [`pet_id = ${place(petId)}`]),
        ...(status === undefined ? [] : [`status = ${place(status)}`]),
      ];
      const sql = `SELECT ${COLUMNS} FROM orders WHERE ${filters.join(' AND ')} ORDER BY id DESC LIMIT ${limit + 1}`;
      return pageOf((await engine.read<OrderRow>(sql, values)).map(orderFromRow), limit);
    },
    async get(accountId, id) {
      const [row] = await engine.read<OrderRow>(FIND, [id, accountId ?? null]);
      return row && toJson(orderFromRow(row));
    },
    create: (accountId, order, idempotency) =>
      writeOnce(engine, idempotency, createOrder, accountId, order, orderHold),
    complete: (accountId, id, idempotency) => writeOnce(engine, idempotency, completeOrder, accountId, id),
    cancel: (accountId, id, ifMatch) => engine.write(cancelOrder, accountId ?? null, id, ifMatch),
    async expireDue() {
      // Usually there are none, and a read costs less than a write.
      const isDue = await engine.read(IS_DUE, [Math.floor(await engine.now())]);
      if (isDue.length === 0) return;
      while ((await engine.write(expireOrders)) === EXPIRED_AT_ONCE);
    },
  };
}
