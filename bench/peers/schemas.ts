import { z } from 'zod';

// The schemas by which express and Hono validate requests.

const status = z.enum(['available', 'pending', 'sold']).optional();

export const ListQuery = z.object({
  limit: z.coerce.number().int().min(1).max(100).default(20),
  status,
  cursor: z.string().optional(),
});

export const CreateBody = z.object({
  name: z.string().min(1).max(200).regex(/\S/),
  categoryId: z.int(),
  status,
});

/** Every fault of a request in one line. */
export function faultsOf({ issues }: z.core.$ZodError): string {
  return issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ');
}
