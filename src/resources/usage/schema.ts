// Contract: section 10.2.
import { z } from 'zod';
import type { UsageOutcome } from '../../domain/usage.ts';

/** Requests by their outcomes. */
export const COUNTS = {
  ok: z.int().meta({ description: 'Answered with 2xx or 3xx.' }),
  clientError: z.int().meta({ description: 'Answered with 4xx but 429.' }),
  refused: z.int().meta({ description: 'Answered with 429.' }),
  serverError: z.int().meta({ description: 'Answered with 5xx.' }),
} as const satisfies Record<UsageOutcome, z.ZodType>;

export const NO_COUNTS = { ok: 0, clientError: 0, refused: 0, serverError: 0 } as const;

export const EXAMPLE_COUNTS = { ok: 1_204, clientError: 12, refused: 3, serverError: 0 };

/** The most sums of a page, and as many by default. */
export const MOST_SUMS = 1_000;

export const UsageSums = z
  .array(
    z.object({
      start: z.iso.datetime().optional(),
      operation: z.string().optional(),
      keyId: z.int().optional(),
      accountId: z.int().optional(),
      account: z.string().optional(),
      label: z.string().optional(),
      ...COUNTS,
    }),
  )
  .max(MOST_SUMS)
  .meta({
    id: 'UsageSums',
    description: 'Requests of a range. Each row has `start`, `operation`, a key or an account, as `by` says.',
  });
