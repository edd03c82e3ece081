// Contract: sections 2 and 3.
import type { AuditChange, Actor } from '../domain/audit.ts';
import type { Category, CategoryPatch, CategoryRepository, NewCategory } from '../domain/category.ts';
import { ServiceError } from '../domain/errors.ts';
import type { Patch } from '../domain/patch.ts';
import type { ReservedCategory } from '../domain/ports.ts';
import type { Result } from '../domain/result.ts';
import { foldedName } from '../domain/text.ts';
import { isCurrent, toJson } from '../domain/written.ts';
import { addAudit } from './audit.ts';
import type { Transaction } from './transaction.ts';
import type { Engine } from './engine.ts';
import { firstId, pageOf } from './page.ts';
import { columnsOf, insertInto, type RowOf, type Table } from './tables.ts';

export const CATEGORIES = {
  name: 'categories',
  key: ['id'],
  columns: [
    ['id', 'integer'],
    ['name', 'text'],
    ['description', 'text?'],
    ['folded_name', 'text'],
  ],
  assignsIds: true,
} as const satisfies Table;

export const TABLES = [CATEGORIES];

type CategoryRow = RowOf<typeof CATEGORIES>;

const SELECT = `SELECT ${columnsOf(CATEGORIES)} FROM categories`;

const INSERT = `${insertInto(CATEGORIES, ['name', 'description', 'folded_name'])}
  ON CONFLICT DO NOTHING RETURNING ${columnsOf(CATEGORIES)}`;

/** No category has this name, because it is empty. */
const RESERVED = '';

const INSERT_RESERVED = `${insertInto(CATEGORIES, ['id', 'name', 'folded_name'])} ON CONFLICT DO NOTHING RETURNING id`;

const IS_TAKEN = 'SELECT 1 FROM categories WHERE folded_name = $1 AND id <> $2';

const UPDATE = 'UPDATE categories SET name = $2, description = $3, folded_name = $4 WHERE id = $1';

export function categoryFromRow([id, name, description]: CategoryRow): Category {
  return { id, name, ...(description !== null && { description }) };
}

/** Adds a category, unless its name is taken. */
async function createCategory(
  transaction: Transaction,
  { name, description }: NewCategory,
): Promise<Result<Category, 'conflict'>> {
  const values = [name, description ?? null, foldedName(name)];
  const [row] = await transaction.query<CategoryRow>(INSERT, values);
  if (row === undefined) return { error: 'conflict' };
  return { value: categoryFromRow(row) };
}

/** Like `createCategory`, for an operator. */
async function createCategoryBy(
  transaction: Transaction,
  actor: Actor,
  category: NewCategory,
): ReturnType<typeof createCategory> {
  const created = await createCategory(transaction, category);
  if ('value' in created) await addAudit(transaction, actor, creationOf(category));
  return created;
}

function creationOf({ name, description }: NewCategory): AuditChange {
  const target = { kind: 'category', name } as const;
  return {
    action: 'categories create',
    target,
    ...(description !== undefined && { after: { description } }),
  };
}

async function updateCategory(
  transaction: Transaction,
  id: bigint,
  { given, fault }: Patch<CategoryPatch>,
  ifMatch: readonly string[] | undefined,
): ReturnType<CategoryRepository['update']> {
  const [row] = await transaction.query<CategoryRow>(`${SELECT} WHERE id = $1 FOR UPDATE`, [id]);
  if (row === undefined) return { error: 'not_found' };
  const before = categoryFromRow(row);
  if (!isCurrent(ifMatch, toJson(before))) return { error: 'precondition_failed' };
  const { name = before.name, description = before.description ?? null } = given;
  const folded = foldedName(name);
  if (name !== before.name) {
    // Another transaction may give this name to another category at this moment.
    await transaction.lock(CATEGORIES);
    const taken = await transaction.query(IS_TAKEN, [folded, id]);
    if (taken.length > 0) return { error: 'conflict' };
  }
  if (fault !== undefined) return { error: 'invalid_request', message: fault };
  const after = { id, name, ...(description !== null && { description }) };
  if (toJson(after) !== toJson(before)) await transaction.query(UPDATE, [id, name, description, folded]);
  return { value: after };
}

/** The databases never assign the id of a row again that is deleted. Nobody sees this row, because it is never committed. */
async function reserveCategoryId(transaction: Transaction): Promise<bigint> {
  const [row] = await transaction.query<CategoryRow>(INSERT, [RESERVED, null, RESERVED]);
  if (row === undefined) throw new Error('The database returned no id.');
  await transaction.query('DELETE FROM categories WHERE id = $1', [row[0]]);
  return row[0];
}

/** Without `actor`, the audit log shows nothing. @throws ServiceError `conflict` when a name has been taken since. */
export async function addReserved(
  transaction: Transaction,
  actor: Actor | undefined,
  categories: readonly ReservedCategory[],
): Promise<void> {
  for (const { id, name } of categories) {
    const added = await transaction.query(INSERT_RESERVED, [id, name, foldedName(name)]);
    if (added.length === 0) {
      const message = `The category ${name} was added meanwhile, by another program: run the import again.`;
      throw new ServiceError('conflict', message);
    }
    if (actor !== undefined) await addAudit(transaction, actor, creationOf({ name }));
  }
}

export const WRITES = {
  create: createCategory,
  createBy: createCategoryBy,
  update: updateCategory,
  reserveId: reserveCategoryId,
};

export function open(engine: Engine): CategoryRepository {
  return {
    async list({ limit, before }) {
      const sql = `${SELECT} ${engine.newest({}, '$1')} LIMIT ${limit + 1}`;
      return pageOf((await engine.read<CategoryRow>(sql, [firstId(before)])).map(categoryFromRow), limit);
    },
    async get(id) {
      const [row] = await engine.read<CategoryRow>(`${SELECT} WHERE id = $1`, [id]);
      return row && toJson(categoryFromRow(row));
    },
    async findByName(name) {
      const [row] = await engine.read<CategoryRow>(`${SELECT} WHERE folded_name = $1`, [foldedName(name)]);
      return row && categoryFromRow(row);
    },
    async *readAll() {
      await using snapshot = await engine.snapshot();
      for await (const rows of snapshot.rows(CATEGORIES)) yield* rows.map(categoryFromRow);
    },
    reserveId: () => engine.write(reserveCategoryId),
    create: (category, idempotency) => engine.writeOnce(idempotency, createCategory, category),
    createBy: (actor, category) => engine.write(createCategoryBy, actor, category),
    update: (id, patch, ifMatch) => engine.write(updateCategory, id, patch, ifMatch),
  };
}
