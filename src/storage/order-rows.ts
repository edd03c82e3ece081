// Contract: sections 2 and 3.
import { textFromInstant } from '../domain/instant.ts';
import type { AccountOrder, Order, OrderStatus } from '../domain/order.ts';
import { columnsOf, type RowOf, type Table } from './tables.ts';

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

export type OrderRow = RowOf<typeof ORDERS>;

export const COLUMNS = columnsOf(ORDERS);

export function orderFromRow(row: OrderRow | NamedRow): Order {
  const [id, , petId, , shipDate, status, createdAt, expiresAt] = row;
  return {
    id,
    petId,
    quantity: 1n,
    ...(shipDate !== null && { shipDate: textFromInstant(Number(shipDate)) }),
    status: status as OrderStatus,
    complete: status === 'complete',
    createdAt: textFromInstant(Number(createdAt)),
    expiresAt: textFromInstant(Number(expiresAt)),
  };
}

/** The row of an order, and the name of its account. */
export type NamedRow = readonly [...OrderRow, account: string];

export function accountOrder(row: NamedRow): AccountOrder {
  const { id, ...order } = orderFromRow(row);
  return { id, account: row[ORDERS.columns.length], ...order };
}
