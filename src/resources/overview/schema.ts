// Contract: section 10.2.
import { z } from 'zod';
import { count } from '../../domain/fields.ts';
import { WINDOW_NAMES } from '../../limits/quota.ts';
import { MOST_COUNTED } from '../orders/rules.ts';
import { COUNTS, EXAMPLE_COUNTS } from '../usage/schema.ts';

const milliseconds = z.number().meta({ description: 'Milliseconds.' });

const Latency = z.object({ p50: milliseconds.optional(), p99: milliseconds.optional() }).meta({
  description:
    'Time of work, of this minute and the one before, without waits for a client, an event or an endpoint. Absent without requests.',
});

const EXAMPLE = {
  animals: { available: 12, held: 3, ending: 1, adopted: 8 },
  startedAt: '2026-11-23T08:00:00.000Z',
  requestsPerSecond: 41.5,
  latency: { p50: 0.8, p99: 4.8 },
  minutes: [{ start: '2026-11-23T14:05:00.000Z', ...EXAMPLE_COUNTS, p50: 0.8, p99: 4.8 }],
  hours: [{ start: '2026-11-23T14:00:00.000Z', ...EXAMPLE_COUNTS }],
  bans: 1,
  nearest: [
    {
      accountId: 1,
      account: 'shop',
      window: 'day',
      limit: 10_000,
      remaining: 120,
      reset: 1_795_478_400,
    },
  ],
  health: { database: { isUp: true, isWritable: true, milliseconds: 0.2 }, redis: { isUp: true } },
};

export const Overview = z
  .object({
    animals: z
      .object({
        available: count('Animals that can be ordered.', 0, 12),
        held: count('Animals that an order holds, or that are set so.', 0, 3),
        ending: count(`Orders that expire within a day, at most ${MOST_COUNTED}.`, 0, 1),
        adopted: count(`Orders that were completed in the last seven days, at most ${MOST_COUNTED}.`, 0, 8),
      })
      .meta({ description: 'As of a moment within the last minute.' }),
    startedAt: z.iso.datetime(),
    requestsPerSecond: z.number().meta({ description: 'Over the last ten seconds.' }),
    latency: Latency,
    minutes: z
      .array(z.object({ start: z.iso.datetime(), ...COUNTS, ...Latency.shape }))
      .meta({ description: 'The last 60 minutes of this instance, the oldest first.' }),
    hours: z
      .array(z.object({ start: z.iso.datetime(), ...COUNTS }))
      .meta({ description: 'The last 24 hours of all instances, the oldest first.' }),
    bans: z.int().meta({ description: 'How many keys are banned now.' }),
    nearest: z
      .array(
        z.object({
          accountId: z.int(),
          account: z.string(),
          window: z.enum(WINDOW_NAMES),
          limit: z.int(),
          remaining: z.int(),
          reset: z.int().meta({ description: 'Unix seconds.' }),
        }),
      )
      .meta({ description: 'At most five accounts with the smallest share of a window left.' }),
    health: z.object({
      database: z.object({
        isUp: z.boolean(),
        isWritable: z.boolean().meta({ description: 'Whether the last attempt to write succeeded.' }),
        milliseconds,
      }),
      redis: z.object({ isUp: z.boolean() }).optional(),
    }),
  })
  .meta({
    id: 'Overview',
    description: 'Animals, requests, latency, limits and health of the service.',
    examples: [EXAMPLE],
  });
