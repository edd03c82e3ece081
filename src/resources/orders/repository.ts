// Contract: sections 2 and 3.
import type { Actor } from '../../domain/audit.ts';
import { instantFromText, textFromInstant } from '../../domain/instant.ts';
import type { Idempotency } from '../../domain/idempotency.ts';
import { firstId, type Page, toPage } from '../../domain/page.ts';
import { isCurrent, type Json, toJson } from '../../domain/json.ts';
import type { Failure, Result } from '../../domain/result.ts';
import { addAudit } from '../audit/repository.ts';
import type { Engine } from '../../storage/engine.ts';
import { empty, join, raw, type Row, type Sql, sql } from '../../storage/sql.ts';
import { enumeration, instant, int64, integer, optional, type Stored, Table } from '../../storage/table.ts';
import type { Transaction } from '../../storage/transaction.ts';
import { ACCOUNTS } from '../accounts/repository.ts';
import { changeStatus, type Hold, lockPet, PETS } from '../pets/repository.ts';
import { type PetEvent, type PetStatus, statusAfter, transition } from '../pets/rules.ts';
import type { Pet } from '../pets/schema.ts';
import { ORDER_STATUSES, type OrderStatus } from './rules.ts';
import type { NewOrder, Order } from './schema.ts';

/** Orders belong to the account that made them. */
const ORDERS = new Table(
  'orders',
  {
    id: int64,
    accountId: integer,
    petId: int64,
    quantity: integer,
    shipDate: optional(instant),
    status: enumeration(ORDER_STATUSES),
    createdAt: instant,
    expiresAt: instant,
  },
  { key: ['id'], assignsIds: true },
);

export const TABLES = [ORDERS];

type OrderRow = Stored<typeof ORDERS>;

/** An order with the name of its account, as operators see it. */
export type AccountOrder = Order & { readonly account: string };

export type OrderQuery = {
  /** 1 to 100. */
  readonly limit: number;
  readonly status?: OrderStatus | undefined;
  /** Only orders with a smaller id: where the page before ended. */
  readonly before?: bigint | undefined;
} & (
  | { readonly accountId: number; readonly petId?: bigint | undefined }
  /** Orders of all accounts, which only operators may see. No index finds them by their animal. */
  | { readonly accountId: undefined; readonly petId?: undefined }
);

function toOrder({ id, petId, shipDate, status, createdAt, expiresAt }: OrderRow): Order {
  return {
    id,
    petId,
    quantity: 1n,
    ...(shipDate !== undefined && { shipDate: textFromInstant(shipDate) }),
    status,
    complete: status === 'complete',
    createdAt: textFromInstant(createdAt),
    expiresAt: textFromInstant(expiresAt),
  };
}

function toAccountOrder(row: OrderRow, account: string): AccountOrder {
  const { id, ...order } = toOrder(row);
  return { id, account, ...order };
}

/** The order with this id: of this account, or of any. */
async function findOrder(
  queries: Pick<Transaction, 'select'>,
  id: bigint,
  accountId?: number,
): Promise<OrderRow | undefined> {
  const ofAccount = accountId === undefined ? empty : sql`AND account_id = ${accountId}`;
  const [order] = await queries.select(ORDERS, sql`WHERE id = ${id} ${ofAccount}`);
  return order;
}

/** The hold of a locked animal: its open order, unless the time of that order has passed. Then it expires here. */
export async function settleHold(transaction: Transaction, pet: Pet): Promise<Hold> {
  // An animal with an open order is pending.
  if (pet.status !== 'pending') return { pet, openOrder: undefined };
  const [order] = await transaction.select(ORDERS, sql`WHERE pet_id = ${pet.id} AND status = 'pending'`);
  if (order === undefined) return { pet, openOrder: undefined };
  if (order.expiresAt > (await transaction.now())) return { pet, openOrder: order.id };
  return { pet: await closeOrder(transaction, pet, order.id, 'expired'), openOrder: undefined };
}

const CLOSING_EVENTS = {
  complete: 'order completed',
  cancelled: 'order cancelled',
  expired: 'order expired',
} as const satisfies Partial<Record<OrderStatus, PetEvent>>;

/** Closes the open order of a locked animal. Returns the animal as it is then. */
async function closeOrder(
  transaction: Transaction,
  pet: Pet,
  orderId: bigint,
  status: keyof typeof CLOSING_EVENTS,
): Promise<Pet> {
  await transaction.query(sql`UPDATE orders SET ${ORDERS.set({ status })} WHERE id = ${orderId}`);
  return changeStatus(transaction, pet, CLOSING_EVENTS[status], true);
}

/**
 * Why an animal cannot be ordered now, or undefined if it may be possible. It takes no lock. When a thousand requests
 * order one animal at once, nearly all are refused here, and with locks they would wait for each other.
 */
async function findOrderFault(
  transaction: Transaction,
  petId: bigint,
): Promise<Failure<'invalid_request' | 'conflict'> | undefined> {
  const [row] = await transaction.query<[status: PetStatus | null, expiresAt: bigint | null]>(sql`
    SELECT pets.status, expires_at FROM pets
    LEFT JOIN orders ON pet_id = pets.id AND orders.status = 'pending' WHERE pets.id = ${petId}`);
  if (row === undefined) return { error: 'invalid_request' };
  const [status, expiresAt] = row;
  const isOverdue = expiresAt !== null && Number(expiresAt) <= (await transaction.now());
  return isOverdue || mayOrder(status ?? undefined, expiresAt !== null) ? undefined : { error: 'conflict' };
}

function mayOrder(status: PetStatus | undefined, hasOpenOrder: boolean): boolean {
  return transition('order made', status, hasOpenOrder) !== undefined;
}

/** `invalid_request`: there is no such animal. `conflict`: it is not available. The order expires `hold` milliseconds later. */
async function createOrder(
  transaction: Transaction,
  accountId: number,
  { petId, shipDate }: NewOrder,
  hold: number,
): Promise<Result<Order, 'invalid_request' | 'conflict'>> {
  const fault = await findOrderFault(transaction, petId);
  if (fault !== undefined) return fault;
  const state = await lockPet(transaction, petId);
  if (state === undefined) return { error: 'invalid_request' };
  const { pet, openOrder } = state;
  if (!mayOrder(pet.status, openOrder !== undefined)) return { error: 'conflict' };
  await changeStatus(transaction, pet, 'order made', false);
  const now = Math.floor(await transaction.now());
  const values = {
    accountId,
    petId,
    quantity: 1,
    ...(shipDate !== undefined && { shipDate: instantFromText(shipDate) as number }),
    status: 'pending',
    createdAt: now,
    expiresAt: now + hold,
  } as const;
  const [id] = await transaction.add(ORDERS, [values]);
  return { value: toOrder({ ...values, id: id as bigint }) };
}

/** `conflict`: the order is not pending, or its time has passed. */
async function completeOrder(
  transaction: Transaction,
  accountId: number,
  id: bigint,
): Promise<Result<Order, 'not_found' | 'conflict'>> {
  const order = await findOrder(transaction, id, accountId);
  if (order === undefined) return { error: 'not_found' };
  const state = await lockPet(transaction, order.petId);
  if (state?.openOrder !== id) return { error: 'conflict' };
  await closeOrder(transaction, state.pet, id, 'complete');
  return { value: toOrder({ ...order, status: 'complete' }) };
}

/**
 * An order that is cancelled or expired stays as it is. `conflict`: it is complete. Without `accountId`, it may be of any
 * account, and the audit log shows who cancelled it.
 */
async function cancelOrder(
  transaction: Transaction,
  actor: Actor,
  id: bigint,
  { accountId, ifMatch }: { readonly accountId?: number; readonly ifMatch?: readonly string[] | undefined },
): Promise<Result<undefined, 'not_found' | 'precondition_failed' | 'conflict'>> {
  const found = await findOrder(transaction, id, accountId);
  if (found === undefined) return { error: 'not_found' };
  const state = await lockPet(transaction, found.petId);
  // Read again, because the lock may have waited for another change, or expired the order.
  const order = (await findOrder(transaction, id)) ?? found;
  if (!isCurrent(ifMatch, toJson(toOrder(order)))) return { error: 'precondition_failed' };
  if (order.status === 'complete') return { error: 'conflict' };
  if (state?.openOrder !== id) return { value: undefined };
  await closeOrder(transaction, state.pet, id, 'cancelled');
  if (accountId === undefined)
    await addAudit(transaction, actor, {
      action: 'orders cancel',
      target: { kind: 'order', name: String(id) },
      accountId: order.accountId,
      before: { status: 'pending' },
      after: { status: 'cancelled' },
    });
  return { value: undefined };
}

/** Orders that one transaction expires: few enough that it holds their animals for milliseconds. */
const EXPIRED_AT_ONCE = 100;

/** Expires a portion of the orders whose time has passed. Resolves with whether there may be more. */
async function expireOrders(transaction: Transaction): Promise<boolean> {
  const { dialect } = transaction;
  const now = Math.floor(await transaction.now());
  const isDue = sql`orders.status = 'pending' AND expires_at <= ${now}`;
  // Leaves out animals that another transaction changes now, so it never waits: others wait for its animals.
  const due = await transaction.query<PetIdRow>(sql`
    SELECT pet_id FROM orders JOIN pets ON pets.id = pet_id WHERE ${isDue}
    ORDER BY expires_at LIMIT ${EXPIRED_AT_ONCE} ${dialect.forUpdateOfUnlocked(PETS)}`);
  if (due.length === 0) return false;
  // Checked again under the locks.
  const expired = await transaction.query<PetIdRow>(sql`
    UPDATE orders SET status = 'expired'
    WHERE ${isDue} AND ${dialect.isAnyOf('pet_id', due.map(readPetId))} RETURNING pet_id`);
  const status = statusAfter('order expired', 'pending', true);
  await transaction.query(
    sql`UPDATE pets SET ${PETS.set({ status })} WHERE ${dialect.isAnyOf('id', expired.map(readPetId))}`,
  );
  return due.length === EXPIRED_AT_ONCE;
}

type PetIdRow = readonly [petId: bigint];

function readPetId([petId]: PetIdRow): bigint {
  return petId;
}

export const WRITES = {
  create: createOrder,
  complete: completeOrder,
  cancel: cancelOrder,
  expire: expireOrders,
};

/** The statement for a page, with one order more than `limit`. An index alone answers it, however many orders there are. */
export function pageQuery(
  { dialect }: Pick<Engine, 'dialect'>,
  { accountId, limit, status, petId, before }: OrderQuery,
): Sql {
  const from = firstId(before);
  const rows = raw(String(limit + 1));
  const columns = {
    ...(accountId !== undefined && { account_id: accountId }),
    ...(petId !== undefined && { pet_id: petId }),
  };
  const page = (values: typeof columns & { status?: OrderStatus }) =>
    sql`SELECT ${ORDERS.list} FROM orders ${dialect.newest(values, from)} LIMIT ${rows}`;
  if (status !== undefined) return page({ ...columns, status });
  if (accountId === undefined) return page(columns);
  // The indexes by account have the status before the id, so a page of any status merges the pages of all.
  const pages = ORDER_STATUSES.map(
    (value) => sql`SELECT * FROM (${page({ ...columns, status: value })}) AS ${raw(value)}`,
  );
  return sql`SELECT * FROM (${join(pages, ' UNION ALL ')}) AS merged ORDER BY id DESC LIMIT ${rows}`;
}

/** `statement` with the name of the account behind the columns of each order. */
function joinAccounts(statement: Sql): Sql {
  return sql`SELECT found.*, accounts.name FROM (${statement}) AS found JOIN accounts ON accounts.id = found.account_id
    ORDER BY found.id DESC`;
}

export type OrderRepository = ReturnType<typeof open>;

export function open(engine: Engine, { orderHold }: { readonly orderHold: number }) {
  const orderInTurn = inTurn();
  const readAccountOrders = async (statement: Sql): Promise<readonly AccountOrder[]> =>
    (await engine.read(statement)).map((row: Row) =>
      toAccountOrder(ORDERS.parse(row), String(row[ORDERS.columns.length])),
    );
  return {
    async list(query: OrderQuery): Promise<Page<Order>> {
      const rows = await engine.read(pageQuery(engine, query));
      return toPage(
        rows.map((row) => toOrder(ORDERS.parse(row))),
        query.limit,
      );
    },
    async get(accountId: number, id: bigint): Promise<Json<Order> | undefined> {
      const order = await findOrder(engine, id, accountId);
      return order && toJson(toOrder(order));
    },
    create: (accountId: number, order: NewOrder, idempotency?: Idempotency) =>
      orderInTurn(order.petId, () => engine.writeOnce(idempotency, createOrder, accountId, order, orderHold)),
    complete: (accountId: number, id: bigint, idempotency?: Idempotency) =>
      engine.writeOnce(idempotency, completeOrder, accountId, id),
    cancel: (actor: Actor, id: bigint, options: Parameters<typeof cancelOrder>[3] = {}) =>
      engine.write(cancelOrder, actor, id, options),
    /** Like `list`, for operators. */
    async listWithAccounts(query: OrderQuery): Promise<Page<AccountOrder>> {
      return toPage(await readAccountOrders(joinAccounts(pageQuery(engine, query))), query.limit);
    },
    /** The orders of one animal by all accounts, newest first, in one statement. An animal has few. */
    listOfPet(petId: bigint, status: OrderStatus | undefined): Promise<readonly AccountOrder[]> {
      const ofStatus = status === undefined ? empty : sql`AND o.status = ${status}`;
      // CROSS, because the index has the account before the animal, and SQLite would read all orders instead.
      return readAccountOrders(sql`SELECT ${ORDERS.listAs('o')}, a.name FROM accounts a CROSS JOIN orders o
        WHERE o.account_id = a.id AND o.pet_id = ${petId} ${ofStatus} ORDER BY o.id DESC`);
    },
    /** Like `get`, for operators. */
    async getWithAccount(id: bigint): Promise<AccountOrder | undefined> {
      const statement = sql`SELECT ${ORDERS.list} FROM orders WHERE id = ${id}`;
      const [order] = await readAccountOrders(joinAccounts(statement));
      return order;
    },
    /** Every order as of one instant, oldest first. */
    async *readAll(): AsyncGenerator<AccountOrder> {
      await using snapshot = await engine.snapshot();
      const names = new Map<number, string>();
      for await (const rows of snapshot.rows(ACCOUNTS))
        for (const { id, name } of rows.map((row) => ACCOUNTS.parse(row))) names.set(id, name);
      for await (const rows of snapshot.rows(ORDERS))
        for (const row of rows) {
          const order = ORDERS.parse(row);
          yield toAccountOrder(order, names.get(order.accountId) ?? '');
        }
    },
    /**
     * Expires orders whose time has passed, those that are due longest first, and makes their animals available. Resolves
     * with whether there may be more. Any number of processes may call it at once.
     */
    async expireDue(): Promise<boolean> {
      // Usually there are none, and a read costs less than a write.
      const now = Math.floor(await engine.now());
      const due = await engine.read(
        sql`SELECT 1 FROM orders WHERE status = 'pending' AND expires_at <= ${now} LIMIT 1`,
      );
      return due.length > 0 && (await engine.write(expireOrders));
    },
  };
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
