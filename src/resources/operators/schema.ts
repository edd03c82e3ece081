// Contract: section 10.2.
import { z } from 'zod';
import { type Operator, type OperatorToken, ROLES } from '../../domain/operator.ts';
import { instantOfBody, iso } from '../../admin/values.ts';

export const OperatorJson = z
  .object({ id: z.int(), name: z.string(), role: z.enum(ROLES), createdAt: z.iso.datetime() })
  .meta({ id: 'Operator', description: 'A person who runs the service, or one of their programs.' });

export const Operators = z
  .array(OperatorJson)
  .meta({ id: 'Operators', description: 'Operators, the oldest first.' });

export const NewOperator = z
  .object({
    name: z.string({ error: 'must be a string' }),
    role: z.enum(ROLES, { error: `must be one of ${ROLES.join(', ')}` }),
  })
  .meta({ id: 'NewOperator', description: 'An operator to add.' });

const TokenJson = z
  .object({
    id: z.int(),
    operator: z.string(),
    createdAt: z.iso.datetime(),
    expiresAt: z.iso.datetime().optional(),
  })
  .meta({ id: 'Token', description: 'A token of an operator, without the token itself.' });

export const Tokens = z.array(TokenJson).meta({ id: 'Tokens', description: 'Tokens, the oldest first.' });

export const IssuedToken = TokenJson.extend({ token: z.string() }).meta({
  id: 'IssuedToken',
  description: 'A token that was just created, with the token itself.',
});

export const NewToken = z
  .object({ expiresAt: instantOfBody.optional() })
  .meta({ id: 'NewToken', description: 'Settings of a token.' });

export const Link = z
  .object({ link: z.string(), expiresAt: z.iso.datetime() })
  .meta({ id: 'SignInLink', description: 'An address that signs in once.' });

export const OPERATOR = { id: 2, name: 'ada', role: 'viewer', createdAt: '2026-11-23T14:05:12.645Z' };
export const TOKEN = { id: 5, operator: 'ada', createdAt: '2026-11-23T14:05:12.645Z' };

export function operatorJson({ createdAt, ...operator }: Operator) {
  return { ...operator, createdAt: iso(createdAt) };
}

export function tokenJson({ createdAt, expiresAt, ...token }: OperatorToken) {
  return { ...token, createdAt: iso(createdAt), expiresAt: iso(expiresAt) };
}
