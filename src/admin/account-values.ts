// Contract: section 10.2.
import { z } from 'zod';
import { type Account, limitsOf } from '../domain/account.ts';
import { LIMIT_MAX, PLAN_NAMES, type Plan } from '../domain/plan.ts';
import type { AccountChange } from '../domain/account-ports.ts';
import { checkedName } from '../domain/text.ts';
import type { KeyBan } from '../limits/counter.ts';
import { iso, whole } from './values.ts';

const limitOfWindow = whole(1, LIMIT_MAX);

const name = z.string({ error: 'must be a string' });
const plan = z.enum(PLAN_NAMES, { error: `must be one of ${PLAN_NAMES.join(', ')}` });
const suspended = z.boolean({ error: 'must be true or false' });
const limits = { perMinute: limitOfWindow.exactOptional(), perDay: limitOfWindow.exactOptional() };

export const AccountJson = z
  .object({
    id: z.int(),
    name: z.string(),
    plan: z.enum(PLAN_NAMES),
    limits: z.object({ perMinute: z.int(), perDay: z.int() }),
    suspendedAt: z.iso.datetime().optional(),
  })
  .meta({ id: 'Account', description: 'An account.' });

const WindowJson = z.object({ limit: z.int(), remaining: z.int(), reset: z.int() });

export const AccountDetails = AccountJson.extend({
  minute: WindowJson,
  day: WindowJson,
  bans: z.array(
    z.object({
      keyId: z.int(),
      label: z.string().optional(),
      until: z.iso.datetime(),
      count: z.int(),
    }),
  ),
}).meta({ id: 'AccountDetails', description: 'An account, its windows and the bans of its keys.' });

export const NewAccount = z
  .object({ name, plan: plan.default('free'), ...limits })
  .meta({ id: 'NewAccount', description: 'An account to add. Plan `enterprise` needs limits.' });

const Values = z.object({
  name: name.exactOptional(),
  plan: plan.exactOptional(),
  ...limits,
  suspended: suspended.exactOptional(),
});

export const AccountPatch = Values.extend({ expected: Values.exactOptional() }).meta({
  id: 'AccountPatch',
  description:
    'A change of an account. With `expected`, the answer is 409 when the account has other values.',
});

export const EXAMPLE = { id: 1, name: 'shop', plan: 'pro', limits: { perMinute: 300, perDay: 10_000 } };
export const WINDOWS = {
  minute: { limit: 300, remaining: 299, reset: 1_795_398_057 },
  day: { limit: 10_000, remaining: 9_999, reset: 1_795_478_400 },
};

/**
 * The change that a patch of `account` asks for. A change of a limit alone keeps the plan.
 * @throws ServiceError `invalid_parameter` as `checkedName` and `limitsOf` do.
 */
export function changeOf(account: Account, patch: z.output<typeof AccountPatch>): AccountChange {
  const { expected = {}, perMinute, perDay, name: text, ...rest } = patch;
  const given = text === undefined ? rest : { ...rest, name: checkedName('account', text) };
  const custom = { ...(perMinute !== undefined && { perMinute }), ...(perDay !== undefined && { perDay }) };
  if (rest.plan === undefined && perMinute === undefined && perDay === undefined) return { given, expected };
  const its: Plan = rest.plan ?? account.plan;
  const kept = its === 'enterprise' && account.plan === 'enterprise' ? account.limits : {};
  const seen = rest.plan === undefined ? { plan: account.plan } : {};
  return {
    given: { ...given, plan: its, limits: limitsOf(its, { ...kept, ...custom }) },
    // The change is completed with what this account is now, so it must still be so when it is written.
    expected: { ...seen, ...kept, ...expected },
  };
}

export function isNow({
  name: its,
  plan: itsPlan,
  limits: { perMinute, perDay },
  suspendedAt,
}: Account): string {
  const state = suspendedAt === undefined ? 'is not suspended' : 'is suspended';
  return (
    `Somebody else has changed this account: it is now called ${its}, has plan ${itsPlan} with ${perMinute} requests ` +
    `per minute and ${perDay} per day, and ${state}. Decide by these values, and send the change again.`
  );
}

export function accountJson({ suspendedAt, ...account }: Account) {
  return { ...account, suspendedAt: iso(suspendedAt) };
}

export type LabelledBan = KeyBan & { readonly label: string | undefined };

export function banJson({ keyId, until, count, label }: LabelledBan) {
  return { keyId, label, until: iso(until), count };
}
