// Contract: sections 5 and 10.2.
import { type Account, chooseLimits, type CustomLimits } from '../../domain/account.ts';
import { WITHOUT_KEY } from '../../domain/api-key.ts';
import type { Plan } from '../../domain/plan.ts';
import type { Failure, Result } from '../../domain/result.ts';
import { findNameIssue } from '../../domain/text.ts';

/** The name of the account that is used when a command names none. It is made with plan Free if there is none. */
export const DEFAULT_ACCOUNT = 'default';

/** The sorts of a list of accounts. A name with "-" is descending. An account that nobody has used comes before all others. */
export const ACCOUNT_SORTS = ['-created', 'created', 'name', '-name', '-lastUsed', 'lastUsed'] as const;

export type AccountSort = (typeof ACCOUNT_SORTS)[number];

/** Characters of the note of an account. */
export const NOTE_MAX = 500;

/** Lines of text. The audit log has them, so they may hold no key. */
const NOTE = new RegExp(`${WITHOUT_KEY}(?:[^\\p{Cc}\\p{Cs}]|[\\n\\t]){0,${NOTE_MAX}}$`, 'u');

/** Why a text cannot be the note of an account, or undefined if it can. */
export function findNoteIssue(text: string): Failure<'invalid_request'> | undefined {
  if (NOTE.test(text)) return undefined;
  return {
    error: 'invalid_request',
    message: `A note has at most ${NOTE_MAX} characters, no control characters and no API key.`,
  };
}

/** An account as its operators know it. */
export interface AccountRecord extends Account {
  /** Unix milliseconds. */
  readonly createdAt: number;
  /** What operators noted. */
  readonly note: string | undefined;
}

export interface ListedAccount extends AccountRecord {
  /** When one of its keys was last used, in Unix milliseconds. Up to a minute late. */
  readonly lastUsedAt: number | undefined;
}

/** Values of an account that an operator changes, or saw. Limits are those of plan Enterprise. */
interface AccountValues extends CustomLimits {
  readonly name?: string;
  readonly plan?: Plan;
  /** An empty note removes the note. */
  readonly note?: string;
  readonly suspended?: boolean;
}

/** A change. Values that are absent stay as they are. It is refused when the account has other values than `expected`. */
export interface AccountPatch extends AccountValues {
  readonly expected?: AccountValues;
}

/** The name, plan and limits of an account after a patch. A change of a limit alone keeps the plan and the other limit. */
export function patchAccount(
  account: AccountRecord,
  patch: AccountPatch,
): Result<Pick<Account, 'name' | 'plan' | 'limits'>, 'invalid_request' | 'precondition_failed'> {
  const { name = account.name, plan = account.plan, perMinute, perDay, expected = {} } = patch;
  const issue =
    (patch.name === undefined ? undefined : findNameIssue('account', name)) ??
    findNoteIssue(patch.note ?? '');
  if (issue !== undefined) return issue;
  const present = plan === 'enterprise' && account.plan === 'enterprise' ? account.limits : undefined;
  const limits = chooseLimits(plan, {
    perMinute: perMinute ?? present?.perMinute,
    perDay: perDay ?? present?.perDay,
  });
  if ('error' in limits) return limits;
  return refuseUnexpected(account, expected) ?? { value: { name, plan, limits: limits.value } };
}

/** Why an account is not as it is expected to be, or undefined if it is. */
function refuseUnexpected(
  account: AccountRecord,
  expected: AccountValues,
): Failure<'precondition_failed'> | undefined {
  const { name, plan, limits, note = '', suspendedAt } = account;
  const present = { name, plan, ...limits, note, suspended: suspendedAt !== undefined };
  const names = Object.keys(expected) as (keyof AccountValues)[];
  if (names.every((key) => expected[key] === present[key])) return undefined;
  return {
    error: 'precondition_failed',
    message:
      `Somebody else has changed this account: it is now called ${name}, has plan ${plan} with ${limits.perMinute} requests ` +
      `per minute and ${limits.perDay} per day, and is ${present.suspended ? '' : 'not '}suspended. ${note && `Its note is ${JSON.stringify(note)}. `}` +
      'Decide by these values, and send the change again.',
  };
}

/** A threshold of a day that an account has reached. */
export interface LimitUse {
  readonly accountId: number;
  readonly type: 'limit.warning' | 'limit.reached';
  /** The UTC day, in days since 1970-01-01. */
  readonly day: number;
  readonly limit: number;
  readonly used: number;
}

/** Which threshold `used` requests of a day have reached: all of the limit, or four fifths. */
export function findThreshold(limit: number, used: number): LimitUse['type'] | undefined {
  if (used >= limit) return 'limit.reached';
  return used * 5 >= limit * 4 ? 'limit.warning' : undefined;
}
