// Contract: sections 2 and 4.
import { z } from 'zod';
import { ERROR_CODES } from '../domain/errors.ts';

/** The body of every error response. */
export const ErrorBody = z
  .strictObject({
    code: z.enum(ERROR_CODES).meta({ description: 'Machine-readable error code.' }),
    message: z
      .string()
      .min(1)
      .max(1_000)
      .regex(/\S/)
      .meta({ description: 'Human-readable description of the error: what to do about it.' }),
    status: z
      .int()
      .min(400)
      .max(599)
      .meta({ format: 'int32', description: 'The HTTP status code of the response.' }),
  })
  .meta({ id: 'Error', description: 'Why a request was refused.' });
