// Contract: sections 2 and 3.
import type { Owner } from '../../domain/account.ts';
import { type Actor, type AuditChange, SERVICE } from '../../domain/audit.ts';
import { instantFromText, textFromInstant } from '../../domain/instant.ts';
import { Batcher } from '../../domain/batcher.ts';
import type { Idempotency, Repeatable } from '../../domain/idempotency.ts';
import { firstId, type Page, type PageQuery, toPage } from '../../domain/page.ts';
import { INT64_MAX } from '../../domain/int64.ts';
import { isCurrent, toJson } from '../../domain/json.ts';
import type { Failure, Result } from '../../domain/result.ts';
import { addAudit } from '../audit/repository.ts';
import { type NewEvent, recordEvents } from '../events/repository.ts';
import type { Engine } from '../../storage/engine.ts';
import { empty, join, raw, type Sql, sql } from '../../storage/sql.ts';
import {
  createParser,
  enumeration,
  instant,
  int64,
  integer,
  optional,
  type Stored,
  Table,
  text,
} from '../../storage/table.ts';
import { answer, type Transaction } from '../../storage/transaction.ts';
import { ACCOUNTS } from '../accounts/repository.ts';
import { changeStatus } from '../pets/changes.ts';
import { FIND_CLAIMS, type Hold, lockPet, SETTLE_HOLD } from '../pets/holds.ts';
import { type Claim, PET_STATUSES, type PetEvent, type PetStatus, transition } from '../pets/rules.ts';
import { type PetRow, PETS } from '../pets/table.ts';
import type { EventType } from '../events/rules.ts';
import { MOST_COUNTED, ORDER_STATUSES, type OrderStatus } from './rules.ts';
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
    /** Absent also if a version without this column completed the order. */
    completedAt: optional(instant),
    version: integer,
  },
  { key: ['id'], assignsIds: true },
);

export const TABLES = [ORDERS];

type OrderRow = Stored<typeof ORDERS>;

const parseAccountOrder = createParser({ ...ORDERS.codecs, account: text });

/** An order with its account, as operators see it. */
export type AccountOrder = Order & { readonly accountId: number; readonly account: string };

export interface OrderQuery extends PageQuery {
  /** Undefined: orders of all accounts, which only operators may see. */
  readonly accountId: number | undefined;
  readonly petId?: bigint | undefined;
  readonly status?: OrderStatus | undefined;
}

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

function toAccountOrder(row: OrderRow & Pick<AccountOrder, 'account'>): AccountOrder {
  const { id, ...order } = toOrder(row);
  const { accountId, account } = row;
  return { id, accountId, account, ...order };
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
async function settleHold(transaction: Transaction, pet: PetRow): Promise<Hold> {
  // An animal with an open order is pending.
  if (pet.status !== 'pending') return { pet, openOrder: undefined };
  const [order] = await transaction.select(ORDERS, sql`WHERE pet_id = ${pet.id} AND status = 'pending'`);
  if (order === undefined) return { pet, openOrder: undefined };
  if (order.expiresAt > (await transaction.now())) return { pet, openOrder: order.id };
  return { pet: await closeOrder(transaction, SERVICE, pet, order, 'expired'), openOrder: undefined };
}

const CLOSING_EVENTS = {
  complete: 'order completed',
  cancelled: 'order cancelled',
  expired: 'order expired',
} as const satisfies Partial<Record<OrderStatus, PetEvent>>;

/** Closes the open order of a locked animal. Returns the animal as it is then. */
async function closeOrder(
  transaction: Transaction,
  actor: Actor,
  pet: PetRow,
  order: OrderRow,
  status: keyof typeof CLOSING_EVENTS,
): Promise<PetRow> {
  const changes = { status, version: order.version + 1 };
  const completed = status === 'complete' ? sql`, completed_at = ${transaction.clock}` : empty;
  const update = sql`UPDATE orders SET ${ORDERS.set(changes)}${completed} WHERE id = ${order.id}`;
  const pets = changeStatus(transaction, actor, pet, CLOSING_EVENTS[status], true);
  await recordEvents(
    transaction,
    [orderEvent(actor, { ...order, ...changes }), pets.event],
    [update, pets.statement],
  );
  return pets.pet;
}

const EVENT_TYPES = {
  pending: 'order.created',
  complete: 'order.completed',
  cancelled: 'order.cancelled',
  expired: 'order.expired',
} as const satisfies Record<OrderStatus, EventType>;

/** The event of an order that has just got its status. */
function orderEvent(actor: Actor, order: OrderRow): NewEvent {
  const { accountId, status, version } = order;
  const type = EVENT_TYPES[status];
  return { accountId, environment: '', type, actor, version, data: toJson(toOrder(order)) };
}

const parseHold = createParser({
  status: optional(enumeration(PET_STATUSES)),
  expiresAt: optional(instant),
});

/**
 * Why an animal cannot be ordered now, or undefined if it may be possible. It takes no lock. When a thousand requests
 * order one animal at once, nearly all are refused here, and with locks they would wait for each other.
 */
async function findRefusal(
  transaction: Transaction,
  petId: bigint,
): Promise<Failure<'invalid_request' | 'conflict'> | undefined> {
  const [row] = await transaction.query(sql`
    SELECT pets.status, expires_at FROM pets
    LEFT JOIN orders ON pet_id = pets.id AND orders.status = 'pending' WHERE pets.id = ${petId}`);
  if (row === undefined) return { error: 'invalid_request' };
  const { status, expiresAt } = parseHold(row);
  const isOverdue = expiresAt !== undefined && expiresAt <= (await transaction.now());
  return isOverdue || mayOrder(status, expiresAt !== undefined) ? undefined : { error: 'conflict' };
}

function mayOrder(status: PetStatus | undefined, hasOpenOrder: boolean): boolean {
  return transition('order made', status, hasOpenOrder) !== undefined;
}

/** Locks of the database: this number and the id of an account, beyond all other numbers that are locked. */
const ACCOUNT_LOCKS = 1n << 62n;

/**
 * How many orders of an account are open at the instant `now`, at most `most`. Newest first, so that orders which wait for their
 * expiry come last.
 */
export function countOpen(
  { dialect }: Pick<Engine, 'dialect'>,
  accountId: number,
  now: Sql,
  most: number,
): Sql {
  const pending = dialect.newest({ account_id: accountId, status: 'pending' }, INT64_MAX);
  return sql`SELECT count(*) FROM (
    SELECT 1 FROM (SELECT expires_at FROM ${dialect.indexedBy(ORDERS, 'orders_by_account')} ${pending}) AS pending
    WHERE expires_at > ${now} LIMIT ${raw(String(most))}) AS open`;
}

const parseOpen = createParser({ now: instant, count: integer });

/** What an account may do with orders. */
interface OrderRules {
  /** Milliseconds until an order expires. */
  readonly hold: number;
  /** Open orders that the account may have. */
  readonly mostOpen: number;
}

/** `invalid_request`: there is no such animal. `conflict`: it is not available, or the account has too many open orders. */
async function createOrder(
  transaction: Transaction,
  actor: Actor,
  accountId: number,
  { petId, shipDate }: NewOrder,
  { hold, mostOpen }: OrderRules,
): Promise<Result<Order, 'invalid_request' | 'conflict'>> {
  const refusal = await findRefusal(transaction, petId);
  if (refusal !== undefined) return refusal;
  const state = await lockPet(transaction, petId);
  if (state === undefined) return { error: 'invalid_request' };
  const { pet, openOrder } = state;
  if (!mayOrder(pet.status, openOrder !== undefined)) return { error: 'conflict' };
  // The last lock, so that nobody waits for an animal under it.
  await transaction.takeLock(ACCOUNT_LOCKS + BigInt(accountId));
  const counted = countOpen(transaction, accountId, transaction.clock, mostOpen);
  const [row = []] = await transaction.query(sql`SELECT ${transaction.clock}, (${counted})`);
  const { now, count } = parseOpen(row);
  if (count >= mostOpen) return { error: 'conflict', message: tooManyOpen(mostOpen) };
  const values = {
    accountId,
    petId,
    quantity: 1,
    ...(shipDate !== undefined && { shipDate: instantFromText(shipDate) as number }),
    status: 'pending',
    createdAt: now,
    expiresAt: now + hold,
    version: 1,
  } as const;
  const [id] = await transaction.add(ORDERS, [values]);
  const order = { ...values, id: id as bigint };
  const change = changeStatus(transaction, actor, pet, 'order made', false);
  await recordEvents(transaction, [orderEvent(actor, order), change.event], [change.statement]);
  return { value: toOrder(order) };
}

function tooManyOpen(mostOpen: number): string {
  const orders = mostOpen === 1 ? '1 open order' : `${mostOpen} open orders`;
  return `This account may have at most ${orders}: complete or cancel others first.`;
}

/**
 * `conflict`: the order is not pending, or its time has passed. Without `accountId`, it may be of any account, and the audit
 * log shows who completed it.
 */
async function completeOrder(
  transaction: Transaction,
  actor: Actor,
  id: bigint,
  { accountId }: Owner,
): Promise<Result<Order, 'not_found' | 'conflict'>> {
  const order = await findOrder(transaction, id, accountId);
  if (order === undefined) return { error: 'not_found' };
  const state = await lockPet(transaction, order.petId);
  if (state?.openOrder !== id) return { error: 'conflict' };
  await closeOrder(transaction, actor, state.pet, order, 'complete');
  if (accountId === undefined) await addAudit(transaction, actor, describeClosing(order, 'complete'));
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
  { accountId, ifMatch }: Owner & { readonly ifMatch?: readonly string[] | undefined },
): Promise<Result<undefined, 'not_found' | 'precondition_failed' | 'conflict'>> {
  const found = await findOrder(transaction, id, accountId);
  if (found === undefined) return { error: 'not_found' };
  const state = await lockPet(transaction, found.petId);
  // Read again, because the lock may have waited for another change, or expired the order.
  const order = (await findOrder(transaction, id)) ?? found;
  if (!isCurrent(ifMatch, toJson(toOrder(order)))) return { error: 'precondition_failed' };
  if (order.status === 'complete') return { error: 'conflict' };
  if (state?.openOrder !== id) return { value: undefined };
  await closeOrder(transaction, actor, state.pet, order, 'cancelled');
  if (accountId === undefined) await addAudit(transaction, actor, describeClosing(order, 'cancelled'));
  return { value: undefined };
}

function describeClosing({ id, accountId }: OrderRow, status: 'complete' | 'cancelled'): AuditChange {
  return {
    action: status === 'complete' ? 'orders complete' : 'orders cancel',
    target: { kind: 'order', name: String(id) },
    accountId,
    before: { status: 'pending' },
    after: { status },
  };
}

/** Orders that one transaction expires: few enough that it holds their animals for milliseconds. */
const EXPIRED_AT_ONCE = 100;

const isDue = (now: number): Sql => sql`orders.status = 'pending' AND expires_at <= ${now}`;

/** Whether the time of an open order has passed. */
export function anyDueQuery({ dialect }: Pick<Engine, 'dialect'>, now: number): Sql {
  return sql`SELECT 1 FROM ${dialect.indexedBy(ORDERS, 'orders_due')} WHERE ${isDue(now)} LIMIT 1`;
}

/**
 * Locks a portion of the animals whose open orders are due, those that are due longest first. Leaves out animals that another
 * transaction changes now, so it never waits: others wait for its animals.
 */
export function dueQuery({ dialect }: Pick<Engine, 'dialect'>, now: number): Sql {
  return sql`SELECT pet_id FROM ${dialect.indexedBy(ORDERS, 'orders_due')} JOIN pets ON pets.id = pet_id
    WHERE ${isDue(now)} ORDER BY expires_at LIMIT ${EXPIRED_AT_ONCE} ${dialect.forUpdateOfUnlocked(PETS)}`;
}

/** The orders of these animals that meet the condition. */
export function petOrdersQuery(
  { dialect }: Pick<Engine, 'dialect'>,
  petIds: readonly bigint[],
  condition: Sql,
): Sql {
  return sql`SELECT ${ORDERS.list} FROM ${dialect.indexedBy(ORDERS, 'orders_by_pet_and_account')}
    WHERE ${dialect.isAnyOf('pet_id', petIds)} AND ${condition}`;
}

async function findPetOrders(
  transaction: Transaction,
  petIds: readonly bigint[],
  condition: Sql,
): Promise<readonly OrderRow[]> {
  return (await transaction.query(petOrdersQuery(transaction, petIds, condition))).map(ORDERS.parse);
}

/** Expires a portion of the orders whose time has passed. Resolves with whether there may be more. */
async function expireOrders(transaction: Transaction): Promise<boolean> {
  const { dialect } = transaction;
  const now = Math.floor(await transaction.now());
  const due = await transaction.query<readonly [petId: bigint]>(dueQuery(transaction, now));
  if (due.length === 0) return false;
  const ids = due.map(([petId]) => petId);
  // Checked again under the locks.
  const orders = await findPetOrders(transaction, ids, isDue(now));
  const pets = await transaction.select(PETS, sql`WHERE ${dialect.isAnyOf('id', ids)}`);
  const byId = new Map(pets.map((pet) => [pet.id, pet]));
  for (const order of orders) {
    const pet = byId.get(order.petId);
    if (pet !== undefined) await closeOrder(transaction, SERVICE, pet, order, 'expired');
  }
  return due.length === EXPIRED_AT_ONCE;
}

/** What orders say of the status of these animals. */
async function findClaims(
  transaction: Transaction,
  ids: readonly bigint[],
): Promise<ReadonlyMap<bigint, Claim>> {
  if (ids.length === 0) return new Map();
  const orders = await findPetOrders(transaction, ids, sql`status IN ('pending', 'complete')`);
  const now = await transaction.now();
  const claims = new Map<bigint, Claim>();
  for (const { petId, status } of orders) if (status === 'complete') claims.set(petId, 'adopted');
  for (const { petId, status, expiresAt } of orders)
    if (status === 'pending' && expiresAt > now) claims.set(petId, 'held');
  return claims;
}

export const ANSWERS = [answer(SETTLE_HOLD, settleHold), answer(FIND_CLAIMS, findClaims)];

export const WRITES = {
  create: createOrder,
  complete: completeOrder,
  cancel: cancelOrder,
  expire: expireOrders,
};

/**
 * The statement for a page, with one order more than `limit`. An index alone answers it, however many orders there are. The
 * orders of one animal by all accounts are sorted.
 */
export function pageQuery(
  { dialect }: Pick<Engine, 'dialect'>,
  { accountId, limit, status, petId, cursor }: OrderQuery,
): Sql {
  const from = firstId(cursor);
  const rows = raw(String(limit + 1));
  if (accountId === undefined && petId !== undefined) {
    const ofStatus = status === undefined ? empty : sql`AND status = ${status}`;
    // MATERIALIZED: the database reads the orders of the animal first, which are few, and never walks all orders instead.
    return sql`WITH found AS MATERIALIZED (SELECT ${ORDERS.list} FROM orders WHERE pet_id = ${petId})
      SELECT * FROM found WHERE id <= ${from} ${ofStatus} ORDER BY id DESC LIMIT ${rows}`;
  }
  // In the order of the index.
  const columns = {
    ...(petId !== undefined && { pet_id: petId }),
    ...(accountId !== undefined && { account_id: accountId }),
  };
  const table = petId === undefined ? raw('orders') : dialect.indexedBy(ORDERS, 'orders_by_pet_and_account');
  const page = (values: typeof columns & { status?: OrderStatus }) =>
    sql`SELECT ${ORDERS.list} FROM ${table} ${dialect.newest(values, from)} LIMIT ${rows}`;
  if (status !== undefined) return page({ ...columns, status });
  if (accountId === undefined) return page(columns);
  // The indexes have the status before the id, so a page of any status merges the pages of all.
  const pages = ORDER_STATUSES.map(
    (value) => sql`SELECT * FROM (${page({ ...columns, status: value })}) AS ${raw(value)}`,
  );
  return sql`SELECT * FROM (${join(pages, ' UNION ALL ')}) AS merged ORDER BY id DESC LIMIT ${rows}`;
}

/** How many open orders expire until `end`. */
export function endingQuery(engine: Pick<Engine, 'dialect'>, end: number): Sql {
  return countQuery(engine, 'orders_due', sql`status = 'pending' AND expires_at <= ${end}`);
}

/** How many orders were completed after `start`. */
export function completedQuery(engine: Pick<Engine, 'dialect'>, start: number): Sql {
  return countQuery(engine, 'orders_completed', sql`completed_at > ${start}`);
}

/** Reads entries of the index alone, and stops at `MOST_COUNTED`. */
function countQuery({ dialect }: Pick<Engine, 'dialect'>, index: string, condition: Sql): Sql {
  return sql`SELECT count(*) FROM (SELECT 1 FROM ${dialect.indexedBy(ORDERS, index)}
    WHERE ${condition} LIMIT ${raw(String(MOST_COUNTED))}) AS counted`;
}

/** `statement` with the name of the account behind the columns of each order. */
function joinAccounts(statement: Sql): Sql {
  return sql`SELECT found.*, accounts.name FROM (${statement}) AS found JOIN accounts ON accounts.id = found.account_id
    ORDER BY found.id DESC`;
}

export type OrderRepository = ReturnType<typeof open>;

export function open(
  engine: Engine,
  { orderHold, maxOpenOrders }: { readonly orderHold: number; readonly maxOpenOrders: number },
) {
  const rules: OrderRules = { hold: orderHold, mostOpen: maxOpenOrders };
  const create = (actor: Actor, accountId: number, order: NewOrder, idempotency?: Idempotency) =>
    engine.writeOnce(idempotency, createOrder, actor, accountId, order, rules);
  type Create = typeof create;
  const inTurn = (keyOf: (...call: Parameters<Create>) => number | bigint, next: Create): Create => {
    const turns = new Batcher<number | bigint, Parameters<Create>, Awaited<ReturnType<Create>>>({
      size: 1,
      run: async (_, calls) => Promise.all(calls.map((call) => next(...call))),
    });
    return (...call) => turns.add(keyOf(...call), call);
  };
  // Orders of one animal go one after the other, so that a crowd that wants it takes one connection and not all of them.
  const ofPet = inTurn((_actor, _accountId, { petId }) => petId, create);
  // So do those of one account, which wait for its lock. With one writer, nobody waits for a lock.
  const ofAccount = engine.hasOneWriter ? ofPet : inTurn((_actor, accountId) => accountId, ofPet);
  const count = async (statement: Sql): Promise<number> => {
    const [row] = await engine.query<[bigint]>(statement);
    return Number(row?.[0]);
  };
  const readAccountOrders = async (statement: Sql): Promise<readonly AccountOrder[]> =>
    (await engine.query(statement)).map(parseAccountOrder).map(toAccountOrder);
  return {
    async list(query: OrderQuery): Promise<Page<Order>> {
      const rows = await engine.query(pageQuery(engine, query));
      return toPage(rows.map(ORDERS.parse).map(toOrder), query.limit);
    },
    async get(accountId: number, id: bigint): Promise<Result<Order, 'not_found'>> {
      const order = await findOrder(engine, id, accountId);
      return order === undefined ? { error: 'not_found' } : { value: toOrder(order) };
    },
    create: <Key extends Idempotency | undefined = undefined>(
      actor: Actor,
      accountId: number,
      order: NewOrder,
      idempotency?: Key,
    ) =>
      ofAccount(actor, accountId, order, idempotency) as Promise<
        Repeatable<Order, 'invalid_request' | 'conflict', Key>
      >,
    complete: <Key extends Idempotency | undefined = undefined>(
      actor: Actor,
      id: bigint,
      owner: Owner = {},
      idempotency?: Key,
    ) => engine.writeOnce(idempotency, completeOrder, actor, id, owner),
    cancel: (actor: Actor, id: bigint, options: Parameters<typeof cancelOrder>[3] = {}) =>
      engine.write(cancelOrder, actor, id, options),
    /** Like `list`, for operators. */
    async listWithAccounts(query: OrderQuery): Promise<Page<AccountOrder>> {
      return toPage(await readAccountOrders(joinAccounts(pageQuery(engine, query))), query.limit);
    },
    /** Like `get`, for operators. */
    async getWithAccount(id: bigint): Promise<Result<AccountOrder, 'not_found'>> {
      const statement = sql`SELECT ${ORDERS.list} FROM orders WHERE id = ${id}`;
      const [order] = await readAccountOrders(joinAccounts(statement));
      return order === undefined ? { error: 'not_found' } : { value: order };
    },
    /** How many more orders of an account may be open. */
    async countFree(accountId: number): Promise<number> {
      const now = sql`${Math.floor(await engine.now())}`;
      return maxOpenOrders - (await count(countOpen(engine, accountId, now, maxOpenOrders)));
    },
    /** How many open orders expire within this time, in milliseconds: at most `MOST_COUNTED`. */
    async countEnding(within: number): Promise<number> {
      return count(endingQuery(engine, Math.floor(await engine.now()) + within));
    },
    /** How many orders were completed within the last `within` milliseconds: at most `MOST_COUNTED`. */
    async countCompleted(within: number): Promise<number> {
      return count(completedQuery(engine, Math.floor(await engine.now()) - within));
    },
    /** Every order as of one instant, oldest first. */
    async *readAll(): AsyncGenerator<AccountOrder> {
      await using snapshot = await engine.snapshot();
      const names = new Map<number, string>();
      for await (const rows of snapshot.rows(ACCOUNTS))
        for (const { id, name } of rows.map(ACCOUNTS.parse)) names.set(id, name);
      for await (const rows of snapshot.rows(ORDERS))
        for (const order of rows.map(ORDERS.parse))
          yield toAccountOrder({ ...order, account: names.get(order.accountId) ?? '' });
    },
    /**
     * Expires orders whose time has passed, those that are due longest first, and makes their animals available. Resolves
     * with whether there may be more. Any number of processes may call it at once.
     */
    async expireDue(): Promise<boolean> {
      // Usually there are none, and a read costs less than a write.
      const due = await engine.query(anyDueQuery(engine, Math.floor(await engine.now())));
      return due.length > 0 && (await engine.write(expireOrders));
    },
  };
}
