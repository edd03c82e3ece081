import pg from 'pg';
import { accountOf, keyHash, type KeyRow, SELECT_KEYS } from './account.ts';
import { COLUMNS, pageOf, pageStart, petOf, type Pet, type PetRow, type Store } from './store.ts';

const INT8 = 20;

const KEY_BY_HASH = `${SELECT_KEYS} WHERE k.hash = $1`;
const PAGE = `SELECT ${COLUMNS} FROM pets WHERE id < $1 ORDER BY id DESC LIMIT $2`;
const PAGE_OF_STATUS = `SELECT ${COLUMNS} FROM pets WHERE status = $3 AND id < $1 ORDER BY id DESC LIMIT $2`;
const PET = `SELECT ${COLUMNS} FROM pets WHERE id = $1`;
const INSERT = `INSERT INTO pets (name, category_id, status) VALUES ($1, $2, $3) RETURNING id`;

/** The service's own PostgreSQL database, over a pool, with named prepared statements. */
export function openPostgres(databaseUrl: string, connections: number): Store {
  pg.types.setTypeParser(INT8, BigInt);
  const pool = new pg.Pool({ connectionString: databaseUrl, max: connections });
  return {
    async findAccount(key) {
      const values = [keyHash(key)];
      const { rows } = await pool.query<KeyRow>({ name: 'keyByHash', text: KEY_BY_HASH, values });
      return accountOf(rows[0]);
    },
    async list(query) {
      const { limit, status } = query;
      const before = pageStart(query);
      if (before === undefined) return undefined;
      // One row more than asked for tells whether another page follows.
      const { rows } = await pool.query<PetRow>(
        status === undefined
          ? { name: 'page', text: PAGE, values: [before, limit + 1] }
          : { name: 'pageOfStatus', text: PAGE_OF_STATUS, values: [before, limit + 1, status] },
      );
      return pageOf(rows, query);
    },
    async create({ name, categoryId, status }) {
      const values = [name, categoryId, status ?? null];
      const { rows } = await pool.query<Pick<Pet, 'id'>>({ name: 'insert', text: INSERT, values });
      const [inserted] = rows;
      if (inserted === undefined) throw new Error('The insert gave no id.');
      return { ...inserted, name, categoryId, status };
    },
    async get(petId) {
      const { rows } = await pool.query<PetRow>({ name: 'pet', text: PET, values: [petId] });
      const [row] = rows;
      return row && petOf(row);
    },
  };
}
