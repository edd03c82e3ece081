// Contract: section 10.2.
import { z } from 'zod';
import { textIfInstant } from '../../domain/instant.ts';
import { mapPage, toPage } from '../../domain/page.ts';
import { list, type OperatorResource } from '../../http/operation.ts';
import { cursorCount, cursorOperation, cursorRowId, sortKeyCursor } from '../../http/parameters.ts';
import type { Clock } from '../../domain/clock.ts';
import type { UsageRepository } from '../usage/repository.ts';
import { type DeprecatedOperation, type DeprecatedUse, listDeprecatedUses, type UseSortKey } from './uses.ts';

interface Uses {
  readonly clock: Clock;
  readonly usageHistory: Pick<UsageRepository, 'sums' | 'lastCalls'>;
  readonly deprecated: readonly DeprecatedOperation[];
}

const DeprecatedUseRow = z
  .object({
    operation: z.string(),
    removal: z.iso.datetime().meta({ description: 'From then on, the operation answers 410.' }),
    successor: z.string().meta({ description: 'The path to call instead.' }),
    accountId: z.int(),
    account: z.string(),
    keyId: z.int(),
    label: z.string().optional(),
    requests: z.int(),
    lastHour: z.iso.datetime().meta({ description: 'The beginning of the last hour with a call.' }),
  })
  .meta({
    id: 'DeprecatedUse',
    description: 'A key that calls a deprecated operation.',
    examples: [
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
  });

const useCursor = sortKeyCursor<UseSortKey>(
  { requests: cursorCount, keyId: cursorRowId, operation: cursorOperation },
  { requests: 955, keyId: 7, operation: 'getPet' },
);

const listDeprecations = list(DeprecatedUseRow, 'keys that call deprecated operations', {
  id: 'listDeprecations',
  path: '/deprecations',
  role: 'viewer',
  description:
    'Returns a page of the keys that called a deprecated operation in the last 30 days, the most requests first. ' +
    'Requests between two pages can move a key to an earlier page, so it can be missing, but no key appears twice.',
  parameters: { cursor: useCursor },
  async handle({ parameters, signal }, { clock, usageHistory, deprecated }: Uses) {
    const { limit, cursor: after } = parameters;
    const uses = await listDeprecatedUses(usageHistory, deprecated, clock().unix, {
      limit: limit + 1,
      after,
      signal,
    });
    const page = toPage(uses, limit, ({ requests, keyId, operation }): UseSortKey => {
      return { requests, keyId, operation };
    });
    return mapPage(page, toUse);
  },
});

function toUse({ removal, lastHour, ...use }: DeprecatedUse) {
  return { ...use, removal: textIfInstant(removal), lastHour: textIfInstant(lastHour) };
}

export const OPERATORS: OperatorResource<Uses> = {
  name: 'Deprecations',
  description: 'The keys that still call deprecated operations.',
  uses: { clock: true, usageHistory: true, deprecated: true },
  operations: [listDeprecations],
};
