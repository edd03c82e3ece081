// Contract: sections 5 and 10.2.
import { type Account, type CustomLimits, limitsOf } from '../../domain/account.ts';
import type { Limits, Plan } from '../../domain/plan.ts';
import type { Failure } from '../../domain/result.ts';
import { checkedName } from '../../domain/text.ts';

/** The name of the account that is used when a command names none. It is made with plan Free if there is none. */
export const DEFAULT_ACCOUNT = 'default';

/** The values of an account that an operator can change. */
export interface AccountValues {
  readonly name: string;
  readonly plan: Plan;
  /** Set together with the plan. */
  readonly limits: Limits;
  readonly suspended: boolean;
}

/** The values that the operator saw. A change is refused when the account has others. */
export type ExpectedValues = Partial<Omit<AccountValues, 'limits'> & Limits>;

/** A change as an operator sends it. Values that are absent stay as they are. */
export interface AccountPatch extends ExpectedValues {
  readonly expected?: ExpectedValues;
}

/**
 * The values that a patch of `account` sets, and those that it expects. A change of a limit alone keeps the plan.
 * @throws ServiceError `invalid_parameter` as `checkedName` and `limitsOf` do.
 */
export function completePatch(
  account: Account,
  { expected = {}, perMinute, perDay, name, ...rest }: AccountPatch,
): [values: Partial<AccountValues>, expected: ExpectedValues] {
  const values = name === undefined ? rest : { ...rest, name: checkedName('account', name) };
  if (rest.plan === undefined && perMinute === undefined && perDay === undefined) return [values, expected];
  const plan = rest.plan ?? account.plan;
  const present = plan === 'enterprise' && account.plan === 'enterprise' ? account.limits : {};
  const custom: CustomLimits = {
    ...present,
    ...(perMinute !== undefined && { perMinute }),
    ...(perDay !== undefined && { perDay }),
  };
  return [
    { ...values, plan, limits: limitsOf(plan, custom) },
    // The patch is completed with what this account is now, so it must still be so when it is written.
    { ...(rest.plan === undefined && { plan: account.plan }), ...present, ...expected },
  ];
}

/** Why an account is not as it is expected to be, or undefined if it is. */
export function refuseUnexpected(
  account: Account,
  expected: ExpectedValues,
): Failure<'precondition_failed'> | undefined {
  const { name, plan, limits, suspendedAt } = account;
  const present = { name, plan, ...limits, suspended: suspendedAt !== undefined };
  const names = Object.keys(expected) as (keyof ExpectedValues)[];
  if (names.every((key) => expected[key] === present[key])) return undefined;
  return {
    error: 'precondition_failed',
    message:
      `Somebody else has changed this account: it is now called ${name}, has plan ${plan} with ${limits.perMinute} requests ` +
      `per minute and ${limits.perDay} per day, and is ${present.suspended ? '' : 'not '}suspended. ` +
      'Decide by these values, and send the change again.',
  };
}
