// Contract: section 10.2.
import { z } from 'zod';
import { instant } from '../api/parameters.ts';
import type { Clock } from '../domain/clock.ts';
import { KEPT, type UsageBy, type UsageHistory, type UsageInterval } from '../domain/usage.ts';
import { usageRange } from '../management/usage.ts';
import { COUNTS, EXAMPLE_COUNTS } from './counts.ts';
import { adminOperation, type AdminResource } from './operation.ts';
import { choice, iso, rowFilter } from './values.ts';

interface Stores {
  readonly clock: Clock;
  readonly usageHistory: Pick<UsageHistory, 'sums'>;
}

const INTERVALS = Object.keys(KEPT) as readonly UsageInterval[];
const BY: readonly UsageBy[] = ['interval', 'operation', 'key', 'account'];

const Sums = z
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
  .meta({
    id: 'UsageSums',
    description: 'Requests of a range. Each row has `start`, `operation`, a key or an account, as `by` says.',
  });

const getUsage = adminOperation({
  id: 'getUsage',
  method: 'GET',
  path: '/usage',
  role: 'viewer',
  summary: 'Get usage',
  description:
    'Returns the requests of a range, of one account or of all, summed by interval, operation, key or account. Intervals ' +
    'come oldest first and leave out those without requests, other groups come by their requests, the most first. ' +
    'Usage is kept by the hour for 90 days and by the day for 25 months.',
  parameters: {
    accountId: rowFilter('Only the keys of this account.'),
    from: instant({
      description:
        'Start of the range. By default the 30 UTC days that end with the day of `to`, or 24 hours if `interval` is `hour`.',
      example: '2026-11-01T00:00:00Z',
    }),
    to: instant({ description: 'End of the range. By default now.', example: '2026-12-01T00:00:00Z' }),
    interval: choice<UsageInterval>(INTERVALS, {
      description: 'Length of an interval. By default `day`.',
      example: 'day',
    }),
    by: choice<UsageBy>(BY, {
      description: 'How to group the requests. By default `interval`.',
      example: 'operation',
    }),
  },
  answers: {
    200: {
      description: 'The usage.',
      content: {
        schema: Sums,
        examples: {
          interval: {
            summary: 'By interval',
            value: [{ start: '2026-11-23T00:00:00.000Z', ...EXAMPLE_COUNTS }],
          },
          operation: { summary: 'By operation', value: [{ operation: 'listPets', ...EXAMPLE_COUNTS }] },
          key: {
            summary: 'By key',
            value: [{ keyId: 7, label: 'price board', accountId: 1, account: 'shop', ...EXAMPLE_COUNTS }],
          },
          account: { summary: 'By account', value: [{ accountId: 1, account: 'shop', ...EXAMPLE_COUNTS }] },
        },
      },
    },
  },
  errors: {},
  async handle({ parameters }, { clock, usageHistory }: Stores) {
    const { accountId, from, to, interval, by = 'interval' } = parameters;
    const query = { ...usageRange({ interval, from, to }, clock().unix), accountId, by };
    const rows = await usageHistory.sums(query);
    const write = (name: string, value: unknown) => (name === 'start' ? iso(Number(value)) : value);
    return { status: 200, json: JSON.stringify(rows, write) };
  },
});

export const USAGE_RESOURCE: AdminResource<Stores> = {
  name: 'Usage',
  description: 'The usage history: requests by interval, operation, key or account.',
  operations: [getUsage],
};
