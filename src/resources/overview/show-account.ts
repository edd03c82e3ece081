// Contract: sections 5, 6 and 8.
import type { Command } from 'commander';
import { isInForce } from '../../domain/account.ts';
import { textFromInstant } from '../../domain/instant.ts';
import { OUTCOMES } from '../../domain/usage.ts';
import { toWindows } from '../../limits/quota.ts';
import { requireValue, type Terminal } from '../../terminal/command.ts';
import { findCommand, JSON_OPTION, type JsonOption } from '../../terminal/options.ts';
import { instantCell } from '../../terminal/table.ts';
import type { AccountRepository } from '../accounts/repository.ts';
import { toAccount, printAccount } from '../accounts/show.ts';
import { describeKeyCells, toListedKey, KEY_COLUMNS, readBans } from '../keys/key-table.ts';
import type { KeyRepository } from '../keys/repository.ts';
import type { UsageRepository } from '../usage/repository.ts';
import { countRequests, nameCounts, usageRange } from '../usage/rules.ts';

interface Repositories {
  readonly accounts: AccountRepository;
  readonly keys: KeyRepository;
  readonly usageHistory: Pick<UsageRepository, 'sums'>;
}

export function addShowAccount(program: Command, terminal: Terminal<Repositories>): void {
  findCommand(program, 'accounts')
    .command('show')
    .argument('<name>')
    .description('show an account: its limits, what is left of them, its usage and its keys')
    .option(...JSON_OPTION)
    .action((name: string, { json }: JsonOption) => showAccount(terminal, name, json));
}

/** Prints an account with both windows, its usage of the last 30 days, and its keys with their bans. */
function showAccount(terminal: Terminal<Repositories>, name: string, json: true | undefined): Promise<void> {
  const { withStore, tryQuotas, printJson, printLine, printTable } = terminal;
  return withStore(async (context) => {
    const { clock, store } = context;
    const account = requireValue(await store.accounts.find(name));
    const { id: accountId, limits } = account;
    const now = clock().unix;
    const range = requireValue(usageRange({}, Math.floor(now)));
    const [sum] = await store.usageHistory.sums({ ...range, accountId, by: 'account' });
    const { ok, clientError, refused, serverError } = sum ?? nameCounts([0, 0, 0, 0]);
    const usage = { ok, clientError, refused, serverError };
    const records = await store.keys.listAll({ accountId });
    const counted = await tryQuotas(context, 'windows and bans', async (quotas) => ({
      ...toWindows(await quotas.peek({ kind: 'account', accountId, limits })),
      bans: await readBans(quotas, records),
    }));
    const keys = records.map((key) => toListedKey(key, now, counted?.bans));
    const windows = counted && { minute: counted.minute, day: counted.day };
    if (json) return printJson({ ...toAccount(account), ...windows, usage, keys });

    printAccount(terminal, account, json);
    if (windows !== undefined) {
      printLine('');
      printTable(
        ['WINDOW', 'LEFT', 'LIMIT', 'RESETS'],
        Object.entries(windows).map(([window, { limit, remaining, reset }]) => [
          window,
          remaining,
          limit,
          instantCell(textFromInstant(reset * 1_000)),
        ]),
      );
    }
    printLine('');
    printTable(
      ['LAST 30 DAYS', 'OK', 'CLIENT ERROR', 'REFUSED', 'SERVER ERROR'],
      [[countRequests(usage), ...OUTCOMES.map((outcome) => usage[outcome])]],
    );
    const inForce = keys.filter((_, index) => records[index] && isInForce(records[index], now));
    printLine('');
    // Without the account and its plan, which all of them have.
    const cells = inForce.map((key) => describeKeyCells(key).toSpliced(1, 2));
    if (cells.length > 0) printTable(KEY_COLUMNS.toSpliced(1, 2), cells);
    const ended = keys.length - inForce.length;
    if (keys.length === 0) printLine('It has no key.');
    else if (ended > 0)
      printLine(`Keys that have ended or are revoked: ${ended}. petstore keys list --account shows them.`);
  });
}
