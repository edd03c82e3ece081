// Contract: section 10.2.
import { z } from 'zod';
import { bodyInstant } from '../../domain/fields.ts';
import { ROLES } from '../../domain/operator.ts';

export const Me = z
  .object({
    id: z.int(),
    name: z.string(),
    role: z.enum(ROLES),
    environment: z.string(),
    version: z.string(),
  })
  .meta({ id: 'Me', description: 'The calling operator and the service.' });

export const Operator = z
  .object({
    id: z.int(),
    name: z.string(),
    role: z.enum(ROLES),
    createdAt: z.iso.datetime(),
    lastSignInAt: z.iso.datetime().meta({ description: 'When the operator last signed in.' }).optional(),
  })
  .meta({ id: 'Operator', description: 'A person who runs the service, or one of their programs.' });

export const Operators = z
  .array(Operator)
  .meta({ id: 'Operators', description: 'Operators, the oldest first.' });

export const NewOperator = z
  .object({
    name: z.string({ error: 'must be a string' }),
    role: z.enum(ROLES, { error: `must be one of ${ROLES.join(', ')}` }),
  })
  .meta({ id: 'NewOperator', description: 'An operator to add.' });

const Token = z
  .object({
    id: z.int(),
    operator: z.string(),
    createdAt: z.iso.datetime(),
    expiresAt: z.iso.datetime().optional(),
  })
  .meta({ id: 'Token', description: 'A token of an operator, without the token itself.' });

export const Tokens = z.array(Token).meta({ id: 'Tokens', description: 'Tokens, the oldest first.' });

export const IssuedToken = Token.extend({ token: z.string() }).meta({
  id: 'IssuedToken',
  description: 'A token that was just created, with the token itself.',
});

export const NewToken = z
  .object({ expiresAt: bodyInstant.optional() })
  .meta({ id: 'NewToken', description: 'Settings of a token.' });

export const SignInLink = z
  .object({ link: z.string(), expiresAt: z.iso.datetime() })
  .meta({ id: 'SignInLink', description: 'An address that signs in once.' });
