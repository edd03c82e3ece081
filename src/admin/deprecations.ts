// Contract: section 10.2.
import { z } from 'zod';
import { cursor } from '../api/parameters.ts';
import type { Clock } from '../domain/clock.ts';
import type { UsageHistory } from '../domain/usage.ts';
import { deprecatedUses } from '../management/deprecations.ts';
import { adminOperation, type AdminResource } from './operation.ts';
import { iso, limit, pageOfAll } from './values.ts';

interface Stores {
  readonly clock: Clock;
  readonly usageHistory: Pick<UsageHistory, 'callersOf'>;
}

const Uses = z
  .array(
    z.object({
      operation: z.string(),
      removal: z.iso.datetime().meta({ description: 'From then on, the operation answers 410.' }),
      successor: z.string().meta({ description: 'The path to call instead.' }),
      accountId: z.int(),
      account: z.string(),
      keyId: z.int(),
      label: z.string().optional(),
      requests: z.int(),
      lastHour: z.iso.datetime().meta({ description: 'The beginning of the last hour with a call.' }),
    }),
  )
  .meta({
    id: 'DeprecatedUses',
    description: 'Keys that call deprecated operations, the most requests first.',
  });

const listDeprecations = adminOperation({
  id: 'listDeprecations',
  method: 'GET',
  path: '/deprecations',
  role: 'viewer',
  summary: 'List keys that call deprecated operations',
  description:
    'Returns a page of the keys that called a deprecated operation in the last 30 days, the most requests first. ' +
    'Requests between two pages can change the order, so a key can be missing or appear twice.',
  parameters: { limit, cursor },
  answers: {
    200: {
      description: 'A page of keys.',
      content: {
        schema: Uses,
        examples: {
          some: {
            summary: 'One key',
            value: [
              {
                operation: 'getPet',
                removal: '2027-09-01T00:00:00.000Z',
                successor: '/pets',
                accountId: 1,
                account: 'shop',
                keyId: 7,
                label: 'price board',
                requests: 1_204,
                lastHour: '2026-11-23T14:00:00.000Z',
              },
            ],
          },
        },
      },
    },
  },
  errors: {},
  async handle({ parameters }, { clock, usageHistory }: Stores) {
    const uses = await deprecatedUses(usageHistory, clock().unix);
    // A page begins at a place in the order, because the numbers of requests change.
    const ranked = uses.map((use, index) => Object.assign(use, { id: index + 1 }));
    return pageOfAll(ranked, parameters, ({ id: _id, removal, lastHour, ...use }) => ({
      ...use,
      removal: iso(removal),
      lastHour: iso(lastHour),
    }));
  },
});

export const DEPRECATIONS: AdminResource<Stores> = {
  name: 'Deprecations',
  description: 'The keys that still call deprecated operations.',
  operations: [listDeprecations],
};
