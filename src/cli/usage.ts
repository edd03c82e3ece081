import type { Command } from 'commander';
import type { Account } from '../domain/account.ts';
import { existingAccount } from '../domain/issue-key.ts';
import type { Clock } from '../domain/clock.ts';
import type { QuotaAdmin } from '../domain/ports.ts';
import type { Window } from '../domain/quota.ts';
import { JSON_OPTION } from './options.ts';
import { printJson, printTable } from './output.ts';
import { withQuotas } from './with-store.ts';

export function usageCommand(program: Command): void {
  program
    .command('usage')
    .description('what each account has left of its minute and of its day, as of a second ago')
    .option('--account <name>', 'only one account')
    .option(...JSON_OPTION)
    .action(showUsage);
}

function showUsage({ account: name, json }: { account?: string; json?: true }): Promise<void> {
  return withQuotas(async (surroundings) => {
    const { accounts } = surroundings.store;
    const asked =
      name === undefined ? await accounts.listAccounts() : [await existingAccount(accounts, name)];
    const usage = await Promise.all(asked.map((account) => usageOf(account, surroundings)));
    if (json) printJson(usage);
    else
      printTable(
        ['ACCOUNT', 'PLAN', 'MINUTE LEFT', 'RESETS', 'DAY LEFT', 'RESETS'],
        usage.map(({ account, plan, minute, day }) => [
          account,
          plan,
          requestsLeft(minute),
          resetOf(minute),
          requestsLeft(day),
          resetOf(day),
        ]),
      );
  });
}

async function usageOf(account: Account, { clock, quotas }: { clock: Clock; quotas: QuotaAdmin }) {
  // Read before the quota is, so that rounding up never goes past the end of a day.
  const now = clock().unix;
  const { minute, day } = await quotas.usageOf(account);
  return {
    account: account.name,
    plan: account.plan,
    minute: windowAt(minute, now),
    day: windowAt(day, now),
  };
}

/** `reset` in Unix seconds, rounded up, as in the rate headers (spec §8). */
function windowAt({ limit, remaining, reset }: Window, now: number): Window {
  return { limit, remaining, reset: Math.ceil((now + reset) / 1_000) };
}

function requestsLeft({ limit, remaining }: Window): string {
  return `${remaining} of ${limit}`;
}

function resetOf({ reset }: Window): string {
  return new Date(reset * 1_000).toISOString();
}
