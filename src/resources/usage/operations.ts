// Contract: sections 3.13 and 10.2.
import {
  choice,
  cursorCount,
  type CursorValue,
  cursorInstant,
  cursorOperation,
  cursorOptional,
  cursorRowId,
  describeIssue,
  instant,
  integer,
  oneOf,
  sortKeyCursor,
  rowFilter,
} from '../../http/parameters.ts';
import { textIfInstant } from '../../domain/instant.ts';
import { type Clock, DAY } from '../../domain/clock.ts';
import { mapPage, toPage } from '../../domain/page.ts';
import { ALLOWANCES, type UsageInterval } from '../../domain/usage.ts';
import { type OperatorResource, type Resource, read } from '../../http/operation.ts';
import type { UsageRepository } from './repository.ts';
import {
  placeOfSum,
  type RangeParameters,
  type SumPlace,
  USAGE_BY,
  type UsageBy,
  type Usage,
  type UsagePlace,
  type UsageSum,
  usageRange,
} from './rules.ts';
import { By, Interval, USAGE_LIMIT, UsageHistory, UsageSums } from './schema.ts';

const RANGE = {
  from: instant({
    description:
      'Keep only intervals that begin at this instant or later. By default the 30 UTC days that end with the day of `to`, or 24 hours if `interval` is `hour`. ' +
      'A range by the hour has at most 31 days.',
    example: '2026-11-24T00:00:00Z',
  }),
  to: instant({
    description: 'Keep only intervals that begin before this instant. By default now.',
    example: '2026-12-01T00:00:00Z',
  }),
};

const ROWS = integer(USAGE_LIMIT, {
  description: 'Maximum number of rows to return.',
  example: USAGE_LIMIT.default,
});

/** A walk may take this long, although the first interval of its range is no longer kept meanwhile. */
const LONGEST_WALK = DAY;

/** The range of the parameters, or of a cursor. Counts of this moment are in the range. */
function readRange(parameters: RangeParameters, clock: Clock, ofCursor: RangeParameters | undefined) {
  const now = Math.ceil(clock().unix);
  if (ofCursor === undefined) return usageRange(parameters, now);
  const range = usageRange(ofCursor, now, { begun: now - LONGEST_WALK });
  return 'error' in range ? { ...range, message: describeIssue('cursor', rowCursor.issue) } : range;
}

function toUsageRow({ start, ...row }: Usage | UsageSum) {
  return start === undefined ? row : { start: textIfInstant(start), ...row };
}

/* For clients. */

/**
 * Where a page begins. It has the end of the range, so that the pages of a walk have one range: by default a range ends now,
 * and so would begin later with each page.
 */
type RowPlace = UsagePlace & {
  /** Unix milliseconds. */
  readonly to: number;
};

const rowCursor = sortKeyCursor<RowPlace>(
  {
    to: cursorInstant,
    start: cursorInstant,
    keyId: cursorOptional(cursorRowId),
    operation: cursorOptional(cursorOperation),
  },
  {
    to: Date.parse('2026-12-01T12:59:30Z'),
    start: Date.parse('2026-11-30T00:00:00Z'),
    keyId: 7,
    operation: 'listPets',
  },
);

interface Uses {
  readonly clock: Clock;
  readonly usageHistory: Pick<UsageRepository, 'ofAccount'>;
  /** The names of the operations that count in the windows of the holder. */
  readonly holderIds: readonly string[];
}

const getOwnUsage = read(UsageHistory, {
  id: 'getUsage',
  path: '/account/usage',
  allowance: 'holder',
  stability: 'beta',
  guide: 'Your account',
  summary: 'Get the usage of the account',
  description:
    'Returns a page of how many requests the keys of this account made, by operation, key and outcome, for each hour or day in UTC in ' +
    'which there were some. When there are more rows, the `Link` header leads to the next page. The history is kept by the ' +
    'hour for 90 days, and by the day for 25 months.',
  parameters: {
    ...RANGE,
    interval: oneOf(Interval, {
      description: 'How long an interval is. By default a day.',
      example: 'day',
    }),
    by: oneOf(By, {
      description:
        '`operation` adds up the keys: rows have no `keyId`. `key` adds up the operations: rows have no `operation`. By default nothing is added up.',
      example: 'operation',
    }),
    allowance: choice(ALLOWANCES, {
      description:
        '`plan` leaves out the operations on the account, its keys and its webhooks. `holder` has only those. By default all are counted.',
      example: 'plan',
    }),
    limit: ROWS,
    cursor: rowCursor,
  },
  sample: { client: 'account.usage', query: { interval: 'day' } },
  async handle({ accountId, parameters, signal }, { usageHistory, clock, holderIds }: Uses) {
    const { interval, by, allowance, limit, cursor: after } = parameters;
    const range = readRange(parameters, clock, after && { interval, from: after.start, to: after.to });
    if ('error' in range) return range;
    const operations =
      allowance === undefined ? undefined : { names: holderIds, areLeftOut: allowance === 'plan' };
    const query = { ...range.value, by, operations, limit: limit + 1, after, signal };
    const rows = await usageHistory.ofAccount(accountId, query);
    const page = toPage(rows, limit, ({ start, keyId, operation }): RowPlace => {
      return { to: range.value.to, start, keyId, operation };
    });
    return mapPage(page, toUsageRow);
  },
});

/** What the account shows of its usage. */
export const CLIENTS: Resource<Uses> = {
  name: 'Account',
  uses: { clock: true, usageHistory: true, holderIds: true },
  operations: [getOwnUsage],
};

/* For operators. */

interface OperatorUses {
  readonly clock: Clock;
  readonly usageHistory: Pick<UsageRepository, 'sums'>;
}

/** Where a page begins, with the range of the first page. */
type PagePlace = SumPlace & {
  /** Unix milliseconds. */
  readonly from: number;
  readonly to: number;
};

/** The name of an operation, the number of a key or an account, or 0. */
const group: CursorValue<string | number> = {
  read: (text) => cursorOperation.read(text) ?? cursorCount.read(text),
};

const sumCursor = sortKeyCursor<PagePlace>(
  { from: cursorInstant, to: cursorInstant, number: cursorCount, group },
  { from: Date.parse('2026-11-01'), to: Date.parse('2026-12-01'), number: -955, group: 'listPets' },
);

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
    ...RANGE,
    interval: choice<UsageInterval>(['hour', 'day'], {
      description: 'Length of an interval. By default `day`.',
      example: 'day',
    }),
    by: choice<UsageBy>(USAGE_BY, {
      description: 'How to group the requests. By default `interval`.',
      example: 'operation',
    }),
    limit: ROWS,
    cursor: sumCursor,
  },
  async handle({ parameters, signal }, { clock, usageHistory }: OperatorUses) {
    const { accountId, interval, by = 'interval', limit, cursor: after } = parameters;
    const range = readRange(parameters, clock, after && { interval, from: after.from, to: after.to });
    if ('error' in range) return range;
    const { from, to } = range.value;
    const query = { ...range.value, accountId, by, limit: limit + 1, after, signal };
    const sums = await usageHistory.sums(query);
    const page = toPage(sums, limit, (last): PagePlace => ({ from, to, ...placeOfSum(last) }));
    return mapPage(page, toUsageRow);
  },
});

export const OPERATORS: OperatorResource<OperatorUses> = {
  name: 'Usage',
  description: 'The usage history: requests by interval, operation, key or account.',
  uses: { clock: true, usageHistory: true },
  operations: [getUsage],
};
