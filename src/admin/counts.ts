// Contract: section 10.2.
import { z } from 'zod';
import { OUTCOMES, type UsageOutcome } from '../domain/usage.ts';

/** Requests by their outcomes, as answers have them. */
export const COUNTS = {
  ok: z.int().meta({ description: 'Answered with 2xx or 3xx.' }),
  clientError: z.int().meta({ description: 'Answered with 4xx but 429.' }),
  refused: z.int().meta({ description: 'Answered with 429.' }),
  serverError: z.int().meta({ description: 'Answered with 5xx.' }),
} as const satisfies Record<UsageOutcome, z.ZodType>;

export const NO_COUNTS = { ok: 0, clientError: 0, refused: 0, serverError: 0 } as const;

export const EXAMPLE_COUNTS = { ok: 1_204, clientError: 12, refused: 3, serverError: 0 };

export function totalOf(counts: Readonly<Record<UsageOutcome, number>>): number {
  return OUTCOMES.reduce((total, outcome) => total + counts[outcome], 0);
}
