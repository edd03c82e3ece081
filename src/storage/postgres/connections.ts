import { Socket } from 'node:net';
import {
  Pool as DriverPool,
  type PoolClient,
  type PoolConfig,
  type QueryArrayConfig,
  type QueryArrayResult,
  TypeOverrides,
  types,
} from 'pg';
import type { Database, Pool, Row, Session } from './pool.ts';
import { isConnectionFit, sqlState, storeError } from './errors.ts';

/** int64 exactly, instead of as text. */
const TYPES = new TypeOverrides();
TYPES.setTypeParser(types.builtins.INT8, BigInt);

/** The driver's pool, with the care for lost connections that the driver leaves to its users. */
export class Connections implements Pool {
  readonly #pool: DriverPool;
  readonly #sockets = new Set<Socket>();
  /** How often the server fell silent; and for each connection, how often it had when the connection was made. */
  #silences = 0;
  readonly #madeAfter = new WeakMap<PoolClient, number>();

  /** `onLost` hears of every connection that was lost, whether it was in use or not. */
  constructor(url: string, config: PoolConfig, onLost: (error: Error) => void) {
    this.#pool = new DriverPool({
      connectionString: url,
      keepAlive: true,
      application_name: 'petstore',
      types: TYPES,
      stream: () => this.#socket(),
      ...config,
    });
    this.#pool.on('connect', (client) => {
      this.#madeAfter.set(client, this.#silences);
      // Without a listener the loss of a connection would end the process, also while somebody holds it.
      client.on('error', onLost);
    });
    // Told by the connection itself; but without a listener this too would end the process.
    this.#pool.on('error', () => undefined);
  }

  async query<R extends Row>(text: string, values?: readonly unknown[], name?: string): Promise<R[]> {
    const client = await this.#take();
    let fit = true;
    try {
      return await this.#run<R>(client, text, values, name);
    } catch (error) {
      fit = isConnectionFit(error);
      throw error;
    } finally {
      client.release(!fit);
    }
  }

  async transaction<T>(work: (database: Database) => Promise<T>, mode = ''): Promise<T> {
    const client = await this.#take();
    const database = this.#on(client);
    let committed = false;
    try {
      await database.query(`BEGIN ${mode}`);
      const result = await work(database);
      await database.query('COMMIT');
      committed = true;
      return result;
    } finally {
      // Closing a connection undoes what it began; one whose state is unknown is not used again.
      client.release(!committed);
    }
  }

  async reserve(): Promise<Session> {
    const client = await this.#take();
    return { database: this.#on(client), close: () => client.release(true) };
  }

  async close(): Promise<void> {
    await this.#pool.end();
    // A server that hangs never closes its side, and the driver forgets sockets on which it could not log in.
    for (const socket of this.#sockets) socket.destroySoon();
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
        // A server that moved or hangs leaves the connections to it open: each would cost somebody the whole patience.
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
    const query: QueryArrayConfig = {
      text,
      values: [...values],
      rowMode: 'array',
      ...(name !== undefined && { name }),
    };
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
