// Contract: sections 8 and 9.
import type { Command } from 'commander';
import { textFromInstant } from '../domain/instant.ts';
import { deprecatedUses } from '../management/deprecations.ts';
import { withStore } from './context.ts';
import { JSON_OPTION, type JsonOption } from '../terminal/options.ts';
import { printRows } from '../terminal/output.ts';

const HEADER = ['OPERATION', 'REMOVED ON', 'INSTEAD', 'ACCOUNT', 'KEY', 'LABEL', 'REQUESTS', 'LAST HOUR'];

export function deprecationsCommand(program: Command): void {
  program
    .command('deprecations')
    .description('list the keys that called a deprecated operation in the last 30 days, and how often')
    .option(...JSON_OPTION)
    .action(listDeprecations);
}

function listDeprecations({ json }: JsonOption): Promise<void> {
  return withStore(async ({ clock, store }) => {
    // Loaded here, because it loads all operations of the API, and the help of all commands loads this file.
    const { DEPRECATED_OPERATIONS } = await import('../resources/index.ts');
    const uses = await deprecatedUses(store.usageHistory, DEPRECATED_OPERATIONS, clock().unix);
    const rows = uses.map(({ operation, removal, successor, account, keyId, label, requests, lastHour }) => ({
      operation,
      removal: textFromInstant(removal),
      successor,
      account,
      keyId,
      label: label ?? null,
      requests,
      lastHour: textFromInstant(lastHour),
    }));
    printRows(json, rows, HEADER, (row) => [
      row.operation,
      row.removal?.slice(0, 10) ?? '-',
      row.successor,
      row.account,
      String(row.keyId),
      row.label ?? '-',
      String(row.requests),
      row.lastHour ?? '-',
    ]);
  });
}
