// Contract: sections 2 and 3.
import { z } from 'zod';
import { dateTime, givenDateTime, int64, oneOf } from '../../domain/fields.ts';
import { ORDER_STATUSES } from './rules.ts';

export const OrderStatus = oneOf(ORDER_STATUSES).meta({
  id: 'OrderStatus',
  description: 'Status of an order. An order is open while it is pending.',
  examples: ['pending'],
});

export const EXAMPLE_ORDER = {
  id: 9,
  petId: 42,
  quantity: 1,
  shipDate: '2027-01-15T09:00:00.000Z',
  status: 'pending',
  complete: false,
  createdAt: '2027-01-12T08:30:00.000Z',
  expiresAt: '2027-01-15T08:30:00.000Z',
} as const;
const { shipDate: _, ...WITHOUT_DATE } = { ...EXAMPLE_ORDER, id: 8, petId: 41 };

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
  .meta({
    id: 'NewOrder',
    description: 'An order of an animal.',
    examples: [{ petId: 42 }, { petId: 42, shipDate: '2027-01-15T10:00:00+01:00' }],
  });

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
  .meta({ id: 'Order', description: 'An order of an account.', examples: [EXAMPLE_ORDER, WITHOUT_DATE] });

export type NewOrder = Readonly<z.infer<typeof NewOrder>>;
export type Order = Readonly<z.infer<typeof Order>>;
