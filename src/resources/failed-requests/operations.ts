// Contract: sections 3.13 and 10.2.
import { mayHoldApiKey } from '../../domain/api-key.ts';
import { type Clock, DAY } from '../../domain/clock.ts';
import { ERROR_CODES } from '../../domain/errors.ts';
import { textFromInstant } from '../../domain/instant.ts';
import { mapPage, toPage } from '../../domain/page.ts';
import { list, type OperatorResource, type Resource, read } from '../../http/operation.ts';
import { choice, instant, type Parameter, rowFilter, rowId, shortText } from '../../http/parameters.ts';
import type { FailedRequest, FailedRequests } from '../../observability/failed-requests.ts';
import { FailedRequestGroup, MOST_REQUESTS, OperatorFailedRequest, OwnFailedRequest } from './schema.ts';

/* For clients. */

interface Uses {
  readonly clock: Clock;
  readonly failedRequests: Pick<FailedRequests, 'list'>;
}

const listRequests = list(OwnFailedRequest, 'failed requests', {
  id: 'listRequests',
  path: '/account/requests',
  allowance: 'holder',
  stability: 'beta',
  guide: 'Your account',
  description:
    'Returns a page of the requests of this account that were answered with an error, the newest first: the last ' +
    `${MOST_REQUESTS} of the last 24 hours. Each instance of the service has those that it answered, in memory.`,
  sample: { client: 'account.requests' },
  async handle({ accountId, parameters }, { failedRequests, clock }: Uses) {
    const { limit, cursor } = parameters;
    const since = clock().unix - DAY;
    const { items } = failedRequests.list({ accountId, since, limit: MOST_REQUESTS });
    const rest = items.filter(({ id }) => cursor === undefined || id < cursor);
    return mapPage(toPage(rest, limit), toOwnFailedRequest);
  },
});

function toOwnFailedRequest({ requestId, at, method, path, status, code, message, keyId }: FailedRequest) {
  return { requestId, timestamp: textFromInstant(at), method, path, status, code, message, keyId };
}

/** What the account shows of its failed requests. */
export const CLIENTS: Resource<Uses> = {
  name: 'Account',
  uses: { clock: true, failedRequests: true },
  operations: [listRequests],
};

/* For operators. */

interface OperatorUses {
  readonly failedRequests: Pick<FailedRequests, 'get' | 'list' | 'listGroups'>;
}

const errorStatus: Parameter<number> = {
  description: 'Only requests that were answered with this status.',
  example: 429,
  schema: { type: 'integer', format: 'int32', minimum: 400, maximum: 599 },
  read: (text) => (/^[45]\d\d$/.test(text) ? Number(text) : undefined),
  longest: 3,
  issue: 'must be an integer from 400 to 599',
  absent: undefined,
};

const FILTERS = {
  requestId: shortText(128, {
    description: 'Only the requests with this `X-Request-Id`.',
    example: 'checkout-7f3a',
  }),
  code: choice(ERROR_CODES, {
    description: 'Only requests that were answered with this code.',
    example: 'not_found',
  }),
  status: errorStatus,
  operation: shortText(100, {
    description: 'Only requests of operations whose id contains this text, ignoring case.',
    example: 'Pet',
  }),
  account: shortText(100, {
    description: 'Only requests of accounts whose name contains this text, ignoring case.',
    example: 'shop',
  }),
  accountId: rowFilter('Only requests of this account.'),
  keyId: rowFilter('Only requests with this key.', 7),
  since: instant({
    description: 'Only requests that began at this instant or later.',
    example: '2026-11-23T00:00:00Z',
  }),
  like: rowFilter('Only requests that failed for the same cause as this one.', 1_795_442_712_645_000),
};

const KEPT = 'An instance keeps its last 10,000 in memory.';

const listFailedRequests = list(OperatorFailedRequest, 'failed requests', {
  id: 'listFailedRequests',
  path: '/failed-requests',
  role: 'viewer',
  description:
    'Returns a page of the last requests below `/v1` that this instance answered with an error, the newest first. ' +
    KEPT,
  parameters: FILTERS,
  handle: async ({ parameters }, { failedRequests }: OperatorUses) =>
    mapPage(failedRequests.list(parameters), toOperatorFailedRequest),
});

const listFailedRequestGroups = list(FailedRequestGroup, 'groups of failed requests', {
  id: 'listFailedRequestGroups',
  path: '/failed-requests/groups',
  role: 'viewer',
  description:
    'Returns a page of the failed requests of this instance, those with the same cause together: the same status, code, method, path, key and ' +
    `message. The messages of 429 and 500 do not count, because they differ each time. ${KEPT}`,
  parameters: FILTERS,
  handle: async ({ parameters }, { failedRequests }: OperatorUses) =>
    mapPage(failedRequests.listGroups(parameters), ({ count, firstAt, last }) => ({
      count,
      firstTime: textFromInstant(firstAt),
      last: toOperatorFailedRequest(last),
    })),
});

const getFailedRequest = read(OperatorFailedRequest, {
  id: 'getFailedRequest',
  path: '/failed-requests/{failedRequestId}',
  role: 'viewer',
  summary: 'Get a failed request',
  description: 'Returns one request that this instance answered with an error.',
  parameters: { failedRequestId: rowId('Number of the failed request.') },
  errors: {
    not_found: 'This instance keeps no failed request with this number: it may be of another instance.',
  },
  async handle({ parameters }, { failedRequests }: OperatorUses) {
    const found = failedRequests.get(parameters.failedRequestId);
    return found === undefined ? { error: 'not_found' } : { value: toOperatorFailedRequest(found) };
  },
});

function toOperatorFailedRequest({ id, at, userAgent = '', ...failed }: FailedRequest) {
  return {
    id,
    time: textFromInstant(at),
    ...failed,
    userAgent: userAgent === '' || mayHoldApiKey(userAgent) ? undefined : userAgent,
  };
}

export const OPERATORS: OperatorResource<OperatorUses> = {
  name: 'Failed requests',
  description: 'The last refused and failed requests.',
  uses: { failedRequests: true },
  operations: [listFailedRequests, listFailedRequestGroups, getFailedRequest],
};
