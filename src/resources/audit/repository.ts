// Contract: section 10.
import { setImmediate as letOthersRun } from 'node:timers/promises';
import {
  type Actor,
  actorName,
  type AuditChange,
  type AuditValues,
  isActorKind,
} from '../../domain/audit.ts';
import { INT64_MAX } from '../../domain/int64.ts';
import { type Page, type PageQuery, toPage } from '../../domain/page.ts';
import { repeatRounds } from '../../domain/rounds.ts';
import { isPartOf } from '../../domain/text.ts';
import type { Engine } from '../../storage/engine.ts';
import { empty, raw, type Sql, sql } from '../../storage/sql.ts';
import { instant, integer, json, optional, type Stored, Table, text } from '../../storage/table.ts';
import type { Transaction } from '../../storage/transaction.ts';

function isObject(value: unknown): value is AuditValues {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What was changed by whom. Nothing of it is ever changed. What keys wrote is deleted in the end. */
const AUDIT = new Table(
  'audit',
  {
    id: integer,
    at: instant,
    /** A later version may have others. */
    actorKind: text,
    actor: text,
    address: optional(text),
    action: text,
    targetKind: text,
    target: text,
    accountId: optional(integer),
    beforeValues: optional(json('an object', isObject)),
    afterValues: optional(json('an object', isObject)),
  },
  { key: ['id'], assignsIds: true },
);

/** One row, once something was deleted: the entries of keys that are older than this are gone, or may go. */
const RETENTION = new Table('audit_retention', { id: integer, keptFrom: instant }, { key: ['id'] });
const RETENTION_ID = 1;

export const TABLES = [AUDIT, RETENTION];

/** Entries that one transaction deletes. */
const PRUNED_AT_ONCE = 500;

export interface AuditEntry extends AuditChange {
  readonly id: number;
  readonly actor: Actor;
  /** Unix milliseconds. */
  readonly at: number;
}

export interface AuditQuery extends PageQuery {
  readonly accountId?: number | undefined;
  /** Unix milliseconds: only entries of this instant or later. */
  readonly since?: number | undefined;
  /** Part of the name of the actor, ignoring case. */
  readonly actor?: string | undefined;
  /** The whole name: `keys revoke`. */
  readonly action?: string | undefined;
}

/** Entries that one statement reads for a filter without an index: a few milliseconds of the thread that also answers requests. */
const ENTRIES_READ = 1_000;

/** Adds an entry to the transaction of its change. */
export async function addAudit(
  transaction: Transaction,
  actor: Actor,
  { action, target, accountId, before, after }: AuditChange,
): Promise<void> {
  const entry = AUDIT.insert({
    at: await transaction.now(),
    actorKind: actor.kind,
    actor: actorName(actor),
    address: actor.address,
    action,
    targetKind: target.kind,
    target: target.name,
    accountId,
    beforeValues: before,
    afterValues: after,
  });
  await transaction.query(entry);
}

/** The same for a change that many keys make all the time: the log shows it only when a person made it. */
export async function addOperatorAudit(
  transaction: Transaction,
  actor: Actor,
  change: AuditChange,
): Promise<void> {
  if (actor.kind !== 'key') await addAudit(transaction, actor, change);
}

/** Deletes entries of keys that are older than `keptFrom` (Unix milliseconds). Returns whether there may be more. */
async function pruneEntries(transaction: Transaction, keptFrom: number): Promise<boolean> {
  // The database lets nothing else go.
  await transaction.run(sql`${RETENTION.insert({ id: RETENTION_ID, keptFrom })}
    ON CONFLICT (id) DO UPDATE SET kept_from = excluded.kept_from`);
  const deleted = await transaction.query(sql`DELETE FROM audit WHERE id IN (
    SELECT id FROM audit WHERE actor_kind = 'key' AND at < ${keptFrom} ORDER BY at LIMIT ${PRUNED_AT_ONCE}) RETURNING 1`);
  return deleted.length === PRUNED_AT_ONCE;
}

export const WRITES = { add: addAudit, prune: pruneEntries };

/** How many entries the account's own keys have added since the instant `since` (Unix milliseconds). `which`: a condition. */
export async function countEntriesOfKeys(
  transaction: Transaction,
  accountId: number,
  since: number,
  which: Sql,
): Promise<number> {
  const [row] = await transaction.query<[count: bigint]>(sql`
    SELECT count(*) FROM audit
    WHERE account_id = ${accountId} AND at >= ${since} AND actor_kind = 'key' AND ${which}`);
  return Number(row?.[0]);
}

/**
 * The end of the SELECT for a page, with one entry more than `limit`. Rows are compared whole and in the order of an index, so both databases read only that
 * index, however many entries there are (docs/design/keys-and-operators.md).
 */
export function selectPage({ limit, accountId, since = 0, cursor }: AuditQuery): Sql {
  const end = cursor === undefined ? sql`${INT64_MAX}` : sql`(SELECT at FROM audit WHERE id = ${cursor})`;
  const [column, value, order] =
    accountId === undefined
      ? [empty, empty, empty]
      : [raw('account_id, '), sql`${accountId}, `, raw('account_id DESC, ')];
  return sql`
    WHERE (${column}at, id) < (${value}${end}, ${cursor ?? INT64_MAX}) AND (${column}at, id) >= (${value}${since}, 0)
    ORDER BY ${order}at DESC, id DESC LIMIT ${raw(String(limit + 1))}`;
}

/** Undefined for an actor of a kind that only a later version has. */
function parseEntry(row: Stored<typeof AUDIT>): AuditEntry | undefined {
  const { id, at, actorKind: kind, actor, address, action, targetKind, target, accountId } = row;
  if (!isActorKind(kind)) return undefined;
  const named: Actor = kind === 'key' ? { kind, id: Number(actor) } : { kind, name: actor };
  return {
    id,
    at,
    actor: address === undefined ? named : { ...named, address },
    action,
    target: { kind: targetKind, name: target },
    accountId,
    before: row.beforeValues,
    after: row.afterValues,
  };
}

export type AuditRepository = ReturnType<typeof open>;

export function open(engine: Engine) {
  /** The entry from which to go on when that of the cursor was deleted meanwhile: the one that was written after it. */
  async function replaceCursor(cursor: bigint): Promise<bigint | undefined> {
    const [row] = await engine.query<[id: bigint]>(
      sql`SELECT id FROM audit WHERE id >= ${cursor} ORDER BY id LIMIT 1`,
    );
    return row === undefined || row[0] === cursor ? undefined : row[0];
  }
  return {
    /** Newest first. A filter by actor or action reads some entries at a time, and requests run in between. */
    async list({ actor = '', action, ...query }: AuditQuery): Promise<Page<AuditEntry>> {
      const isFiltered = actor !== '' || action !== undefined;
      const isNamed = isPartOf(actor);
      const fits = (entry: AuditEntry) =>
        isNamed(actorName(entry.actor)) && (action === undefined || entry.action === action);
      const limit = isFiltered ? ENTRIES_READ : query.limit + 1;
      const found: AuditEntry[] = [];
      for (let { cursor } = query; ; ) {
        const read = toPage(await engine.select(AUDIT, selectPage({ ...query, cursor, limit })), limit);
        const entries = read.items.map(parseEntry).filter((entry) => entry !== undefined);
        found.push(...entries.filter(fits));
        const next =
          read.items.length === 0 && cursor !== undefined ? await replaceCursor(cursor) : read.next;
        if (next === undefined || found.length > query.limit) return toPage(found, query.limit);
        cursor = next;
        await letOthersRun();
        query.signal?.throwIfAborted();
      }
    },
    /** Deletes what keys wrote more than `milliseconds` ago. Any number of processes may call it at once. */
    async prune(milliseconds: number, signal?: AbortSignal): Promise<void> {
      const keptFrom = Math.floor(await engine.now()) - milliseconds;
      const isOld = sql`actor_kind = 'key' AND at < ${keptFrom}`;
      if ((await engine.query(sql`SELECT 1 FROM audit WHERE ${isOld} LIMIT 1`)).length === 0) return;
      await repeatRounds(() => engine.write(pruneEntries, keptFrom), signal);
    },
    /** Adds an entry of its own, for changes outside the database. Writes add their entries in their own transactions. */
    add: (actor: Actor, change: AuditChange) => engine.write(addAudit, actor, change),
  };
}
