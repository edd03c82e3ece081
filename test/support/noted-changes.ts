import { DatabaseSync } from 'node:sqlite';
import { Pool } from 'pg';
import type { Change } from './event-checker.ts';
import type { Lifetime } from './lifetime.ts';

/** A connection of a test to the database of a service. */
export interface DirectDatabase {
  readonly kind: 'sqlite' | 'postgres';
  /** Runs one statement without values. */
  readonly run: (statement: string) => Promise<readonly Readonly<Record<string, unknown>>[]>;
}

/** Opens a database by its address, `sqlite:` or `postgres:`, until the test is over. */
export function openDirectly(t: Lifetime, address: string): DirectDatabase {
  if (address.startsWith('sqlite:')) {
    const file = new DatabaseSync(address.slice('sqlite:'.length), { timeout: 120_000 });
    t.after(() => file.close());
    return { kind: 'sqlite', run: async (statement) => file.prepare(statement).all() };
  }
  const pool = new Pool({ connectionString: address });
  // The server may be stopped before this pool.
  pool.on('error', () => undefined);
  t.after(() => pool.end());
  return { kind: 'postgres', run: async (statement) => (await pool.query(statement)).rows };
}

interface Noted {
  readonly after: string;
  readonly condition?: string;
  readonly accountId?: string;
  readonly type: string;
  readonly version?: string;
  /** Names of fields and columns. */
  readonly data: Readonly<Record<string, string>>;
}

const pet = (row: 'NEW' | 'OLD') => ({
  id: `${row}.id`,
  name: `${row}.name`,
  categoryId: `${row}.category_id`,
  status: `${row}.status`,
});
const category = (row: 'NEW' | 'OLD') => ({
  id: `${row}.id`,
  name: `${row}.name`,
  description: `${row}.description`,
});
const ORDER = { id: 'NEW.id', petId: 'NEW.pet_id', status: 'NEW.status' };
const KEY = { id: 'NEW.id', label: 'NEW.label' };

/** Whether one of these columns changes. */
const changes = (...columns: readonly string[]) =>
  columns.map((column) => `OLD.${column} IS DISTINCT FROM NEW.${column}`).join(' OR ');

/** Everything that has an event. It says nothing of the events, so that a change without one shows. */
const NOTED: readonly Noted[] = [
  { after: 'INSERT ON pets', type: `'pet.created'`, version: 'NEW.version', data: pet('NEW') },
  {
    after: 'UPDATE ON pets',
    condition: changes('name', 'category_id', 'status'),
    type: `'pet.updated'`,
    version: 'NEW.version',
    data: pet('NEW'),
  },
  { after: 'DELETE ON pets', type: `'pet.deleted'`, version: 'OLD.version + 1', data: pet('OLD') },
  {
    after: 'INSERT ON categories',
    type: `'category.created'`,
    version: 'NEW.version',
    data: category('NEW'),
  },
  {
    after: 'UPDATE ON categories',
    condition: changes('name', 'description'),
    type: `'category.updated'`,
    version: 'NEW.version',
    data: category('NEW'),
  },
  {
    after: 'DELETE ON categories',
    type: `'category.deleted'`,
    version: 'OLD.version + 1',
    data: category('OLD'),
  },
  {
    after: 'INSERT ON orders',
    accountId: 'NEW.account_id',
    type: `'order.created'`,
    version: 'NEW.version',
    data: ORDER,
  },
  {
    after: 'UPDATE ON orders',
    condition: changes('status'),
    accountId: 'NEW.account_id',
    type: `'order.' || CASE NEW.status WHEN 'complete' THEN 'completed' ELSE NEW.status END`,
    version: 'NEW.version',
    data: ORDER,
  },
  { after: 'INSERT ON keys', accountId: 'NEW.account_id', type: `'key.created'`, data: KEY },
  {
    after: 'UPDATE ON keys',
    condition: changes('rotated_to'),
    accountId: 'NEW.account_id',
    type: `'key.rotated'`,
    data: KEY,
  },
  {
    after: 'UPDATE ON keys',
    condition: changes('revoked_at'),
    accountId: 'NEW.account_id',
    type: `'key.revoked'`,
    data: KEY,
  },
];

/** From now on the database notes every change of the catalogue and of accounts by triggers, in the commit of the change. */
export async function noteChanges({ kind, run }: DirectDatabase): Promise<void> {
  const id = {
    sqlite: 'INTEGER PRIMARY KEY AUTOINCREMENT',
    postgres: 'bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY',
  };
  await run(`CREATE TABLE noted_changes (
    id ${id[kind]}, account_id bigint NOT NULL, type text NOT NULL, version bigint, data text NOT NULL)`);
  for (const [
    index,
    { after, condition = 'true', accountId = '0', type, version = 'NULL', data },
  ] of NOTED.entries()) {
    const fields = Object.entries(data).flatMap(([field, column]) => [`'${field}'`, column]);
    const object = {
      sqlite: `json_object(${fields.join()})`,
      postgres: `json_build_object(${fields.join()})::text`,
    };
    const insert = `INSERT INTO noted_changes (account_id, type, version, data)
      VALUES (${accountId}, ${type}, ${version}, ${object[kind]})`;
    const trigger = `CREATE TRIGGER note_${index} AFTER ${after} FOR EACH ROW WHEN (${condition})`;
    if (kind === 'postgres')
      await run(`CREATE FUNCTION note_${index}() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN ${insert}; RETURN NULL; END $$; ${trigger} EXECUTE FUNCTION note_${index}()`);
    else await run(`${trigger} BEGIN ${insert}; END`);
  }
}

/** Where the notes end now: the id of the last one. */
export async function findLastNote({ run }: DirectDatabase): Promise<number> {
  const [row] = await run('SELECT coalesce(max(id), 0) AS last FROM noted_changes');
  return Number(row?.['last']);
}

/** What was committed since the note `after`, in the order of the notes. */
export async function readChanges({ run }: DirectDatabase, after: number): Promise<readonly Change[]> {
  const rows = await run(`SELECT * FROM noted_changes WHERE id > ${after} ORDER BY id`);
  return rows.map(({ account_id: accountId, type, version, data }) => ({
    accountId: Number(accountId),
    type: String(type),
    version: version === null ? undefined : Number(version),
    data: JSON.parse(String(data)),
  }));
}
