// Contract: section 10.2.
import { z } from 'zod';
import { type Parameter, rowFilter, shortText } from '../../http/parameters.ts';
import { mapPage } from '../../domain/page.ts';
import { ERROR_CODES } from '../../domain/errors.ts';
import { textFromInstant } from '../../domain/instant.ts';
import { list, type OperatorResource } from '../../http/operation.ts';
import type { Fault, RecentRequests } from '../../observability/recent-requests.ts';

interface Repositories {
  readonly recent: RecentRequests;
}

const Faults = z
  .array(
    z.object({
      time: z.iso.datetime(),
      requestId: z.string(),
      method: z.string(),
      operation: z.string().optional(),
      status: z.int(),
      code: z.enum(ERROR_CODES).optional(),
      accountId: z.int().optional(),
      account: z.string().optional(),
      keyId: z.int().optional(),
    }),
  )
  .meta({ id: 'Faults', description: 'Requests that were answered with an error, the newest first.' });

const status: Parameter<number> = {
  description: 'Only requests that were answered with this status.',
  example: 429,
  schema: { type: 'integer', format: 'int32', minimum: 400, maximum: 599 },
  read: (text) => (/^[45]\d\d$/.test(text) ? Number(text) : undefined),
  fault: 'must be an integer from 400 to 599',
  absent: undefined,
};

const listFaults = list(Faults, 'faults', {
  id: 'listFaults',
  path: '/faults',
  role: 'viewer',
  description:
    'Returns a page of the last requests below `/v1` that this instance answered with an error, the newest first. An instance ' +
    'keeps 10,000 of them in memory.',
  filters: {
    requestId: shortText(128, {
      description: 'Only the requests with this `X-Request-Id`.',
      example: 'checkout-7f3a',
    }),
    accountId: rowFilter('Only requests of this account.'),
    keyId: rowFilter('Only requests with this key.', 7),
    status,
  },
  examples: {
    refused: {
      summary: 'A refused request',
      value: [
        {
          time: '2026-11-23T14:05:12.645Z',
          requestId: 'checkout-7f3a',
          method: 'GET',
          operation: 'listPets',
          status: 429,
          code: 'rate_limit_exceeded',
          accountId: 1,
          account: 'shop',
          keyId: 7,
        },
      ],
    },
  },
  handle: async ({ parameters }, { recent }: Repositories) =>
    mapPage(recent.listFaults(parameters), describeFault),
});

function describeFault({ id: _id, at, ...fault }: Fault) {
  return { time: textFromInstant(at), ...fault };
}

export const OPERATOR_FAULTS: OperatorResource<Repositories> = {
  name: 'Faults',
  description: 'The last refused and failed requests.',
  operations: [listFaults],
};
