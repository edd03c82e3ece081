// Contract: section 10.
import type { Command } from 'commander';
import { actorName, type AuditEntry, type AuditValues } from '../domain/audit.ts';
import { textFromInstant } from '../domain/instant.ts';
import { existingAccount } from '../management/accounts.ts';
import type { Store } from '../resources/repositories.ts';
import { withStore } from './context.ts';
import { type Instant, JSON_OPTION, type JsonOption, since as sinceOption } from '../terminal/options.ts';
import { printPages } from '../terminal/output.ts';
import { PAGE_SIZE } from '../terminal/pages.ts';

interface AuditOptions extends JsonOption {
  readonly account?: string;
  readonly since?: Instant;
}

const EXAMPLE = `
Example:
  petstore audit --account shop --since 30d`;

const HEADER = ['TIME', 'BY', 'FROM', 'ACTION', 'TARGET', 'ACCOUNT', 'CHANGE'];

export function auditCommand(program: Command): void {
  program
    .command('audit')
    .description('list what operators, commands and keys changed, newest first')
    .option('--account <name>', 'only the changes that concern one account')
    .option(
      '--since <when>',
      'only changes since then: a date (midnight UTC), an ISO 8601 instant, or a duration before now: 30d',
      sinceOption,
    )
    .option(...JSON_OPTION)
    .addHelpText('after', EXAMPLE)
    .action(listAudit);
}

function listAudit({ account: name, since, json }: AuditOptions): Promise<void> {
  return withStore(async ({ store, clock }) => {
    const { accounts } = store;
    const account = name === undefined ? undefined : await existingAccount(accounts, name);
    const names = new Map((await accounts.listAccounts()).map((each) => [each.id, each.name]));
    const filter = { accountId: account?.id, since: since?.(clock().unix) };
    const pages = entriesOf(store, filter, (entry) => entryJson(entry, names));
    await printPages(json, pages, HEADER, (entry) => [
      entry.time ?? '-',
      `${entry.actor.kind} ${entry.actor.name}`,
      entry.address ?? '-',
      entry.action,
      `${entry.target.kind} ${entry.target.name}`,
      entry.account ?? '-',
      changeText(entry.before, entry.after),
    ]);
  });
}

async function* entriesOf<T>(
  { audit }: Pick<Store, 'audit'>,
  filter: { readonly accountId: number | undefined; readonly since: number | undefined },
  map: (entry: AuditEntry) => T,
): AsyncGenerator<readonly T[]> {
  for (let before: number | undefined; ; ) {
    const entries = await audit.list({ ...filter, limit: PAGE_SIZE, before });
    yield entries.map(map);
    if (entries.length < PAGE_SIZE) return;
    before = entries.at(-1)?.id;
  }
}

/** The JSON of an entry. `names` has those of accounts, as they are called now. */
function entryJson(
  { id, at, actor, action, target, accountId, before, after }: AuditEntry,
  names: ReadonlyMap<number, string>,
) {
  return {
    id,
    time: textFromInstant(at),
    actor: { kind: actor.kind, name: actorName(actor) },
    address: actor.address ?? null,
    action,
    target,
    account: accountId === undefined ? null : (names.get(accountId) ?? null),
    before: before ?? null,
    after: after ?? null,
  };
}

/** `plan: free → pro, role: admin`. */
function changeText(before: AuditValues | null, after: AuditValues | null): string {
  const names = Object.keys({ ...before, ...after });
  const texts = names.map((name) => {
    const [old, its] = [before?.[name], after?.[name]];
    if (old === undefined) return `${name}: ${valueText(its)}`;
    return `${name}: ${valueText(old)} → ${valueText(its)}`;
  });
  return texts.length === 0 ? '-' : texts.join(', ');
}

function valueText(value: AuditValues[string] | undefined): string {
  return Array.isArray(value) ? value.join(' ') : String(value ?? '-');
}
