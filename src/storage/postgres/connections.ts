import { readFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type { ConnectionOptions } from 'node:tls';
import {
  Client,
  type ClientConfig,
  type Connection,
  Pool as DriverPool,
  type PoolClient,
  type PoolConfig,
  type QueryArrayConfig,
  type QueryArrayResult,
  TypeOverrides,
  types,
} from 'pg';
import type { PostgresAddress, Tls, TlsFile } from '../../config/database-url.ts';
import type { Queries, Transaction } from '../transaction.ts';
import type { PoolLoad } from '../engine.ts';
import { join, raw, type Row, type Sql, sql } from '../sql.ts';
import type { ColumnType } from '../table.ts';
import { DIALECT } from './dialect.ts';
import { isConnectionFit, sqlState, storeError } from './errors.ts';

/** Runs statements on any connection of a pool, or on one that holds a transaction. Rows are arrays, int8 is bigint. */
export interface Database {
  /**
   * The server prepares a statement with a name once for each connection.
   * @throws ServiceError `unavailable` when the server cannot answer now. Whether the statement was done is not known.
   */
  query<R extends Row>(text: string, values?: readonly unknown[], name?: string): Promise<R[]>;
}

/** A connection that the pool uses for nothing else until it is closed. */
export interface Session {
  readonly database: Database;
  readonly close: () => void;
}

/** Milliseconds that `close` waits for the statements that run. */
const CLOSE_TIMEOUT = 200;

/** Reads int64 as exact bigint. The driver would return text. */
const TYPES = new TypeOverrides();
TYPES.setTypeParser(types.builtins.INT8, BigInt);

/** Settings of a session, by name. */
export type SessionSettings = Readonly<Record<string, string>>;

/** In the startup message, settings win over those of the database, the role, the address and PGOPTIONS. */
function clientWith(
  settings: SessionSettings,
  tls: PostgresAddress['tls'],
): new (
  config?: ClientConfig,
) => Client {
  return class extends Client {
    constructor(config?: ClientConfig) {
      // The pool makes the password one that a spread leaves out.
      const { password } = config ?? {};
      // Certificates are read for each connection, because they are renewed while the service runs.
      const ssl = tls && tlsOptions(tls);
      super({ ...config, ...(password !== undefined && { password }), ...(ssl !== undefined && { ssl }) });
      // What the driver's types leave out.
      const connection = this.connection as Connection & { startup(message: SessionSettings): void };
      const startup = connection.startup.bind(connection);
      connection.startup = (message) => startup({ ...message, ...settings });
    }
  };
}

/** @throws Error that names the file that cannot be read. */
function tlsOptions({ verified, files }: Tls): ConnectionOptions {
  const read = (name: TlsFile) => {
    try {
      return files[name] === undefined ? undefined : readFileSync(files[name], 'utf8');
    } catch (error) {
      throw new Error(`${name}: ${(error as Error).message}`, { cause: error });
    }
  };
  const [ca, cert, key] = [read('sslrootcert'), read('sslcert'), read('sslkey')];
  return {
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
    ...(verified === 'nothing' && { rejectUnauthorized: false }),
    ...(verified === 'authority' && { checkServerIdentity: () => undefined }),
  };
}

/** What an address names. What it leaves out is up to the driver, which is not given undefined values. */
function driverFields({
  host,
  port,
  user,
  password,
  database,
  tls,
  settings,
}: PostgresAddress): ClientConfig {
  return {
    ...(host !== undefined && { host }),
    ...(port !== undefined && { port }),
    ...(user !== undefined && { user }),
    ...(password !== undefined && { password }),
    ...(database !== undefined && { database }),
    ...(tls && tls.isDirect && { sslnegotiation: 'direct' as const }),
    ...settings,
  };
}

/** The driver's pool. It also handles lost connections, which the driver leaves to its users. */
export class Connections implements Database {
  readonly #pool: DriverPool;
  readonly #sockets = new Set<Socket>();
  /** How often the server did not answer, and for each connection the number at the time when it was made. */
  #silences = 0;
  readonly #madeAfter = new WeakMap<PoolClient, number>();

  /**
   * Every session begins with `settings`. `onLost` is called for every connection that is lost before `close`, in use or
   * not.
   */
  constructor(
    address: PostgresAddress,
    settings: SessionSettings,
    config: PoolConfig,
    onLost: (error: Error) => void,
  ) {
    this.#pool = new DriverPool({
      keepAlive: true,
      application_name: 'petstore',
      ...driverFields(address),
      types: TYPES,
      stream: () => this.#socket(),
      Client: clientWith(settings, address.tls),
      ...config,
    });
    this.#pool.on('connect', (client) => {
      this.#madeAfter.set(client, this.#silences);
      // Without a listener a lost connection would end the process, even one that is in use.
      client.on('error', (error) => {
        if (!this.#pool.ending) onLost(error);
      });
    });
    // The connection reports the error itself. Without this listener it would end the process, too.
    this.#pool.on('error', () => undefined);
  }

  get load(): PoolLoad {
    const { totalCount, idleCount, waitingCount } = this.#pool;
    return { inUse: totalCount - idleCount, waiting: waitingCount };
  }

  async query<R extends Row>(text: string, values?: readonly unknown[], name?: string): Promise<R[]> {
    const client = await this.#take();
    try {
      const rows = await this.#run<R>(client, text, values, name);
      client.release();
      return rows;
    } catch (error) {
      client.release(!isConnectionFit(error));
      throw error;
    }
  }

  /** Runs `work` on one connection inside a transaction, which is rolled back when it throws. */
  async transaction<T>(work: (database: Database) => Promise<T>): Promise<T> {
    const client = await this.#take();
    const database = this.#on(client);
    let fit = false;
    try {
      await database.query('BEGIN');
      const result = await work(database);
      await database.query('COMMIT');
      fit = true;
      return result;
    } catch (error) {
      if (isConnectionFit(error)) {
        await database.query('ROLLBACK');
        fit = true;
      }
      throw error;
    } finally {
      // Closing a connection undoes its transaction. A connection in an unknown state is not used again.
      client.release(!fit);
    }
  }

  async reserve(): Promise<Session> {
    const client = await this.#take();
    return { database: this.#on(client), close: () => client.release(true) };
  }

  /** Statements that still run after CLOSE_TIMEOUT reject. */
  async close(): Promise<void> {
    const ended = this.#pool.end();
    await Promise.race([ended, wait(CLOSE_TIMEOUT, undefined, { ref: false })]);
    // A server that hangs never closes its side, and the driver forgets sockets whose login failed.
    for (const socket of this.#sockets) socket.destroySoon();
    await ended;
  }

  #socket(): Socket {
    const socket = new Socket();
    this.#sockets.add(socket);
    return socket.once('close', () => this.#sockets.delete(socket));
  }

  async #take(): Promise<PoolClient> {
    try {
      for (;;) {
        const client = await this.#pool.connect();
        if (this.#madeAfter.get(client) === this.#silences) return client;
        // A server that moved or hangs leaves its connections open, and each would cost a request the whole timeout.
        client.connection.stream.destroy();
        client.release(true);
      }
    } catch (error) {
      throw storeError(error);
    }
  }

  #on(client: PoolClient): Database {
    return { query: (text, values, name) => this.#run(client, text, values, name) };
  }

  async #run<R extends Row>(
    client: PoolClient,
    text: string,
    values: readonly unknown[] = [],
    name?: string,
  ): Promise<R[]> {
    const named = name === undefined ? {} : { name };
    const query: QueryArrayConfig = { text, values: [...values], rowMode: 'array', ...named };
    try {
      const result: QueryArrayResult = await client.query(query);
      return result.rows as unknown as R[];
    } catch (error) {
      const silent = sqlState(error) === undefined;
      if (silent && this.#madeAfter.get(client) === this.#silences) this.#silences++;
      throw storeError(error);
    }
  }
}

/** Unix milliseconds. Not now(), the instant when the transaction began: it may have waited for a lock since. */
const CLOCK = raw('(extract(epoch FROM clock_timestamp()) * 1000)::bigint');

/** The transaction that a connection is in, as a write sees it. */
export function transactionOn(
  database: Database,
  { isSilent, answers }: Pick<Transaction, 'isSilent' | 'answers'>,
): Transaction {
  const query = runOn(database);
  return {
    dialect: DIALECT,
    hasOneWriter: false,
    query,
    select: selectOn(query),
    async insert(table, rows, onConflict = '') {
      // One array for each column: a statement with a parameter for each value would be limited to 65,535 of them.
      const arrays = table.columns.map(([, type], index) => `$${index + 1}::${arrayType(type)}`);
      await database.query(
        `INSERT INTO ${table.name} (${table.list.sql}) SELECT * FROM unnest(${arrays.join(', ')}) ${onConflict}`,
        table.columns.map((_, index) => rows.map((row) => row[index])),
      );
    },
    async run(...statements) {
      const last = statements.at(-1) as Sql;
      const others = statements
        .slice(0, -1)
        .map((statement, index) => sql`${raw(`s${index}`)} AS (${statement})`);
      await query(others.length === 0 ? last : sql`WITH ${join(others)} ${last}`);
    },
    clock: CLOCK,
    isSilent,
    answers,
    async add(table, rows, derived) {
      const columns = table.columns.filter(([name]) => name !== 'id');
      const names = columns.map(([name]) => name).join(', ');
      const selected = columns
        .map(([name]) => (name === table.stamp ? `${CLOCK.text} AS ${name}` : name))
        .join(', ');
      const arrays = columns.map(([, type], index) => `$${index + 1}::${arrayType(type)}`);
      const encoded = rows.map((row) => table.encodeNew(row));
      if (derived !== undefined && derived.values.length > 0)
        throw new Error('A derived INSERT has no values.');
      // The server takes the ids in the order of the rows, and the row numbers show which id belongs to which row.
      const ids = await database.query<[id: bigint]>(
        `WITH added AS MATERIALIZED (
           SELECT nextval('${table.name}_id_seq') AS id, n, ${selected}
           FROM unnest(${arrays.join(', ')}) WITH ORDINALITY AS t (${names}, n)
         ), inserted AS (
           INSERT INTO ${table.name} (id, ${names}) SELECT id, ${names} FROM added
         )${derived === undefined ? '' : `, derived AS (${derived.text})`}
         SELECT id FROM added ORDER BY n`,
        columns.map((_, index) => encoded.map((values) => values[index])),
        `add ${table.name}${derived === undefined ? '' : ' with derived rows'}`,
      );
      return ids.map(([id]) => id);
    },
    async now() {
      const [row] = await query<[now: bigint]>(sql`SELECT ${CLOCK}`);
      return Number(row?.[0]);
    },
    async tryLock(number) {
      const [row] = await query<[boolean]>(sql`SELECT pg_try_advisory_xact_lock(${number})`);
      return row?.[0] === true;
    },
    async takeLock(number) {
      await query(sql`SELECT pg_advisory_xact_lock(${number})`);
    },
    async lock({ name }) {
      await database.query(`LOCK TABLE ${name} IN SHARE ROW EXCLUSIVE MODE`);
    },
  };
}

type Run = <R extends Row>(statement: Sql) => Promise<R[]>;

export function runOn(database: Database): Run {
  return ({ text, values }) => database.query(text, values);
}

export function selectOn(query: Run): Queries['select'] {
  return async (table, end) => (await query(table.select(end))).map((row) => table.parse(row));
}

function arrayType(type: ColumnType): string {
  return type.startsWith('integer') ? 'bigint[]' : 'text[]';
}
