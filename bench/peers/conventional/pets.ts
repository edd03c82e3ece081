import type { FastifyInstance } from 'fastify';
import type pg from 'pg';
// Its cursors, so that both can be asked for the same pages.
import { decodeCursor, encodeCursor } from '../../../src/domain/cursor.ts';
import { CREATE, GET, LIST } from './schemas.ts';

interface Pet {
  readonly id: bigint;
  readonly name: string;
  readonly categoryId: bigint;
  readonly status: string | null;
}

type NewPet = Readonly<{ name: string; categoryId: number; status?: string }>;

const COLUMNS = 'id, name, category_id AS "categoryId", status';

const PAGE = `SELECT ${COLUMNS} FROM pets WHERE id < $1 ORDER BY id DESC LIMIT $2`;
const PAGE_OF_STATUS = `SELECT ${COLUMNS} FROM pets WHERE status = $3 AND id < $1 ORDER BY id DESC LIMIT $2`;
const PET = `SELECT ${COLUMNS} FROM pets WHERE id = $1`;
const INSERT = `INSERT INTO pets (name, category_id, status) VALUES ($1, $2, $3) RETURNING id`;

const NEWEST = 2n ** 63n - 1n;

/** The three operations. */
export function petRoutes(app: FastifyInstance, pool: pg.Pool): void {
  app.get<{ Querystring: { limit: number; status?: string; cursor?: string } }>(
    '/v1/pets',
    { schema: LIST },
    async ({ query: { limit, status, cursor }, host }, reply) => {
      const before = cursor === undefined ? NEWEST : decodeCursor(cursor);
      if (before === undefined) return reply.code(400).send(fault(400, 'The cursor is invalid.'));
      // One row more than asked for tells whether another page follows.
      const { rows } = await pool.query<Pet>(
        status === undefined
          ? { name: 'page', text: PAGE, values: [before, limit + 1] }
          : { name: 'pageOfStatus', text: PAGE_OF_STATUS, values: [before, limit + 1, status] },
      );
      const page = rows.slice(0, limit);
      const last = page.at(-1);
      if (rows.length > limit && last !== undefined) {
        const filter = status === undefined ? '' : `&status=${status}`;
        const query = `limit=${limit}${filter}&cursor=${encodeCursor(last.id)}`;
        reply.header('link', `<http://${host}/v1/pets?${query}>; rel="next"`);
      }
      return page.map(withoutNull);
    },
  );

  app.post<{ Body: NewPet }>('/v1/pets', { schema: CREATE }, async ({ body, host }, reply) => {
    const { name, categoryId, status } = body;
    const { rows } = await pool.query<Pick<Pet, 'id'>>({
      name: 'insert',
      text: INSERT,
      values: [name, categoryId, status ?? null],
    });
    const id = rows[0]?.id;
    reply.code(201).header('location', `http://${host}/v1/pets/${id}`);
    return { id, name, categoryId, status };
  });

  app.get<{ Params: { petId: string } }>('/v1/pets/:petId', { schema: GET }, async ({ params }, reply) => {
    const { rows } = await pool.query<Pet>({ name: 'pet', text: PET, values: [params.petId] });
    const [pet] = rows;
    if (pet === undefined) return reply.code(404).send(fault(404, 'There is no animal with this petId.'));
    return withoutNull(pet);
  });
}

/** An absent status is absent in the answer. */
function withoutNull(pet: Pet): object {
  return pet.status === null ? { id: pet.id, name: pet.name, categoryId: pet.categoryId } : pet;
}

function fault(status: 400 | 404, message: string): object {
  return { code: status === 400 ? 'invalid_parameter' : 'not_found', message, status };
}
