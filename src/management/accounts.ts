// Contract: section 5.
import { type Account, limitsOf } from '../domain/account.ts';
import { ServiceError } from '../domain/errors.ts';
import type { Limits, Plan } from '../domain/plan.ts';
import type { AccountRepository } from '../domain/account-ports.ts';
import { didYouMean } from '../domain/nearest.ts';
import { checkedName } from '../domain/text.ts';

/**
 * The account called `name`, made with `plan` when there is none yet.
 * @throws ServiceError `not_found` when there is none and no plan is given, because the name may be mistyped; `conflict`
 * when it exists with another plan or other limits than asked for; those of `checkedName` and `limitsOf`.
 */
export async function accountFor(
  accounts: AccountRepository,
  name: string,
  plan: Plan | undefined,
  custom: Partial<Limits>,
): Promise<Account> {
  const account = (await accounts.findAccount(name)) ?? (await newAccount(accounts, name, plan, custom));
  const { perMinute = account.limits.perMinute, perDay = account.limits.perDay } = custom;
  const samePlan = plan === undefined || plan === account.plan;
  if (!samePlan || perMinute !== account.limits.perMinute || perDay !== account.limits.perDay) {
    throw new ServiceError(
      'conflict',
      `The account ${account.name} has plan ${account.plan} with ${account.limits.perMinute} requests per minute and ` +
        `${account.limits.perDay} per day: change it with petstore accounts set.`,
    );
  }
  return account;
}

async function newAccount(
  accounts: AccountRepository,
  name: string,
  plan: Plan | undefined,
  custom: Partial<Limits>,
): Promise<Account> {
  if (plan === undefined)
    throw await noAccount(accounts, name, ' To create it, add its plan, for example --plan free.');
  // Another process may make the account at this moment, perhaps with another plan.
  return accounts.findOrCreateAccount(checkedName('account', name), plan, limitsOf(plan, custom));
}

/** The account that is used when a command names none. It is created with plan Free if it does not exist. */
export function defaultAccount(accounts: AccountRepository): Promise<Account> {
  return accounts.findOrCreateAccount('default', 'free', limitsOf('free', {}));
}

/** @throws ServiceError `not_found`. */
export async function existingAccount(accounts: AccountRepository, name: string): Promise<Account> {
  const account = await accounts.findAccount(name);
  if (account === undefined) throw await noAccount(accounts, name);
  return account;
}

/** Names the account that is probably meant. */
async function noAccount(accounts: AccountRepository, name: string, advice = ''): Promise<ServiceError> {
  const names = (await accounts.listAccounts()).map((account) => account.name);
  return new ServiceError('not_found', `There is no account ${name}.${didYouMean(name, names)}${advice}`);
}
