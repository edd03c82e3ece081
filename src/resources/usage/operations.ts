// Contract: section 10.2.
import { choice, instant, integer, placeCursor, rowFilter } from '../../http/parameters.ts';
import { textIfInstant } from '../../domain/instant.ts';
import type { Clock } from '../../domain/clock.ts';
import type { UsageInterval } from '../../domain/usage.ts';
import { type OperatorResource, read } from '../../http/operation.ts';
import type { UsageRepository } from './repository.ts';
import { placeOfSum, type SumPlace, USAGE_BY, type UsageBy, type UsageSum, usageRange } from './rules.ts';
import { EXAMPLE_COUNTS, MOST_SUMS, UsageSums } from './schema.ts';

interface Repositories {
  readonly clock: Clock;
  readonly usageHistory: Pick<UsageRepository, 'sums'>;
}

/** Where a page begins, with the range of the first page. */
interface PagePlace extends SumPlace {
  /** Unix milliseconds. */
  readonly from: number;
  readonly to: number;
}

const PLACE = /^\d{1,15}~\d{1,15}~-?\d{1,16}~[A-Za-z0-9]{1,100}$/;

function formatPlace({ from, to, number, group }: PagePlace): string {
  return [from, to, number, group].join('~');
}

/** @param text one that matches PLACE. */
function parsePlace(text: string): PagePlace {
  const [from, to, number, group = ''] = text.split('~');
  return {
    from: Number(from),
    to: Number(to),
    number: Number(number),
    group: /^\d/.test(group) ? Number(group) : group,
  };
}

const getUsage = read(UsageSums, {
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
    interval: choice<UsageInterval>(['hour', 'day'], {
      description: 'Length of an interval. By default `day`.',
      example: 'day',
    }),
    by: choice<UsageBy>(USAGE_BY, {
      description: 'How to group the requests. By default `interval`.',
      example: 'operation',
    }),
    limit: integer(
      { minimum: 1, maximum: MOST_SUMS, default: MOST_SUMS },
      { description: 'Maximum number of rows.', example: MOST_SUMS },
    ),
    cursor: placeCursor(PLACE, `${Date.parse('2026-11-01')}~${Date.parse('2026-12-01')}~-955~listPets`),
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
  async handle({ parameters }, { clock, usageHistory }: Repositories) {
    const { accountId, interval = 'day', by = 'interval', limit, cursor } = parameters;
    const after = cursor === undefined ? undefined : parsePlace(cursor);
    const { from, to } = after ?? usageRange(parameters, Math.ceil(clock().unix));
    const query = { interval, from, to, accountId, by, limit: limit + 1, after };
    const sums = await usageHistory.sums(query);
    const page = sums.slice(0, limit);
    const last = sums.length > limit ? page.at(-1) : undefined;
    return { value: page.map(toJson), next: last && formatPlace({ from, to, ...placeOfSum(last) }) };
  },
});

function toJson({ start, ...sum }: UsageSum) {
  return start === undefined ? sum : { start: textIfInstant(start), ...sum };
}

export const OPERATOR_USAGE: OperatorResource<Repositories> = {
  name: 'Usage',
  description: 'The usage history: requests by interval, operation, key or account.',
  operations: [getUsage],
};
