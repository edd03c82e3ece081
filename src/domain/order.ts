// Contract: sections 2 and 3.
import { z } from 'zod';
import type { Actor } from './audit.ts';
import { dateTime, givenDateTime, int64 } from './fields.ts';
import type { Idempotency, Page, Written } from './ports.ts';
import type { Repeatable, Result } from './result.ts';
import { ORDER_STATUSES } from './statuses.ts';

export const OrderStatus = z
  .enum(ORDER_STATUSES, { error: `must be one of ${ORDER_STATUSES.join(', ')}` })
  .meta({ id: 'OrderStatus', description: 'Status of an order. An order is open while it is pending.' });

const petId = int64.meta({ description: 'Identifier of the animal.', examples: [42] });
/** The body of `createOrder`. Other fields are ignored. */
export const NewOrder = z
  .object({
    petId,
    quantity: z
      .literal(1n, { error: 'must be 1' })
      .meta({
        type: 'integer',
        format: 'int32',
        const: 1,
        minimum: 1,
        maximum: 1,
        description: 'Always 1.',
        examples: [1],
      })
      .exactOptional(),
    shipDate: givenDateTime.meta({ description: 'When the animal is to be handed over.' }).exactOptional(),
  })
  .meta({ id: 'NewOrder', description: 'An order of an animal.' });

export const Order = z
  .object({
    id: int64.meta({
      description: 'Unique identifier assigned by the service on creation.',
      examples: [9],
    }),
    petId,
    quantity: z
      .literal(1n)
      .meta({ type: 'integer', format: 'int32', const: 1, minimum: 1, maximum: 1, description: 'Always 1.' }),
    shipDate: dateTime.meta({ description: 'When the animal is to be handed over, in UTC.' }).exactOptional(),
    status: OrderStatus,
    complete: z.boolean().meta({ description: 'Whether the status is `complete`.' }),
    createdAt: dateTime.meta({ description: 'When the order was made.' }),
    expiresAt: dateTime.meta({ description: 'When the order expires if it is still open.' }),
  })
  .meta({ id: 'Order', description: 'An order of an account.' });

export type OrderStatus = z.infer<typeof OrderStatus>;
export type NewOrder = Readonly<z.infer<typeof NewOrder>>;
export type Order = Readonly<z.infer<typeof Order>>;

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

/** Orders belong to the account that made them. */
export interface OrderRepository {
  list(query: OrderQuery): Promise<Page<Order>>;
  get(accountId: number, id: bigint): Promise<Written<Order> | undefined>;
  /** `invalid_request`: there is no such animal. `conflict`: it is not available. */
  create(
    accountId: number,
    order: NewOrder,
    idempotency?: Idempotency,
  ): Promise<Repeatable<Order, 'invalid_request' | 'conflict'>>;
  /** `conflict`: the order is not pending, or its time has passed. */
  complete(
    accountId: number,
    id: bigint,
    idempotency?: Idempotency,
  ): Promise<Repeatable<Order, 'not_found' | 'conflict'>>;
  /** `conflict`: the order is complete. An order that is cancelled or expired stays as it is. */
  cancel(
    accountId: number,
    id: bigint,
    ifMatch: readonly string[] | undefined,
  ): Promise<Result<undefined, 'not_found' | 'precondition_failed' | 'conflict'>>;
  /** Like `cancel` for an order of any account, with an entry in the audit log if the order was pending. */
  cancelBy(actor: Actor, id: bigint): Promise<Result<undefined, 'not_found' | 'conflict'>>;
  /** Like `list`, for operators. */
  listWithAccounts(query: OrderQuery): Promise<Page<AccountOrder>>;
  /** The orders of one animal by all accounts, newest first, in one statement. An animal has few. */
  listOfPet(petId: bigint, status: OrderStatus | undefined): Promise<readonly AccountOrder[]>;
  /** Like `get`, for operators. */
  getWithAccount(id: bigint): Promise<Written<AccountOrder> | undefined>;
  /** Every order as of one instant, oldest first. */
  readAll(): AsyncIterable<AccountOrder>;
  /**
   * Expires orders whose time has passed, those that are due longest first, and makes their animals available. Resolves
   * with whether there may be more. Any number of processes may call it at once.
   */
  expireDue(): Promise<boolean>;
}
