// Contract: sections 3.13 and 10.2.
import { z } from 'zod';
import { ERROR_CODES } from '../../domain/errors.ts';
import { dateTime, int64 } from '../../domain/fields.ts';
import { REQUEST_ID } from '../../http/request-headers.ts';

/* As clients see those of their account. */

/** Failed requests that a holder can see. */
export const MOST_REQUESTS = 100;

const FAILED = {
  requestId: 'checkout-7f3a',
  timestamp: '2027-01-15T09:00:00.120Z',
  method: 'GET',
  path: '/v1/pets/{petId}',
  status: 404,
  code: 'not_found',
  message: 'There is no animal with this petId.',
  keyId: 7,
};

export const OwnFailedRequest = z
  .object({
    requestId: z
      .string()
      .max(128)
      .regex(REQUEST_ID)
      .meta({ description: 'The `X-Request-Id` of its response.', examples: ['checkout-7f3a'] }),
    timestamp: dateTime.meta({ description: 'When it began.' }),
    method: z
      .string()
      .max(20)
      .regex(/^[A-Z-]+$/)
      .meta({ description: 'Its method.', examples: ['GET'] }),
    path: z
      .string()
      .max(200)
      .regex(/^\//)
      .exactOptional()
      .meta({
        description: 'Its path, with names in place of ids. Absent if the API has no such path.',
        examples: ['/v1/pets/{petId}'],
      }),
    status: int64.meta({
      format: 'int32',
      minimum: 400,
      maximum: 599,
      description: 'The status of its response.',
      examples: [404],
    }),
    code: z
      .enum(ERROR_CODES)
      .meta({ description: 'The error code of its response.', examples: ['not_found'] }),
    message: z
      .string()
      .max(1_000)
      .regex(/\S/)
      .meta({
        description: 'The message of its response.',
        examples: ['There is no animal with this petId.'],
      }),
    keyId: int64.meta({
      description: 'Identifier of the key that was sent, also if it has expired or was revoked.',
      examples: [7],
    }),
  })
  .meta({
    id: 'FailedRequest',
    description: 'A request that was answered with an error.',
    examples: [FAILED],
  });

/* As operators see them. */

const REFUSED = {
  id: 1_795_442_712_645_000,
  time: '2026-11-23T14:05:12.645Z',
  requestId: 'checkout-7f3a',
  method: 'GET',
  path: '/v1/pets',
  operation: 'listPets',
  status: 429,
  code: 'rate_limit_exceeded',
  message: 'The limit of 60 requests per minute is used up: wait 34 s.',
  accountId: 1,
  account: 'shop',
  keyId: 7,
  address: '203.0.113.9',
  userAgent: 'petstore-client/1.0.0',
};

export const OperatorFailedRequest = z
  .object({
    id: z.int(),
    time: z.iso.datetime(),
    requestId: z.string(),
    method: z.string(),
    path: z.string().optional().meta({ description: 'As a template. Absent if the API has no such path.' }),
    operation: z.string().optional(),
    status: z.int(),
    code: z.enum(ERROR_CODES),
    message: z.string(),
    parameter: z
      .string()
      .optional()
      .meta({ description: 'The parameter, field or header that the message is about.' }),
    accountId: z.int().optional(),
    account: z.string().optional(),
    keyId: z
      .int()
      .optional()
      .meta({ description: 'The key that was sent, also if it has expired or was revoked.' }),
    address: z
      .string()
      .meta({ description: 'Of the client: an IPv4 address, or an IPv6 network of 64 bits.' }),
    userAgent: z
      .string()
      .optional()
      .meta({ description: 'Its first 200 characters. Absent if it may hold an API key.' }),
  })
  .meta({
    id: 'FailedRequest',
    description: 'A request that was answered with an error.',
    examples: [REFUSED],
  });

export const FailedRequestGroup = z
  .object({
    count: z.int().meta({ description: 'How many of them are kept.' }),
    firstTime: z.iso.datetime().meta({ description: 'When the first one that is kept began.' }),
    last: OperatorFailedRequest.meta({ description: 'The newest one.' }),
  })
  .meta({
    id: 'FailedRequestGroup',
    description: 'Requests that failed for the same cause.',
    examples: [{ count: 300, firstTime: '2026-11-23T14:01:40.027Z', last: REFUSED }],
  });
