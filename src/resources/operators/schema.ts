// Contract: section 10.2.
import { z } from 'zod';
import { bodyInstant, oneOf } from '../../domain/fields.ts';
import { ROLES } from '../../domain/operator.ts';

export const Me = z
  .object({
    id: z.int(),
    name: z.string(),
    role: z.enum(ROLES),
    environment: z.string(),
    version: z.string(),
  })
  .meta({
    id: 'Me',
    description: 'The calling operator and the service.',
    examples: [{ id: 2, name: 'ada', role: 'viewer', environment: 'production', version: '1.0.0' }],
  });

export const Operator = z
  .object({
    id: z.int(),
    name: z.string(),
    role: z.enum(ROLES),
    createdAt: z.iso.datetime(),
    lastSignInAt: z.iso.datetime().meta({ description: 'When the operator last signed in.' }).optional(),
  })
  .meta({
    id: 'Operator',
    description: 'A person who runs the service, or one of their programs.',
    examples: [{ id: 2, name: 'ada', role: 'viewer', createdAt: '2026-11-23T14:05:12.645Z' }],
  });

export const NewOperator = z
  .object({
    name: z.string({ error: 'must be a string' }),
    role: oneOf(ROLES),
  })
  .meta({
    id: 'NewOperator',
    description: 'An operator to add.',
    examples: [{ name: 'ada', role: 'viewer' }],
  });

const TOKEN = { id: 5, operator: 'ada', createdAt: '2026-11-23T14:05:12.645Z' };

export const Token = z
  .object({
    id: z.int(),
    operator: z.string(),
    createdAt: z.iso.datetime(),
    expiresAt: z.iso.datetime().optional(),
  })
  .meta({
    id: 'Token',
    description: 'A token of an operator, without the token itself.',
    examples: [TOKEN],
  });

export const IssuedToken = Token.extend({ token: z.string() }).meta({
  id: 'IssuedToken',
  description: 'A token that was just created, with the token itself.',
  examples: [{ ...TOKEN, token: 'petstore_admin_…' }],
});

export const NewToken = z.object({ expiresAt: bodyInstant.optional() }).meta({
  id: 'NewToken',
  description: 'When a token ends. Without `expiresAt`, it ends with its operator.',
  examples: [{ expiresAt: '2027-01-01T00:00:00Z' }],
});

export const SignInLink = z.object({ link: z.string(), expiresAt: z.iso.datetime() }).meta({
  id: 'SignInLink',
  description: 'An address that signs in once.',
  examples: [{ link: 'https://console.example/sign-in#…', expiresAt: '2026-11-23T14:15:12.645Z' }],
});
