// Contract: sections 8 and 9.
import type { Command } from 'commander';
import { textFromInstant } from '../../domain/instant.ts';
import type { Terminal } from '../../terminal/command.ts';
import { JSON_OPTION, type JsonOption } from '../../terminal/options.ts';
import { type Column, instantCell } from '../../terminal/table.ts';
import type { UsageRepository } from '../usage/repository.ts';
import { type DeprecatedOperation, listDeprecatedUses } from './uses.ts';

interface Repositories {
  readonly usageHistory: Pick<UsageRepository, 'sums' | 'lastCalls'>;
}

const COLUMNS: readonly Column[] = [
  'OPERATION',
  'REMOVED ON',
  { title: 'INSTEAD', weight: 2 },
  { title: 'ACCOUNT', shrinks: true },
  'KEY',
  { title: 'LABEL', weight: 1, shrinks: true },
  'REQUESTS',
  'LAST HOUR',
];

export function deprecationsCommands(
  program: Command,
  {
    withStore,
    printRows,
    readDeprecated,
  }: Terminal<Repositories> & {
    readDeprecated(this: void): Promise<readonly DeprecatedOperation[]>;
  },
): void {
  program
    .command('deprecations')
    .description('list the keys that called a deprecated operation in the last 30 days, and how often')
    .option(...JSON_OPTION)
    .action(({ json }: JsonOption) =>
      withStore(async ({ clock, store }) => {
        const deprecated = await readDeprecated();
        const uses = await listDeprecatedUses(store.usageHistory, deprecated, clock().unix);
        const rows = uses.map(
          ({ operation, removal, successor, account, keyId, label, requests, lastHour }) => ({
            operation,
            removal: textFromInstant(removal),
            successor,
            account,
            keyId,
            label: label ?? null,
            requests,
            lastHour: textFromInstant(lastHour),
          }),
        );
        printRows(json, rows, COLUMNS, (row) => [
          row.operation,
          row.removal.slice(0, 10),
          row.successor,
          row.account,
          String(row.keyId),
          row.label ?? '-',
          row.requests,
          instantCell(row.lastHour),
        ]);
      }),
    );
}
