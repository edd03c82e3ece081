// Contract: section 10.2.
import { z } from 'zod';
import { instant, integer, placeCursor } from '../http/parameters.ts';
import type { Clock } from '../domain/clock.ts';
import {
  KEPT,
  placeOfSum,
  type SumPlace,
  type UsageBy,
  type UsageHistory,
  type UsageInterval,
  type UsageSum,
} from '../domain/usage.ts';
import { usageRange } from '../management/usage.ts';
import { COUNTS, EXAMPLE_COUNTS } from './counts.ts';
import { read, type OperatorResource } from '../http/operation.ts';
import { choice, iso, rowFilter } from './values.ts';

interface Stores {
  readonly clock: Clock;
  readonly usageHistory: Pick<UsageHistory, 'sums'>;
}

const INTERVALS = Object.keys(KEPT) as readonly UsageInterval[];
const BY: readonly UsageBy[] = ['interval', 'operation', 'key', 'account'];

const LIMIT = { minimum: 1, maximum: 1_000, default: 1_000 } as const;

/** Where a page begins, with the range of the first page. */
interface PagePlace extends SumPlace {
  /** Unix milliseconds. */
  readonly from: number;
  readonly to: number;
}

const PLACE = /^\d{1,15}~\d{1,15}~-?\d{1,16}~[A-Za-z0-9]{1,100}$/;
const EXAMPLE_PLACE = {
  from: Date.parse('2026-11-01T00:00:00Z'),
  to: Date.parse('2026-12-01T00:00:00Z'),
  number: -955,
  group: 'listPets',
};

function placeText({ from, to, number, group }: PagePlace): string {
  return [from, to, number, group].join('~');
}

/** @param text one that matches PLACE. */
function placeOf(text: string): PagePlace {
  const [from, to, number, group = ''] = text.split('~');
  return {
    from: Number(from),
    to: Number(to),
    number: Number(number),
    group: /^\d/.test(group) ? Number(group) : group,
  };
}

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
  .max(LIMIT.maximum)
  .meta({
    id: 'UsageSums',
    description: 'Requests of a range. Each row has `start`, `operation`, a key or an account, as `by` says.',
  });

const getUsage = read(Sums, {
  id: 'getUsage',
  path: '/usage',
  role: 'viewer',
  summary: 'Get usage',
  description:
    'Returns a page of the requests of a range, of one account or of all, summed by interval, operation, key or account. Intervals ' +
    'come oldest first and leave out those without requests, other groups come by their requests, the most first. ' +
    'Requests between two pages can move a group to an earlier page, so it can be missing, but no group appears twice. ' +
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
    limit: integer(LIMIT, { description: 'Maximum number of rows.', example: LIMIT.default }),
    cursor: placeCursor(PLACE, placeText(EXAMPLE_PLACE)),
  },
  answer: {
    description: 'A page of the usage.',
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
  async handle({ parameters }, { clock, usageHistory }: Stores) {
    const { accountId, interval = 'day', by = 'interval', limit, cursor } = parameters;
    const after = cursor === undefined ? undefined : placeOf(cursor);
    const { from, to } = after ?? usageRange(parameters, Math.ceil(clock().unix));
    const query = { interval, from, to, accountId, by, limit: limit + 1, after };
    const rows = await usageHistory.sums(query);
    const shown = rows.slice(0, limit);
    const last = rows.length > limit ? shown.at(-1) : undefined;
    return {
      value: shown.map(sumJson),
      next: last && placeText({ from, to, ...placeOfSum(last) }),
    };
  },
});

function sumJson(sum: UsageSum<UsageBy>) {
  return 'start' in sum ? { ...sum, start: iso(sum.start) } : sum;
}

export const USAGE_RESOURCE: OperatorResource<Stores> = {
  name: 'Usage',
  description: 'The usage history: requests by interval, operation, key or account.',
  operations: [getUsage],
};
