// Contract: section 10.
import type { ErrorCode } from '../../domain/errors.ts';
import type { Result } from '../../domain/result.ts';
import { type AuditValues, toActor } from '../../domain/audit.ts';
import { textFromInstant } from '../../domain/instant.ts';
import { mapPage } from '../../domain/page.ts';
import { command, type CommandContext, findNamed } from '../../terminal/command.ts';
import { readPages } from '../../terminal/pages.ts';
import { instantCell, type Column } from '../../terminal/table.ts';
import { instantBefore, LIMIT, option } from '../../terminal/takers.ts';
import { viewPages } from '../../terminal/view.ts';
import type { AuditEntry, AuditRepository } from './repository.ts';

interface NamedAccount {
  readonly id: number;
  readonly name: string;
}

type Context = CommandContext<{
  readonly accounts: {
    find(name: string): Promise<Result<NamedAccount, ErrorCode>>;
    listAll(): Promise<readonly NamedAccount[]>;
  };
  readonly audit: AuditRepository;
}>;

const COLUMNS: readonly Column<ReturnType<typeof toEntry>>[] = [
  ['TIME', ({ time }) => instantCell(time)],
  ['BY', ({ actor }) => `${actor.kind} ${actor.name}`, { shrinks: true }],
  ['FROM', ({ address }) => address ?? '-', { weight: 1 }],
  ['ACTION', ({ action }) => action],
  ['TARGET', ({ target }) => `${target.kind} ${target.name}`, { shrinks: true }],
  ['ACCOUNT', ({ account }) => account ?? '-', { weight: 2, shrinks: true }],
  ['CHANGE', ({ before, after }) => describeChange(before, after), { shrinks: true }],
];

export const auditCommand = command('audit', {
  description: 'list what operators, commands and keys changed, newest first',
  takes: {
    account: option('<name>', 'only the changes that concern one account'),
    since: instantBefore('only changes since then', '30d'),
    limit: LIMIT,
  },
  examples: ['petstore audit --account shop --since 30d'],
  run: async ({ account, since, limit }, { store: { accounts, audit }, clock }: Context) => {
    const filters = {
      accountId: (await findNamed(accounts, account))?.id,
      since: since?.(clock().unix),
    };
    const names = new Map((await accounts.listAll()).map(({ id, name }) => [id, name]));
    const pages = readPages(async (page) =>
      mapPage(await audit.list({ ...filters, ...page }), (entry) => toEntry(entry, names)),
    );
    return viewPages(COLUMNS, pages, { limit });
  },
});

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
