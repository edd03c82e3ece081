// Contract: sections 2 and 3.
import type { Actor, AuditChange, AuditValues } from '../../domain/audit.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { Patch } from '../../domain/patch.ts';
import type { Idempotency } from '../../domain/idempotency.ts';
import { firstId, type Page, type PageQuery, toPage } from '../../domain/page.ts';
import { isCurrent, toJson } from '../../domain/json.ts';
import type { Result } from '../../domain/result.ts';
import { foldedName } from '../../domain/text.ts';
import { addAudit, addOperatorAudit } from '../audit/repository.ts';
import { type NewEvent, recordEvents } from '../events/repository.ts';
import type { Engine } from '../../storage/engine.ts';
import { raw, type Sql, sql } from '../../storage/sql.ts';
import { int64, integer, optional, type Stored, Table, text } from '../../storage/table.ts';
import { ask, type Queries, Question, type Transaction } from '../../storage/transaction.ts';
import type { Category, CategoryPatch, NewCategory } from './schema.ts';

const CATEGORIES = new Table(
  'categories',
  { id: int64, name: text, description: optional(text), foldedName: text, version: integer },
  { key: ['id'], assignsIds: true },
);

export const TABLES = [CATEGORIES];

/** A category that is still to be added. */
export interface ReservedCategory {
  readonly id: bigint;
  readonly name: string;
}

/** Whether an animal is of a category. */
export const IS_CATEGORY_USED = new Question<[categoryId: bigint], boolean>(async () => false);

/** No category has this name, because it is empty. */
const RESERVED = { name: '', foldedName: '', version: 1 };

function toCategory(row: Stored<typeof CATEGORIES>): Category {
  const { foldedName: _, version: __, ...category } = row;
  return category;
}

async function findCategory(
  queries: Pick<Queries, 'select'>,
  condition: Sql,
): Promise<Result<Category, 'not_found'>> {
  const [row] = await queries.select(CATEGORIES, sql`WHERE ${condition}`);
  return row === undefined ? { error: 'not_found' } : { value: toCategory(row) };
}

/** `conflict`: another category has the name, ignoring case. */
async function createCategory(
  transaction: Transaction,
  actor: Actor,
  category: NewCategory,
): Promise<Result<Category, 'conflict'>> {
  const row = { ...category, foldedName: foldedName(category.name), version: 1 };
  // An insert that is ignored takes an id.
  const [taken] = await transaction.select(CATEGORIES, sql`WHERE folded_name = ${row.foldedName}`);
  if (taken !== undefined) return { error: 'conflict' };
  const [added] = await transaction.query(
    sql`${CATEGORIES.insert(row)} ON CONFLICT DO NOTHING RETURNING ${CATEGORIES.list}`,
  );
  if (added === undefined) return { error: 'conflict' };
  await addOperatorAudit(transaction, actor, describeCreation(category));
  const created = toCategory(CATEGORIES.parse(added));
  await recordEvents(transaction, [categoryEvent('category.created', actor, created, 1)]);
  return { value: created };
}

function categoryEvent(
  type: 'category.created' | 'category.updated' | 'category.deleted',
  actor: Actor,
  category: Category,
  version: number,
): NewEvent {
  return { accountId: 0, environment: '', type, actor, version, data: toJson(category) };
}

function describeCreation({ name, description }: NewCategory): AuditChange {
  return {
    action: 'categories create',
    target: { kind: 'category', name },
    ...(description !== undefined && { after: { description } }),
  };
}

/** Locks a category until the commit. `ifMatch`: the entity tags that `isCurrent` compares. */
async function lockCategory(
  transaction: Transaction,
  id: bigint,
  ifMatch: readonly string[] | undefined,
): Promise<Result<Stored<typeof CATEGORIES>, 'not_found' | 'precondition_failed'>> {
  const [row] = await transaction.select(
    CATEGORIES,
    sql`WHERE id = ${id} ${transaction.dialect.forUpdate()}`,
  );
  if (row === undefined) return { error: 'not_found' };
  return isCurrent(ifMatch, toJson(toCategory(row))) ? { value: row } : { error: 'precondition_failed' };
}

async function updateCategory(
  transaction: Transaction,
  actor: Actor,
  id: bigint,
  { fields, issue }: Patch<CategoryPatch>,
  ifMatch: readonly string[] | undefined,
): Promise<Result<Category, 'not_found' | 'precondition_failed' | 'conflict' | 'invalid_request'>> {
  const locked = await lockCategory(transaction, id, ifMatch);
  if ('error' in locked) return locked;
  const row = locked.value;
  const before = toCategory(row);
  const { name = before.name, description = before.description ?? null } = fields;
  const folded = foldedName(name);
  if (name !== before.name) {
    // Another transaction may give this name to another category at this moment.
    await transaction.lock(CATEGORIES);
    const [other] = await transaction.select(CATEGORIES, sql`WHERE folded_name = ${folded} AND id <> ${id}`);
    if (other !== undefined) return { error: 'conflict' };
  }
  if (issue !== undefined) return { error: 'invalid_request', message: issue };
  const after = { id, name, ...(description !== null && { description }) };
  if (toJson(after) !== toJson(before)) {
    const version = row.version + 1;
    const changes = { name, description: description ?? undefined, foldedName: folded, version };
    const update = sql`UPDATE categories SET ${CATEGORIES.set(changes)} WHERE id = ${id}`;
    await recordEvents(transaction, [categoryEvent('category.updated', actor, after, version)], [update]);
    await addOperatorAudit(transaction, actor, {
      action: 'categories set',
      target: { kind: 'category', name: before.name },
      before: describeValues(before),
      after: describeValues(after),
    });
  }
  return { value: after };
}

/** `conflict`: an animal is of the category. One that is added at this moment may keep the id, which any animal may have. */
async function deleteCategory(
  transaction: Transaction,
  actor: Actor,
  id: bigint,
  ifMatch: readonly string[] | undefined,
): Promise<Result<undefined, 'not_found' | 'precondition_failed' | 'conflict'>> {
  const locked = await lockCategory(transaction, id, ifMatch);
  if ('error' in locked) return locked;
  if (await ask(transaction, IS_CATEGORY_USED, id)) return { error: 'conflict' };
  const category = toCategory(locked.value);
  const deleted = categoryEvent('category.deleted', actor, category, locked.value.version + 1);
  await recordEvents(transaction, [deleted], [sql`DELETE FROM categories WHERE id = ${id}`]);
  await addOperatorAudit(transaction, actor, {
    action: 'categories delete',
    target: { kind: 'category', name: category.name },
    before: describeValues(category),
  });
  return { value: undefined };
}

function describeValues({ name, description }: Category): AuditValues {
  return { name, description: description ?? null };
}

/** The databases never assign the id of a row again that is deleted. Nobody sees this row, because it is never committed. */
async function reserveId(transaction: Transaction): Promise<bigint> {
  const [id] = await transaction.add(CATEGORIES, [RESERVED]);
  await transaction.query(sql`DELETE FROM categories WHERE id = ${id}`);
  return id as bigint;
}

/** @throws ServiceError `conflict` when a name has been taken since. */
export async function addReserved(
  transaction: Transaction,
  actor: Actor,
  categories: readonly ReservedCategory[],
): Promise<void> {
  for (const { id, name } of categories) {
    const row = CATEGORIES.insert({ id, name, foldedName: foldedName(name), version: 1 });
    const added = await transaction.query(sql`${row} ON CONFLICT DO NOTHING RETURNING id`);
    if (added.length === 0) {
      const message = `The category ${name} was added meanwhile, by another program: run the import again.`;
      throw new ServiceError('conflict', message);
    }
    await recordEvents(transaction, [categoryEvent('category.created', actor, { id, name }, 1)]);
    await addAudit(transaction, actor, describeCreation({ name }));
  }
}

export const WRITES = { create: createCategory, update: updateCategory, delete: deleteCategory, reserveId };

export type CategoryRepository = ReturnType<typeof open>;

export function open(engine: Engine) {
  return {
    /** Newest first. */
    list: async ({ limit, cursor }: PageQuery): Promise<Page<Category>> => {
      const rows = await engine.select(
        CATEGORIES,
        sql`${engine.dialect.newest({}, firstId(cursor))} LIMIT ${raw(String(limit + 1))}`,
      );
      return toPage(rows.map(toCategory), limit);
    },
    get: (id: bigint) => findCategory(engine, sql`id = ${id}`),
    /** Ignores the case of the name. */
    find: (name: string) => findCategory(engine, sql`folded_name = ${foldedName(name)}`),
    /** Every category as of one instant, oldest first. */
    async *readAll(): AsyncGenerator<Category> {
      await using snapshot = await engine.snapshot();
      for await (const rows of snapshot.rows(CATEGORIES)) yield* rows.map(CATEGORIES.parse).map(toCategory);
    },
    /** Reserves an id for a `ReservedCategory`. No other category gets it. */
    reserveId: () => engine.write(reserveId),
    create: <Key extends Idempotency | undefined = undefined>(
      actor: Actor,
      category: NewCategory,
      idempotency?: Key,
    ) => engine.writeOnce(idempotency, createCategory, actor, category),
    update: (actor: Actor, id: bigint, patch: Patch<CategoryPatch>, ifMatch?: readonly string[]) =>
      engine.write(updateCategory, actor, id, patch, ifMatch),
    delete: (actor: Actor, id: bigint, ifMatch?: readonly string[]) =>
      engine.write(deleteCategory, actor, id, ifMatch),
  };
}
