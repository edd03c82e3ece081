import { hash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { StartupError } from '../../domain/startup-error.ts';
import { foldedName } from '../../domain/text.ts';

/** "PetS" in ASCII: marks a SQLite file as ours. */
export const APPLICATION_ID = 0x50_65_74_53;

const FOLDER = new URL('migrations/', import.meta.url);

const MIGRATIONS: readonly string[] = readdirSync(FOLDER).toSorted();

/** Tables of SQLite's own, which ANALYZE makes. */
const STATISTICS: ReadonlySet<string> = new Set([
  'CREATE TABLE sqlite_stat1(tbl,idx,stat)',
  'CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)',
]);

export function readNumber(db: DatabaseSync, sql: string): number {
  return Number(Object.values(db.prepare(sql).get() ?? {})[0]);
}

/** How many migrations a database has. @throws StartupError when no version made it, or one that is newer than this one. */
export function readVersion(db: DatabaseSync, file: string): number {
  const version = readNumber(db, 'PRAGMA user_version');
  if (version < 0)
    throw new StartupError(
      `The database ${file} has the schema version ${version}, which no petstore has made.`,
    );
  if (version <= MIGRATIONS.length) return version;
  throw new StartupError(`The database ${file} was made by a newer version of petstore; upgrade petstore.`);
}

/** Applies the missing migrations in the order of their numbers, each in a transaction, up to `newest` of them. */
export function migrate(db: DatabaseSync, file: string, newest = MIGRATIONS.length): void {
  if (readVersion(db, file) >= newest) return;
  db.function('sha256', (text) => hash('sha256', String(text), 'hex'));
  db.function('folded_name', (name) => foldedName(String(name)));
  for (const [index, name] of MIGRATIONS.slice(0, newest).entries()) {
    const script = readFileSync(new URL(name, FOLDER), 'utf8');
    db.exec('BEGIN IMMEDIATE');
    try {
      // It may be there already, also by another process while this one waited for the lock.
      if (readNumber(db, 'PRAGMA user_version') === index) {
        db.exec(`${script}; PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${index + 1}`);
      }
      db.exec('COMMIT');
    } catch (error) {
      if (db.isTransaction) db.exec('ROLLBACK');
      throw error;
    }
  }
  // Until a checkpoint the file and its log still hold the values that migration 0006 has overwritten.
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
}

/** Tables, indexes, triggers and views, with the statements that made them. */
const OBJECTS = 'SELECT type, name, tbl_name, sql FROM sqlite_schema';

/**
 * Compares a database with what the migrations of its version make. A trigger, a view or a column of somebody else could
 * change what a later write does.
 * @throws StartupError that names the first difference.
 */
export function refuseForeignObjects(db: DatabaseSync, file: string): void {
  const missing = objectsOf(readVersion(db, file));
  for (const { type, name, tbl_name: table, sql } of db.prepare(OBJECTS).iterate()) {
    if (STATISTICS.has(String(sql)) && type === 'table') continue;
    const what = `${String(type)} ${String(name)}`;
    const own = missing.get(what);
    if (own === undefined)
      throw new StartupError(`The database ${file} has the ${what}, which petstore did not make.`);
    if (own !== definition(table, sql))
      throw new StartupError(`The database ${file} has another ${what} than petstore makes.`);
    missing.delete(what);
  }
  for (const what of missing.keys()) throw new StartupError(`The database ${file} lacks the ${what}.`);
}

function objectsOf(version: number): Map<string, string> {
  const db = new DatabaseSync(':memory:');
  try {
    migrate(db, 'in memory', version);
    return new Map(
      db
        .prepare(OBJECTS)
        .all()
        .map(({ type, name, tbl_name: table, sql }) => [
          `${String(type)} ${String(name)}`,
          definition(table, sql),
        ]),
    );
  } finally {
    db.close();
  }
}

/** An index that belongs to a constraint has no statement. */
function definition(table: unknown, sql: unknown): string {
  return `${String(table)}: ${String(sql)}`;
}
