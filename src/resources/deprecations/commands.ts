// Contract: sections 8 and 9.
import { textFromInstant } from '../../domain/instant.ts';
import { command, type CommandContext } from '../../terminal/command.ts';
import { instantCell, type Column } from '../../terminal/table.ts';
import { viewRows } from '../../terminal/view.ts';
import type { UsageRepository } from '../usage/repository.ts';
import { type DeprecatedOperation, type DeprecatedUse, listDeprecatedUses } from './uses.ts';

interface Context
  extends CommandContext<{
    readonly usageHistory: Pick<UsageRepository, 'sums' | 'lastCalls'>;
  }> {
  readonly readDeprecated: () => Promise<readonly DeprecatedOperation[]>;
}

const COLUMNS: readonly Column<ReturnType<typeof toRow>>[] = [
  ['OPERATION', ({ operation }) => operation],
  ['REMOVED ON', ({ removal }) => removal.slice(0, 10)],
  ['INSTEAD', ({ successor }) => successor, { weight: 2 }],
  ['ACCOUNT', ({ account }) => account, { shrinks: true }],
  ['KEY', ({ keyId }) => String(keyId)],
  ['LABEL', ({ label }) => label ?? '-', { weight: 1, shrinks: true }],
  ['REQUESTS', ({ requests }) => requests],
  ['LAST HOUR', ({ lastHour }) => instantCell(lastHour)],
];

export const deprecationsCommand = command('deprecations', {
  description: 'list the keys that called a deprecated operation in the last 30 days, and how often',
  run: async (_, { clock, store, readDeprecated }: Context) => {
    const deprecated = await readDeprecated();
    const uses = await listDeprecatedUses(store.usageHistory, deprecated, clock().unix);
    return viewRows(COLUMNS, uses.map(toRow));
  },
});

function toRow({ operation, removal, successor, account, keyId, label, requests, lastHour }: DeprecatedUse) {
  return {
    operation,
    removal: textFromInstant(removal),
    successor,
    account,
    keyId,
    label: label ?? null,
    requests,
    lastHour: textFromInstant(lastHour),
  };
}
