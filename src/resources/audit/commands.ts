// Contract: section 10.
import type { Command } from 'commander';
import type { ErrorCode } from '../../domain/errors.ts';
import type { Result } from '../../domain/result.ts';
import { type AuditValues, toActor } from '../../domain/audit.ts';
import { textFromInstant } from '../../domain/instant.ts';
import { mapPage } from '../../domain/page.ts';
import { requireValue, type Terminal } from '../../terminal/command.ts';
import {
  type Instant,
  JSON_OPTION,
  type JsonOption,
  LIMIT_OPTION,
  type LimitOption,
  since as sinceOption,
} from '../../terminal/options.ts';
import { readPages } from '../../terminal/pages.ts';
import { type Column, instantCell } from '../../terminal/table.ts';
import type { AuditEntry, AuditRepository } from './repository.ts';

interface NamedAccount {
  readonly id: number;
  readonly name: string;
}

interface Repositories {
  readonly accounts: {
    find(name: string): Promise<Result<NamedAccount, ErrorCode>>;
    listAll(): Promise<readonly NamedAccount[]>;
  };
  readonly audit: AuditRepository;
}

interface AuditOptions extends JsonOption, LimitOption {
  readonly account?: string;
  readonly since?: Instant;
}

const EXAMPLE = `
Example:
  petstore audit --account shop --since 30d`;

const COLUMNS: readonly Column[] = [
  'TIME',
  { title: 'BY', shrinks: true },
  { title: 'FROM', weight: 1 },
  'ACTION',
  { title: 'TARGET', shrinks: true },
  { title: 'ACCOUNT', weight: 2, shrinks: true },
  { title: 'CHANGE', shrinks: true },
];

export function auditCommands(program: Command, { withStore, printPages }: Terminal<Repositories>): void {
  program
    .command('audit')
    .description('list what operators, commands and keys changed, newest first')
    .option('--account <name>', 'only the changes that concern one account')
    .option(
      '--since <when>',
      'only changes since then: a date (midnight UTC), an ISO 8601 instant, or a duration before now: 30d',
      sinceOption,
    )
    .option(...LIMIT_OPTION)
    .option(...JSON_OPTION)
    .addHelpText('after', EXAMPLE)
    .action(({ account: name, since, json, limit }: AuditOptions) =>
      withStore(async ({ store: { accounts, audit }, clock }) => {
        const account = name === undefined ? undefined : requireValue(await accounts.find(name));
        const names = new Map((await accounts.listAll()).map((known) => [known.id, known.name]));
        const filters = { accountId: account?.id, since: since?.(clock().unix) };
        const pages = readPages(async (page) =>
          mapPage(await audit.list({ ...filters, ...page }), (entry) => toEntry(entry, names)),
        );
        await printPages(
          json,
          pages,
          COLUMNS,
          (entry) => [
            instantCell(entry.time),
            `${entry.actor.kind} ${entry.actor.name}`,
            entry.address ?? '-',
            entry.action,
            `${entry.target.kind} ${entry.target.name}`,
            entry.account ?? '-',
            describeChange(entry.before, entry.after),
          ],
          { limit },
        );
      }),
    );
}

/** `names` has those of accounts, as they are called now. */
function toEntry(
  { id, at, actor, action, target, accountId, before, after }: AuditEntry,
  names: ReadonlyMap<number, string>,
) {
  return {
    id,
    time: textFromInstant(at),
    actor: toActor(actor),
    address: actor.address ?? null,
    action,
    target,
    account: accountId === undefined ? null : (names.get(accountId) ?? null),
    before: before ?? null,
    after: after ?? null,
  };
}

/** `plan: free → pro, role: admin`. */
function describeChange(before: AuditValues | null, after: AuditValues | null): string {
  const texts = Object.keys({ ...before, ...after }).map((name) => {
    const [old, now] = [before?.[name], after?.[name]];
    return old === undefined
      ? `${name}: ${describeValue(now)}`
      : `${name}: ${describeValue(old)} → ${describeValue(now)}`;
  });
  return texts.length === 0 ? '-' : texts.join(', ');
}

function describeValue(value: AuditValues[string] | undefined): string {
  return Array.isArray(value) ? value.join(' ') : String(value ?? '-');
}
