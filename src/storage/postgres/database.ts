import { readdirSync, readFileSync } from 'node:fs';
import type { PoolConfig } from 'pg';
import { NoDatabaseError, reasonOf, StartupError } from '../../domain/startup-error.ts';
import { describeDatabase, type PoolLimits, type PostgresAddress } from '../../config/database-url.ts';
import type { EngineSettings } from '../engine.ts';
import type { AnyTable } from '../table.ts';
import { Connections, type Database, type SessionSettings } from './connections.ts';
import { sqlState } from './errors.ts';

/** The oldest version of the server that tests run on, as `server_version_num` counts. */
const OLDEST_VERSION = 15_00_00;

/** Milliseconds that an unused connection stays open, because opening one takes longer than a query. */
const IDLE_TIMEOUT = 60_000;

/**
 * Milliseconds that a statement waits for a lock: the first request with an idempotency key holds one as long as it is in
 * flight.
 */
const LOCK_PATIENCE = 1_000;

/**
 * Milliseconds that a migration waits for a table, because all requests that use the table wait behind it. Shorter than
 * their statement timeout, and longer than `deadlock_timeout`, after which autovacuum gives way.
 */
const MIGRATION_PATIENCE = 2_000;

/** What to do about an error, by its SQLSTATE. */
const ADVICE: Readonly<Record<string, string>> = {
  '42501': '; the role needs the right to create tables',
  '55P03': '; wait until the other session, for example pg_dump, has ended, and start again',
};

const FOLDER = new URL('migrations/', import.meta.url);

const MIGRATIONS: readonly string[] = readdirSync(FOLDER).toSorted();

/** "PetS" in ASCII: the advisory lock of the instance that changes the schema. */
const MIGRATION_LOCK = 0x50_65_74_53;

export interface PoolSettings extends Pick<EngineSettings, 'mustExist' | 'mustWrite' | 'onLost' | 'tables'> {
  readonly limits: PoolLimits;
}

/** What the code relies on in every session. */
const SESSION: SessionSettings = {
  // A change waits for another one of the same row and goes on from it. It is not refused.
  default_transaction_isolation: 'read committed',
  // NULL in an array is no text.
  array_nulls: 'on',
  // A refused statement costs no connection.
  exit_on_error: 'off',
  // The pool closes connections, and the session that holds the lock for serving stays open.
  idle_session_timeout: '0',
};

/** The same, but no client may send these: only superusers set the first one, and old servers do not know the second. */
const DEFAULTS: SessionSettings = { session_replication_role: 'origin', transaction_timeout: '0' };

/** Connection poolers refuse settings when a connection begins. Those of the role count then. */
const SETTINGS_REFUSED = /unsupported startup parameter/;

/**
 * Connects to PostgreSQL 15 or later and brings the database to this version's schema.
 * @throws StartupError in one line that never holds the password.
 */
export async function openPool(
  address: PostgresAddress,
  { limits, onLost, tables, mustExist = false, mustWrite = false }: PoolSettings,
): Promise<Connections> {
  const wait = { connectionTimeoutMillis: limits.connectTimeout };
  // A server that hangs does not enforce its own timeout.
  const impatient: PoolConfig = { ...wait, query_timeout: limits.statementTimeout * 1.5 };
  const needed: SessionSettings = {
    ...SESSION,
    statement_timeout: String(limits.statementTimeout),
    lock_timeout: String(limits.lockTimeout ?? LOCK_PATIENCE),
    idle_in_transaction_session_timeout: String(limits.statementTimeout),
  };
  const connect = (settings: SessionSettings, config: PoolConfig) =>
    new Connections(address, settings, config, onLost);
  let sent = needed;
  let probe = connect(sent, { ...impatient, max: 1 });
  try {
    const expected = { ...needed, ...DEFAULTS };
    const synchronousCommit = await refuseUnfit(probe, expected).catch(async (error: unknown) => {
      if (!SETTINGS_REFUSED.test(reason(error))) throw error;
      await probe.close();
      sent = {};
      probe = connect(sent, { ...impatient, max: 1 });
      return refuseUnfit(probe, expected);
    });
    const version = await schemaVersion(probe);
    if (version === 0 && mustExist) throw new NoDatabaseError(describeDatabase(address));
    // A service may run as a role without the right to change the schema.
    if (version < MIGRATIONS.length) {
      // A migration may take long, or wait for the one of another instance, so its statements have no time limit.
      const alone = connect(sent, { ...wait, max: 1 });
      try {
        await migrate(alone);
      } finally {
        await alone.close();
      }
    }
    if (mustWrite) await refuseMissingRights(probe, tables);
    // A change of the server's default while the service runs must not weaken what a commit promises.
    const lasting = sent === needed ? { ...needed, synchronous_commit: synchronousCommit } : sent;
    const pooled = { max: limits.connections, idleTimeoutMillis: IDLE_TIMEOUT };
    return connect(lasting, { ...impatient, ...pooled });
  } catch (error) {
    if (error instanceof StartupError) throw error;
    throw new StartupError(`The PostgreSQL database cannot be used: ${reason(error)}.`, { cause: error });
  } finally {
    await probe.close();
  }
}

/** The settings of a server that decide whether it can be used. Its version is as `server_version_num` counts. */
type Settings = readonly [version: number, encoding: string, readOnly: boolean, synchronousCommit: string];

/** Why a server cannot be used, or undefined when it can. */
export function unfitness([version, encoding, readOnly, synchronousCommit]: Settings): string | undefined {
  if (version < OLDEST_VERSION)
    return `PostgreSQL 15 or later is needed, and this server is ${Math.floor(version / 10_000)}.`;
  if (encoding !== 'UTF8') return `The PostgreSQL database must be encoded in UTF8, not ${encoding}.`;
  if (readOnly)
    return 'The PostgreSQL database is read-only: connect to the primary, or turn default_transaction_read_only off.';
  if (synchronousCommit === 'off')
    return 'PostgreSQL must not answer before a commit is on disk: set synchronous_commit to on.';
  return undefined;
}

/** Gives `synchronous_commit`. `needed` has settings that must be in force; those that the server does not know are. */
async function refuseUnfit(pool: Connections, needed: SessionSettings): Promise<string> {
  const [row] = await pool.query<
    readonly [...Settings, schema: string | null, role: string, database: string]
  >(
    `SELECT current_setting('server_version_num')::int, current_setting('server_encoding'),
       current_setting('transaction_read_only')::bool, current_setting('synchronous_commit'), current_schema(),
       quote_ident(session_user), quote_ident(current_database())`,
  );
  if (row === undefined) throw new Error('The server returned no settings.');
  const [version, encoding, readOnly, synchronousCommit, schema, role, database] = row;
  const unfit = unfitness([version, encoding, readOnly, synchronousCommit]);
  if (unfit !== undefined) throw new StartupError(unfit);
  if (schema === null)
    throw new StartupError('The search_path of PostgreSQL names no schema that exists: set it to public.');
  const found = await pool.query<[name: string, value: string]>(
    'SELECT name, setting FROM pg_settings WHERE name = ANY ($1)',
    [Object.keys(needed)],
  );
  const statements = found
    .filter(([name, value]) => value !== needed[name])
    .map(([name]) => `ALTER ROLE ${role} IN DATABASE ${database} SET ${name} = '${needed[name]}'`);
  if (statements.length === 0) return synchronousCommit;
  throw new StartupError(
    `PostgreSQL needs other settings for petstore. Run this, and let a connection pooler reconnect: ${statements.join('; ')};`,
  );
}

/**
 * Refuses a role that may only read, or that lacks rights to a table which a migration has added.
 * @throws StartupError
 */
async function refuseMissingRights(pool: Connections, tables: readonly AnyTable[]): Promise<void> {
  // Entries of the audit log are never changed or deleted.
  const [lack] = await pool.query<[right: string, name: string, grant: string]>(
    `WITH lacks AS (
       SELECT r AS missing, t AS name, 'TABLES' AS kind
         FROM unnest($1::text[]) t, unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) r
         WHERE NOT has_table_privilege(t, r) AND (t <> 'audit' OR r IN ('SELECT', 'INSERT'))
       UNION ALL
       SELECT 'USAGE', seqrelid::regclass::text, 'SEQUENCES' FROM pg_sequence JOIN pg_depend ON objid = seqrelid
         WHERE refobjid = ANY ($1::text[]::regclass[]) AND NOT has_sequence_privilege(seqrelid, 'USAGE')
     )
     SELECT missing, name, format('GRANT %s ON ALL %s IN SCHEMA %I TO %I', missing, kind, current_schema(), current_user)
       FROM lacks LIMIT 1`,
    [tables.map(({ name }) => name)],
  );
  if (lack === undefined) return;
  const [right, name, grant] = lack;
  throw new StartupError(
    `The role of the service lacks the right ${right} on ${name}: run ${grant} as the owner of the tables.`,
  );
}

/** The message of the server or the driver. The driver puts no password into its messages. */
function reason(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return `${reasonOf(cause)}${ADVICE[sqlState(cause) ?? ''] ?? ''}`;
}

/**
 * Applies the missing migrations in the order of their numbers, all in one transaction under an advisory lock: of ten
 * instances that start at once, one migrates and nine wait.
 */
async function migrate(pool: Connections): Promise<void> {
  await pool.transaction(async (database) => {
    for (const name of ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'])
      await database.query(`SET LOCAL ${name} = 0`);
    await database.query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
    await database.query('CREATE TABLE IF NOT EXISTS petstore_schema (version int NOT NULL)');
    await database.query(`SET LOCAL lock_timeout = ${MIGRATION_PATIENCE}`);
    const version = await schemaVersion(database);
    for (const [index, name] of MIGRATIONS.entries()) {
      if (version > index) continue;
      await database.query(readFileSync(new URL(name, FOLDER), 'utf8'));
      await database.query('INSERT INTO petstore_schema VALUES ($1)', [index + 1]);
    }
  });
}

/** @throws StartupError when no version made the schema, or one that is newer than this one. */
async function schemaVersion(database: Database): Promise<number> {
  const [table] = await database.query<[exists: boolean]>(
    `SELECT to_regclass('petstore_schema') IS NOT NULL`,
  );
  if (table?.[0] !== true) return 0;
  const [row] = await database.query<[version: number | null]>('SELECT max(version) FROM petstore_schema');
  const version = row?.[0] ?? 0;
  if (version < 0)
    throw new StartupError(
      `The PostgreSQL database has the schema version ${version}, which no petstore has made.`,
    );
  if (version <= MIGRATIONS.length) return version;
  throw new StartupError(
    'The PostgreSQL database was made by a newer version of petstore; upgrade petstore.',
  );
}
