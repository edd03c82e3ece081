import { createClient } from '@redis/client';
import { withTimeout } from '../timeout.ts';
import type { Arguments, Script } from './script.ts';

/** Milliseconds to connect, and for each question asked while connecting. */
const CONNECT_TIMEOUT = 1_000;

type OnError = (error: Error) => void;

function newClient(url: string, onError: OnError) {
  const client = createClient({
    url,
    // In an outage a command must fail at once. Sent later, it would count a request twice.
    disableOfflineQueue: true,
    // Callers have their own timeouts.
    commandOptions: { timeout: 0 },
    // The outage policy reconnects, because the server may have been replaced.
    socket: { connectTimeout: CONNECT_TIMEOUT, reconnectStrategy: false },
    disableClientInfo: true,
    maintNotifications: 'disabled',
  });
  return client.on('error', onError);
}

type Client = ReturnType<typeof newClient>;

/** A range of slots and the address of their server. An empty host is the server that was asked. */
export interface SlotRange {
  readonly from: number;
  readonly to: number;
  readonly host: string;
  readonly port: number;
}

/** One server, over one connection at a time. Every method rejects while there is no connection. */
export class RedisServer {
  readonly #url: string;
  readonly #onError: OnError;
  #client: Client | undefined;
  #closed = false;

  constructor(url: string, onError: OnError) {
    this.#url = url;
    this.#onError = onError;
  }

  /** Connects, then closes the previous connection. */
  async connect(): Promise<void> {
    const fresh = newClient(this.#url, this.#onError);
    try {
      await withTimeout(fresh.connect(), CONNECT_TIMEOUT);
      if (this.#closed) throw new Error('closed while connecting');
    } catch (error) {
      if (fresh.isOpen) fresh.destroy();
      throw error;
    }
    const former = this.#client;
    this.#client = fresh;
    if (former?.isOpen) former.destroy();
  }

  /** Runs a script in one round trip, or in two when the server has not seen it yet. */
  async run(script: Script, keys: readonly string[], args: Arguments): Promise<unknown> {
    const client = this.#connected();
    const options = { keys: [...keys], arguments: args.map(String) };
    try {
      return await client.evalSha(script.sha, options);
    } catch (error) {
      if (!isReply(error, 'NOSCRIPT')) throw error;
      return client.eval(script.source, options);
    }
  }

  /** Like `run`, for keys that are being moved to this server. */
  async runAsking(script: Script, keys: readonly string[], args: Arguments): Promise<unknown> {
    const client = this.#connected();
    const options = { keys: [...keys], arguments: args.map(String) };
    // ASKING applies to the next command only, so both are sent together.
    const [, reply] = await Promise.all([
      client.sendCommand(['ASKING']),
      client.eval(script.source, options),
    ]);
    return reply;
  }

  async info(): Promise<string> {
    return withTimeout(this.#connected().info(), CONNECT_TIMEOUT);
  }

  /** The slots of its cluster and their servers. */
  async slots(): Promise<readonly SlotRange[]> {
    const ranges = await withTimeout(this.#connected().clusterSlots(), CONNECT_TIMEOUT);
    return ranges.map(({ from, to, master: { host, port } }) => ({ from, to, host: host ?? '', port }));
  }

  /** Keys that match a pattern. A key may come twice. */
  async *scan(pattern: string): AsyncIterable<string> {
    for await (const keys of this.#connected().scanIterator({ MATCH: pattern, COUNT: 1_000 })) yield* keys;
  }

  close(): void {
    this.#closed = true;
    if (this.#client?.isOpen) this.#client.destroy();
  }

  #connected(): Client {
    if (this.#client === undefined) throw new Error('not connected');
    return this.#client;
  }
}

/** Whether this is an error reply of this kind. */
export function isReply(error: unknown, kind: string): error is Error {
  return error instanceof Error && error.message.startsWith(`${kind} `);
}
