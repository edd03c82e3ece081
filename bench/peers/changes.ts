import type { FastifyInstance } from 'fastify';
import type { DatabaseSync } from 'node:sqlite';
import type { Account } from './account.ts';
import { COMPLETE, ORDER, PATCH } from './schemas.ts';
import { COLUMNS, type NewPet, petOf, type PetRow } from './store.ts';

/** Milliseconds that an animal is held: the default of the service. */
const HOLD = 72 * 3_600_000;

const CONFLICT = { code: 'conflict', message: 'The state forbids the change.', status: 409 };

interface OrderRow {
  readonly id: number;
  readonly petId: number;
  readonly status: string;
  readonly createdAt: number;
  readonly expiresAt: number;
}

const ORDER_COLUMNS = 'id, pet_id AS petId, status, created_at AS createdAt, expires_at AS expiresAt';

/** Changes of animals and orders over SQLite. Each request commits by itself. */
export function addChanges(app: FastifyInstance, db: DatabaseSync): void {
  const updatePet = db.prepare(
    `UPDATE pets SET name = coalesce(?, name), category_id = coalesce(?, category_id), status = coalesce(?, status)
     WHERE id = ? AND NOT EXISTS (SELECT 1 FROM orders WHERE pet_id = pets.id AND status = 'pending')
     RETURNING ${COLUMNS}`,
  );
  const changeStatus = db.prepare('UPDATE pets SET status = ? WHERE id = ? AND status = ?');
  const insertOrder = db.prepare(
    `INSERT INTO orders (account_id, pet_id, quantity, status, created_at, expires_at)
     VALUES (?, ?, 1, 'pending', ?, ?) RETURNING ${ORDER_COLUMNS}`,
  );
  const complete = db.prepare(
    `UPDATE orders SET status = 'complete'
     WHERE id = ? AND account_id = ? AND status = 'pending' AND expires_at > ? RETURNING ${ORDER_COLUMNS}`,
  );

  const transaction = <T>(work: () => T): T => {
    db.exec('BEGIN IMMEDIATE');
    try {
      const result = work();
      db.exec('COMMIT');
      return result;
    } catch (error) {
      db.exec('ROLLBACK');
      throw error;
    }
  };

  app.patch<{ Params: { petId: number }; Body: Partial<NewPet> }>(
    '/v1/pets/:petId',
    { schema: PATCH },
    async ({ params, body: { name, categoryId, status } }, reply) => {
      const row = updatePet.get(name ?? null, categoryId ?? null, status ?? null, params.petId);
      return row === undefined ? reply.code(409).send(CONFLICT) : petOf(row as unknown as PetRow);
    },
  );

  app.post<{ Body: { petId: number } }>('/v1/store/orders', { schema: ORDER }, async (request, reply) => {
    const { petId } = request.body;
    const now = Date.now();
    const row = transaction(() =>
      changeStatus.run('pending', petId, 'available').changes === 0
        ? undefined
        : insertOrder.get(accountOf(request).id, petId, now, now + HOLD),
    );
    if (row === undefined) return reply.code(409).send(CONFLICT);
    reply.code(201).header('location', `http://${request.host}/v1/store/orders/${row['id']}`);
    return orderOf(row);
  });

  app.post<{ Params: { orderId: number } }>(
    '/v1/store/orders/:orderId/complete',
    { schema: COMPLETE },
    async (request, reply) => {
      const row = transaction(() => {
        const completed = complete.get(request.params.orderId, accountOf(request).id, Date.now());
        if (completed !== undefined) changeStatus.run('sold', completed['petId'] ?? null, 'pending');
        return completed;
      });
      return row === undefined ? reply.code(409).send(CONFLICT) : orderOf(row);
    },
  );
}

function accountOf(request: { getDecorator<T>(name: string): T }): Account {
  return request.getDecorator<Account>('account');
}

function orderOf(row: unknown) {
  const { id, petId, status, createdAt, expiresAt } = row as OrderRow;
  return {
    id,
    petId,
    quantity: 1,
    status,
    complete: status === 'complete',
    createdAt: new Date(createdAt).toISOString(),
    expiresAt: new Date(expiresAt).toISOString(),
  };
}
