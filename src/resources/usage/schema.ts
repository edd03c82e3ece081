// Contract: sections 3.13 and 10.2.
import { z } from 'zod';
import { count, dateTime, int64 } from '../../domain/fields.ts';
import { OUTCOMES, USAGE_ROWS_BY, type UsageInterval, type UsageOutcome } from '../../domain/usage.ts';

/* As clients see their usage. */

const INTERVALS = ['hour', 'day'] as const satisfies readonly UsageInterval[];

export const Interval = z.enum(INTERVALS).meta({
  id: 'UsageInterval',
  description: 'Length of the intervals of a usage history, in UTC.',
  examples: ['day'],
});

export const By = z.enum(USAGE_ROWS_BY).meta({
  id: 'UsageBy',
  description: 'What the rows of a usage history tell apart besides intervals.',
  examples: ['operation'],
});

const USAGE = {
  start: '2026-11-30T00:00:00.000Z',
  operation: 'listPets',
  keyId: 7,
  ok: 940,
  clientError: 3,
  refused: 0,
  serverError: 0,
};

const [ok, clientError, refused, serverError] = OUTCOMES;

const UsageRow = z
  .object({
    start: dateTime.meta({ description: 'When the interval begins.' }),
    operation: z
      .string()
      .max(100)
      .regex(/^[A-Za-z]+$/)
      .optional()
      .meta({
        description: 'The operation; `other` for requests that match none. Absent if `by` is `key`.',
        examples: ['listPets'],
      }),
    keyId: int64.optional().meta({
      description: 'Identifier of the key. Absent if `by` is `operation`.',
      examples: [7],
    }),
    [ok]: count('Requests that were answered with 2xx or 3xx.', 0, 940),
    [clientError]: count('Requests that were answered with 4xx, but not 429.', 0, 3),
    [refused]: count('Requests that were answered with 429.', 0, 0),
    [serverError]: count('Requests that were answered with 5xx.', 0, 0),
  })
  .meta({
    id: 'Usage',
    description:
      'The requests of one interval, operation and key, by their outcomes. See `by` for rows that add up keys or operations.',
    examples: [USAGE],
  });

/** Rows of a page. */
export const USAGE_LIMIT = { minimum: 1, maximum: 1_000, default: 1_000 } as const;

export const UsageHistory = z
  .array(UsageRow)
  .max(USAGE_LIMIT.maximum)
  .meta({
    id: 'UsageHistory',
    description: 'A page of the usage of the keys of an account, the oldest first.',
    examples: [
      [
        USAGE,
        { ...USAGE, start: '2026-12-01T00:00:00.000Z', operation: 'createPet', ok: 12, clientError: 0 },
      ],
    ],
  });

/* As operators see it. */

/** Requests by their outcomes. */
export const COUNTS = {
  ok: z.int().meta({ description: 'Answered with 2xx or 3xx.' }),
  clientError: z.int().meta({ description: 'Answered with 4xx but 429.' }),
  refused: z.int().meta({ description: 'Answered with 429.' }),
  serverError: z.int().meta({ description: 'Answered with 5xx.' }),
} as const satisfies Record<UsageOutcome, z.ZodType>;

export const NO_COUNTS = { ok: 0, clientError: 0, refused: 0, serverError: 0 } as const;

export const EXAMPLE_COUNTS = { ok: 1_204, clientError: 12, refused: 3, serverError: 0 };

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
  .max(USAGE_LIMIT.maximum)
  .meta({
    id: 'UsageSums',
    description: 'Requests of a range. Each row has `start`, `operation`, a key or an account, as `by` says.',
    examples: [[{ keyId: 7, label: 'price board', accountId: 1, account: 'shop', ...EXAMPLE_COUNTS }]],
  });
