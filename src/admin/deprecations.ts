// Contract: section 10.2.
import { z } from 'zod';
import { cached } from '../domain/cached.ts';
import type { Clock } from '../domain/clock.ts';
import type { UsageHistory } from '../domain/usage.ts';
import {
  type DeprecatedOperation,
  type DeprecationRanking,
  describeUses,
  rankDeprecatedUses,
  rankedUses,
} from '../management/deprecations.ts';
import { list, type OperatorResource } from '../http/operation.ts';
import { cursorNumber, iso } from './values.ts';

interface Stores {
  readonly clock: Clock;
  readonly usageHistory: Pick<UsageHistory, 'callersOf'>;
  readonly deprecatedOperations: readonly DeprecatedOperation[];
  readonly deprecationRanking: () => Promise<DeprecationRanking>;
}

/** Reads that a page waits for. After more of them, it shows the last order while a new one is made. */
const FEW_SLICES = 4;

/** Milliseconds for which such an order is used again. */
const LIFETIME = 60_000;

/** Ranks the keys that call deprecated operations. */
export function deprecationReader(
  clock: Clock,
  history: Pick<UsageHistory, 'callers'>,
  deprecated: readonly DeprecatedOperation[],
): () => Promise<DeprecationRanking> {
  const isSlow = ({ slices }: DeprecationRanking) => slices > FEW_SLICES;
  return cached(clock, () => rankDeprecatedUses(history, deprecated, clock().unix), {
    lifetime: (ranking) => (isSlow(ranking) ? LIFETIME : 0),
    isSlow,
  });
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

const listDeprecations = list(Uses, 'keys', {
  id: 'listDeprecations',
  path: '/deprecations',
  role: 'viewer',
  summary: 'List keys that call deprecated operations',
  description:
    'Returns a page of the keys that called a deprecated operation in the last 30 days, the most requests first. ' +
    'Requests between two pages can change the order, so a key can be missing or appear twice. With many keys, the order is ' +
    'about a minute old.',
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
  async handle({ parameters }, { clock, usageHistory, deprecatedOperations, deprecationRanking }: Stores) {
    const ranking = await deprecationRanking();
    // A page begins at a place in the order, because the numbers of requests change.
    const first = cursorNumber(parameters.cursor) ?? 0;
    const end = first + parameters.limit;
    const page = await describeUses(
      usageHistory,
      deprecatedOperations,
      clock().unix,
      rankedUses(deprecatedOperations, ranking, first, end),
    );
    const json = JSON.stringify(
      page.map(({ removal, lastHour, ...use }) =>
        Object.assign(use, { removal: iso(removal), lastHour: iso(lastHour) }),
      ),
    );
    return { json, next: end < ranking.keyIds.length ? BigInt(end) : undefined };
  },
});

export const DEPRECATIONS: OperatorResource<Stores> = {
  name: 'Deprecations',
  description: 'The keys that still call deprecated operations.',
  operations: [listDeprecations],
};
