// Contract: section 6.
import type { Command } from 'commander';
import type { Account } from '../domain/account.ts';
import { existingAccount } from '../domain/issue-key.ts';
import type { QuotaAdmin } from '../limits/counter.ts';
import type { Window } from '../limits/quota.ts';
import { JSON_OPTION } from './options.ts';
import { printJson, printTable } from './output.ts';
import { withQuotas } from './with-store.ts';

interface PrintedWindow {
  readonly limit: number;
  readonly remaining: number;
  readonly reset: number;
}

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

async function usageOf(account: Account, { quotas }: { quotas: QuotaAdmin }) {
  const { minute, day } = await quotas.usageOf(account);
  return {
    account: account.name,
    plan: account.plan,
    minute: printed(minute),
    day: printed(day),
  };
}

/** `reset` in Unix seconds, rounded up, as in the rate headers. */
function printed({ limit, remaining, resetsAt }: Window): PrintedWindow {
  return { limit, remaining, reset: Math.ceil(resetsAt / 1_000) };
}

function requestsLeft({ limit, remaining }: PrintedWindow): string {
  return `${remaining} of ${limit}`;
}

function resetOf({ reset }: PrintedWindow): string {
  return new Date(reset * 1_000).toISOString();
}
