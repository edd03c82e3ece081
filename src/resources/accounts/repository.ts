// Contract: sections 5 and 10.
import { isDeepStrictEqual } from 'node:util';
import { type Account, chooseLimits, type CustomLimits } from '../../domain/account.ts';
import { type Actor, type AuditChange, type AuditValues, SERVICE } from '../../domain/audit.ts';
import type { Environment } from '../../domain/api-key.ts';
import { DAY } from '../../domain/clock.ts';
import { instantOrNull, textFromInstant } from '../../domain/instant.ts';
import { toJson } from '../../domain/json.ts';
import { Listeners } from '../../domain/listeners.ts';
import { didYouMean } from '../../domain/nearest.ts';
import type { Page, PageQuery, Signal } from '../../domain/page.ts';
import { type Limits, type Plan, PLAN_NAMES, PLANS } from '../../domain/plan.ts';
import type { Failure, Result } from '../../domain/result.ts';
import type { ACCOUNT_STATES } from '../../domain/states.ts';
import { findNameIssue, foldedName, foldedPart } from '../../domain/text.ts';
import type { Engine } from '../../storage/engine.ts';
import {
  countInRounds,
  type Filters,
  listInRounds,
  type Sort,
  type Source,
} from '../../storage/lists-in-rounds.ts';
import { containing, type Row, type Sql, sql } from '../../storage/sql.ts';
import { enumeration, instant, integer, optional, type Stored, Table, text } from '../../storage/table.ts';
import type { Queries, Transaction } from '../../storage/transaction.ts';
import { addAudit } from '../audit/repository.ts';
import { markOnce, recordEvents } from '../events/repository.ts';
import { findStream } from '../events/rules.ts';
import {
  type AccountSort,
  type AccountPatch,
  type AccountRecord,
  findNoteIssue,
  type LimitUse,
  type ListedAccount,
  patchAccount,
} from './rules.ts';

export const ACCOUNTS = new Table(
  'accounts',
  {
    id: integer,
    name: text,
    plan: enumeration(PLAN_NAMES),
    perMinute: optional(integer),
    perDay: optional(integer),
    createdAt: instant,
    /** Accounts of versions that did not ignore case have none. */
    foldedName: optional(text),
    suspendedAt: optional(instant),
    note: optional(text),
  },
  { key: ['id'], assignsIds: true },
);

export const TABLES = [ACCOUNTS];

export function parseAccount({ id, name, plan, suspendedAt, ...custom }: Stored<typeof ACCOUNTS>): Account {
  const limits = chooseLimits(plan, custom);
  if ('error' in limits) throw new Error(`Account ${id} has wrong limits. ${limits.message}`);
  return { id, name, plan, limits: limits.value, suspendedAt };
}

function toRecord(row: Stored<typeof ACCOUNTS>): AccountRecord {
  return { ...parseAccount(row), createdAt: row.createdAt, note: row.note };
}

/** The columns of a plan: limits are stored only where the plan does not set them. */
function planColumns(plan: Plan, { perMinute, perDay }: Limits) {
  return PLANS[plan] === 'custom' ? { plan, perMinute, perDay } : { plan };
}

/** The accounts whose names differ from `name` in case only, or not at all. */
async function listNamesakes(
  queries: Pick<Queries, 'select'>,
  name: string,
): Promise<readonly AccountRecord[]> {
  const folded = foldedName(name);
  const end = sql`WHERE folded_name = ${folded} OR folded_name IS NULL ORDER BY id`;
  const rows = await queries.select(ACCOUNTS, end);
  return rows.map(toRecord).filter((account) => foldedName(account.name) === folded);
}

/** The refusal of a name that the account `id`, or a new one, cannot have. */
async function refuseName(
  queries: Pick<Queries, 'select'>,
  name: string,
  id?: number,
): Promise<Failure<'conflict'> | undefined> {
  const other = (await listNamesakes(queries, name)).find((account) => account.id !== id);
  return other && nameTaken(other.name);
}

function nameTaken(name: string) {
  const message = `There is an account ${name} already; the case of a name does not count.`;
  return { error: 'conflict', message } as const;
}

function accountChange(
  action: string,
  { id, name }: Account,
  values: Pick<AuditChange, 'before' | 'after'>,
): AuditChange {
  return { action, target: { kind: 'account', name }, accountId: id, ...values };
}

async function createAccount(
  transaction: Transaction,
  actor: Actor,
  name: string,
  plan: Plan,
  limits: Limits,
  note: string,
): Promise<Result<AccountRecord, 'conflict'>> {
  const refused = await refuseName(transaction, name);
  if (refused !== undefined) return refused;
  const columns = { ...planColumns(plan, limits), ...(note !== '' && { note }) };
  const createdAt = await transaction.now();
  const insert = ACCOUNTS.insert({ ...columns, name, foldedName: foldedName(name), createdAt });
  const [row] = await transaction.query(sql`${insert} ON CONFLICT DO NOTHING RETURNING ${ACCOUNTS.list}`);
  // Another process has added it at this moment.
  if (row === undefined) return (await refuseName(transaction, name)) ?? nameTaken(name);
  const account = toRecord(ACCOUNTS.parse(row));
  await addAudit(transaction, actor, accountChange('accounts create', account, { after: columns }));
  return { value: account };
}

/** Changes the values of an account, all or none. Each change is audited. */
async function changeAccount(
  transaction: Transaction,
  actor: Actor,
  id: number,
  patch: AccountPatch,
): Promise<Result<AccountRecord, 'not_found' | 'invalid_request' | 'precondition_failed' | 'conflict'>> {
  const end = sql`WHERE id = ${id} ${transaction.dialect.forUpdate()}`;
  const [row] = await transaction.select(ACCOUNTS, end);
  if (row === undefined) return { error: 'not_found' };
  let account = toRecord(row);
  const patched = patchAccount(account, patch);
  if ('error' in patched) return patched;
  const { name, plan, limits } = patched.value;
  const refused = patch.name === undefined ? undefined : await refuseName(transaction, name, id);
  if (refused !== undefined) return refused;

  const update = (columns: Parameters<typeof ACCOUNTS.set>[0]) =>
    transaction.query(sql`UPDATE accounts SET ${ACCOUNTS.set(columns)} WHERE id = ${id}`);
  const record = (action: string, before: AuditValues, after: AuditValues) =>
    addAudit(transaction, actor, accountChange(action, account, { before, after }));

  if (patch.name !== undefined) {
    // Also when the name stays, because the row of an earlier version has no folded name.
    await update({ name, foldedName: foldedName(name) });
    if (name !== account.name) await record('accounts rename', { name: account.name }, { name });
    account = { ...account, name };
  }
  const [before, after] = [planColumns(account.plan, account.limits), planColumns(plan, limits)];
  if (!isDeepStrictEqual(before, after)) {
    await update({ perMinute: undefined, perDay: undefined, ...after });
    await record('accounts set', before, after);
    account = { ...account, plan, limits };
  }
  if (patch.note !== undefined && patch.note !== (account.note ?? '')) {
    const note = patch.note === '' ? undefined : patch.note;
    await update({ note });
    await record('accounts set', { note: account.note ?? null }, { note: note ?? null });
    account = { ...account, note };
  }
  if (patch.suspended !== undefined && patch.suspended !== (account.suspendedAt !== undefined)) {
    const suspendedAt = patch.suspended ? await transaction.now() : undefined;
    await update({ suspendedAt });
    await record(
      patch.suspended ? 'accounts suspend' : 'accounts resume',
      { suspendedAt: instantOrNull(account.suspendedAt) },
      { suspendedAt: instantOrNull(suspendedAt) },
    );
    account = { ...account, suspendedAt };
  }
  return { value: account };
}

/** Tells accounts, once a day each, of thresholds that they have reached. */
async function recordLimits(
  transaction: Transaction,
  environment: Environment,
  uses: readonly LimitUse[],
): Promise<void> {
  for (const { accountId, type, day, limit, used } of uses) {
    const date = textFromInstant(day * DAY).slice(0, 10);
    if (await markOnce(transaction, `${type} ${accountId} ${environment} ${date}`))
      await recordEvents(transaction, [
        {
          ...findStream(type, { accountId, environment }),
          actor: SERVICE,
          data: toJson({ day: date, limit, used }),
        },
      ]);
  }
}

export const WRITES = { create: createAccount, change: changeAccount, recordLimits };

interface AccountFilter {
  /** Part of the name or of the note, ignoring case. */
  readonly search?: string | undefined;
  readonly plan?: Plan | undefined;
  readonly state?: (typeof ACCOUNT_STATES)[number] | undefined;
}

interface AccountQuery extends AccountFilter, PageQuery {
  readonly sort?: AccountSort | undefined;
}

/** When a key of an account was last used. */
const LAST_USED = sql`(SELECT max(k.last_used_at) FROM keys k WHERE k.account_id = accounts.id)`;

const SOURCE: Source<ListedAccount> = {
  select: sql`SELECT ${ACCOUNTS.list}, ${LAST_USED}`,
  from: sql`accounts`,
  ids: sql`accounts`,
  id: sql`id`,
  size: 4_000,
  parse: toListed,
};

function toListed(row: Row): ListedAccount {
  const lastUsedAt = row[ACCOUNTS.columns.length] as bigint | null;
  return {
    ...toRecord(ACCOUNTS.parse(row)),
    lastUsedAt: lastUsedAt === null ? undefined : Number(lastUsedAt),
  };
}

/** What a list of accounts is sorted by, without its direction. A later account has a larger id. */
const SORT_KEYS: Readonly<Record<string, Sql>> = {
  // An account of a version that did not ignore case has no folded name, and comes first.
  name: sql`coalesce(folded_name, '')`,
  lastUsed: sql`coalesce(${LAST_USED}, 0)`,
};

function toSort(sort: AccountSort): Sort {
  return { by: SORT_KEYS[sort.replace('-', '')], isAscending: !sort.startsWith('-') };
}

function toFilters({ search = '', plan, state }: AccountFilter): Filters {
  const others: Sql[] = [];
  if (search !== '') {
    const [folded, typed] = [containing(foldedPart(search)), containing(search)];
    // SQLite ignores the case of ASCII letters only, so a note is also compared as it was typed.
    others.push(sql`(replace(coalesce(folded_name, lower(name)), 'ς', 'σ') LIKE ${folded} ESCAPE '!'
      OR lower(note) LIKE ${folded} ESCAPE '!' OR note LIKE ${typed} ESCAPE '!')`);
  }
  if (plan !== undefined) others.push(sql`plan = ${plan}`);
  if (state === 'active') others.push(sql`suspended_at IS NULL`);
  if (state === 'suspended') others.push(sql`suspended_at IS NOT NULL`);
  return { indexed: [], others };
}

export type AccountRepository = ReturnType<typeof open>;

export function open(engine: Engine, { environment }: { readonly environment: Environment }) {
  const changes = new Listeners<[id: number, patch: AccountPatch]>();

  /** Ascending id. */
  async function listAll(): Promise<readonly AccountRecord[]> {
    return (await engine.select(ACCOUNTS, sql`ORDER BY id`)).map(toRecord);
  }

  /** The account with this name. Earlier versions allowed names that differ in case only: each is found by its exact name. */
  async function findByName(name: string): Promise<Result<AccountRecord, 'conflict'> | undefined> {
    const found = await listNamesakes(engine, name);
    const exact = found.find((account) => account.name === name);
    const only = exact ?? (found.length === 1 ? found[0] : undefined);
    if (only !== undefined) return { value: only };
    if (found.length === 0) return undefined;
    const names = found.map((account) => account.name).join(' and ');
    return { error: 'conflict', message: `There are accounts ${names}: write one of these names exactly.` };
  }

  /** Ignores the case of the name. The message of `not_found` suggests the name that is probably meant. */
  async function find(name: string): Promise<Result<AccountRecord, 'not_found' | 'conflict'>> {
    const found = await findByName(name);
    if (found !== undefined) return found;
    const names = (await listAll()).map((account) => account.name);
    return { error: 'not_found', message: `There is no account ${name}.${didYouMean(name, names)}` };
  }

  /** `conflict`: the name is taken, ignoring case. An empty note is none. */
  async function create(
    actor: Actor,
    name: string,
    plan: Plan,
    { note = '', ...custom }: CustomLimits & { readonly note?: string | undefined } = {},
  ): Promise<Result<AccountRecord, 'invalid_request' | 'conflict'>> {
    const issue = findNameIssue('account', name) ?? findNoteIssue(note);
    if (issue !== undefined) return issue;
    const limits = chooseLimits(plan, custom);
    return 'error' in limits ? limits : engine.write(createAccount, actor, name, plan, limits.value, note);
  }

  return {
    changes,
    async recordLimits(uses: readonly LimitUse[]): Promise<void> {
      if (uses.length > 0) await engine.write(recordLimits, environment, uses);
    },
    listAll,
    /** By default newest first. A filter reads some accounts at a time and lets requests run in between. */
    list: ({
      sort = '-created',
      limit,
      cursor,
      signal,
      ...filter
    }: AccountQuery): Promise<Page<ListedAccount>> =>
      listInRounds(engine, SOURCE, toFilters(filter), toSort(sort), { limit, cursor, signal }),
    /** How many accounts a list with these filters has. Requests run in between. */
    count: (filter: AccountFilter, signal?: Signal): Promise<number> =>
      countInRounds(engine, SOURCE, toFilters(filter), signal),
    async get(id: number): Promise<Result<ListedAccount, 'not_found'>> {
      const [row] = await engine.query(sql`${SOURCE.select} FROM accounts WHERE id = ${id}`);
      return row === undefined ? { error: 'not_found' } : { value: toListed(row) };
    },
    /** Those of these accounts that there are: at most some hundreds. */
    getAll: async (ids: readonly number[]): Promise<readonly AccountRecord[]> =>
      (await engine.select(ACCOUNTS, sql`WHERE ${engine.dialect.isAnyOf('id', ids)}`)).map(toRecord),
    find,
    create,
    /** The account with this name, or a new one. An account that exists keeps its plan. */
    async findOrCreate(
      ...[actor, name, plan, custom]: Parameters<typeof create>
    ): Promise<Result<AccountRecord, 'invalid_request' | 'not_found' | 'conflict'>> {
      const found = await findByName(name);
      if (found !== undefined) return found;
      const created = await create(actor, name, plan, custom);
      // If it is taken, another process has created it at this moment.
      return 'error' in created && created.error === 'conflict' ? find(name) : created;
    },
    /**
     * Changes several values at once, or none. All keys of a suspended account are refused. An account that was suspended
     * before keeps its instant. `precondition_failed`: a value is not as expected. `conflict`: the name is taken.
     */
    async change(
      actor: Actor,
      id: number,
      patch: AccountPatch,
    ): Promise<Awaited<ReturnType<typeof changeAccount>>> {
      try {
        return await engine.write(changeAccount, actor, id, patch);
      } catch (error) {
        // PostgreSQL refuses the second of two accounts that take a name at once.
        const refused = patch.name === undefined ? undefined : await refuseName(engine, patch.name, id);
        if (refused === undefined) throw error;
        return refused;
      } finally {
        await changes.tell(id, patch);
      }
    },
  };
}
