// Contract: section 10.2.
import { z } from 'zod';
import { type Account, accountName, limitsOf } from '../domain/account.ts';
import { PLAN_NAMES } from '../domain/plan.ts';
import type { AccountRepository } from '../domain/ports.ts';
import { adminOperation, type AdminResource } from './operation.ts';
import { iso, present, whole } from './values.ts';

interface Stores {
  readonly accounts: AccountRepository;
}

/** Requests in a window. A larger number is a typing error. */
const limitOfWindow = whole(1, 1_000_000_000);

const AccountJson = z
  .object({
    id: z.int(),
    name: z.string(),
    plan: z.enum(PLAN_NAMES),
    limits: z.object({ perMinute: z.int(), perDay: z.int() }),
    suspendedAt: z.iso.datetime().optional(),
  })
  .meta({ id: 'Account', description: 'An account.' });

const NewAccount = z
  .object({
    name: z.string({ error: 'must be a string' }),
    plan: z.enum(PLAN_NAMES).default('free'),
    perMinute: limitOfWindow.exactOptional(),
    perDay: limitOfWindow.exactOptional(),
  })
  .meta({ id: 'NewAccount', description: 'An account to add.' });

const createAccount = adminOperation({
  id: 'createAccount',
  method: 'POST',
  path: '/accounts',
  role: 'admin',
  summary: 'Create an account',
  description: 'Creates an account. Plan `enterprise` needs `perMinute` and `perDay`.',
  parameters: {},
  body: { schema: NewAccount, description: 'The account.', examples: {} },
  answers: {
    201: { description: 'The account was created.', content: { schema: AccountJson, examples: {} } },
  },
  errors: { conflict: 'Another account has this name, ignoring case.', invalid_parameter: '' },
  async handle({ body: { name, plan, ...custom }, author }, { accounts }: Stores) {
    const limits = limitsOf(plan, custom);
    const account = await accounts.by(author).createAccount(accountName(name), plan, limits);
    return { status: 201, json: accountJson(account) };
  },
});

function accountJson({ id, name, plan, limits, suspendedAt }: Account): string {
  return JSON.stringify(
    present({
      id,
      name,
      plan,
      limits,
      suspendedAt: suspendedAt === undefined ? undefined : iso(suspendedAt),
    }),
  );
}

export const ACCOUNTS: AdminResource<Stores> = {
  name: 'Accounts',
  description: 'Accounts, their plans and their limits.',
  operations: [createAccount],
};
