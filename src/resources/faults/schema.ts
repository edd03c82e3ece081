// Contract: section 10.2.
import { z } from 'zod';
import { ERROR_CODES } from '../../domain/errors.ts';

/* As operators see them. */

export const Fault = z
  .object({
    id: z.int(),
    time: z.iso.datetime(),
    requestId: z.string(),
    method: z.string(),
    path: z.string().optional().meta({ description: 'As a template. Absent if the API has no such path.' }),
    operation: z.string().optional(),
    status: z.int(),
    code: z.enum(ERROR_CODES).optional(),
    message: z.string().optional(),
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
  .meta({ id: 'Fault', description: 'A request that was answered with an error.' });

export const Faults = z
  .array(Fault)
  .meta({ id: 'Faults', description: 'Requests that were answered with an error, the newest first.' });

export const FaultGroups = z
  .array(
    z.object({
      count: z.int().meta({ description: 'How many of them are kept.' }),
      firstTime: z.iso.datetime().meta({ description: 'When the first one that is kept began.' }),
      last: Fault.meta({ description: 'The newest one.' }),
    }),
  )
  .meta({
    id: 'FaultGroups',
    description: 'Requests that failed for the same cause, by the newest one, the newest first.',
  });
