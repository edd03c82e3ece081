// Contract: section 6.
import { textFromInstant } from '../../domain/instant.ts';
import { describeWindows } from '../../limits/quota.ts';
import { requireValue, type Terminal } from '../../terminal/command.ts';
import type { JsonOption } from '../../terminal/options.ts';
import { printRows } from '../../terminal/output.ts';
import type { AccountRepository } from '../accounts/repository.ts';

/** Prints what each account, or the one with this name, has left in both windows. */
export function showWindows(
  withQuotas: Terminal<{ readonly accounts: AccountRepository }>['withQuotas'],
  { account: name, json }: JsonOption & { account?: string },
): Promise<void> {
  return withQuotas(async ({ store: { accounts }, quotas }) => {
    const chosen = name === undefined ? await accounts.list() : [requireValue(await accounts.find(name))];
    const usage = await Promise.all(
      chosen.map(async (account) => {
        const { minute, day } = describeWindows(await quotas.usageOf(account));
        return { account: account.name, plan: account.plan, minute, day };
      }),
    );
    const header = ['ACCOUNT', 'PLAN', 'MINUTE LEFT', 'RESETS', 'DAY LEFT', 'RESETS'];
    printRows(json, usage, header, ({ account, plan, minute, day }) => [
      account,
      plan,
      ...windowCells(minute),
      ...windowCells(day),
    ]);
  });
}

function windowCells({ limit, remaining, reset }: ReturnType<typeof describeWindows>['day']) {
  return [`${remaining} of ${limit}`, textFromInstant(reset * 1_000)];
}
