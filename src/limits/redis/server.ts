import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createClient } from '@redis/client';
import { withTimeout } from '../timeout.ts';

/** A Lua script, and the digest that a server knows it by. */
export interface Script {
  readonly source: string;
  readonly sha: string;
}

export type Arguments = readonly (string | number)[];

export function loadScript(name: string): Script {
  const source = readFileSync(new URL(name, import.meta.url), 'utf8');
  return { source, sha: hash('sha1', source, 'hex') };
}

/** Milliseconds to connect, and for each command that asks about the server. */
const CONNECT_TIMEOUT = 1_000;

/** Keys that one answer of a scan looks at. The server does nothing else meanwhile. */
const SCANNED = 2_500;

function newClient(url: string, onError: (error: Error) => void) {
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

/** Ranges of hash slots, each with the address of its server. Without a host it is the server that was asked. */
export type SlotRanges = Awaited<ReturnType<Client['clusterSlots']>>;

/** One server, over one connection at a time. Every method rejects while there is no connection. */
export class RedisServer {
  readonly #newClient: () => Client;
  #client: Client | undefined;
  #closed = false;

  constructor(url: string, onError: (error: Error) => void) {
    this.#newClient = () => newClient(url, onError);
  }

  /** Connects, then closes the previous connection. */
  async connect(): Promise<void> {
    const next = this.#newClient();
    try {
      await withTimeout(next.connect(), CONNECT_TIMEOUT);
      if (this.#closed) throw new Error('closed while connecting');
    } catch (error) {
      if (next.isOpen) next.destroy();
      throw error;
    }
    const former = this.#client;
    this.#client = next;
    if (former?.isOpen) former.destroy();
  }

  /**
   * Runs a script in one round trip, or in two when the server has not seen it yet. `asking`: the keys are being moved to
   * this server.
   */
  async run(script: Script, keys: readonly string[], args: Arguments, asking = false): Promise<unknown> {
    const client = this.#connected();
    const options = { keys: [...keys], arguments: args.map(String) };
    // ASKING applies to the next command only, so both are sent together.
    if (asking)
      return (await Promise.all([client.sendCommand(['ASKING']), client.eval(script.source, options)]))[1];
    try {
      return await client.evalSha(script.sha, options);
    } catch (error) {
      if (!isErrorReply(error, 'NOSCRIPT')) throw error;
      return client.eval(script.source, options);
    }
  }

  async info(): Promise<string> {
    return withTimeout(this.#connected().info(), CONNECT_TIMEOUT);
  }

  async slots(): Promise<SlotRanges> {
    return withTimeout(this.#connected().clusterSlots(), CONNECT_TIMEOUT);
  }

  /** Keys that match a pattern, one answer at a time. A key may come twice. */
  scan(pattern: string): AsyncIterable<readonly string[]> {
    return this.#connected().scanIterator({ MATCH: pattern, COUNT: SCANNED });
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

export function isErrorReply(error: unknown, kind: string): error is Error {
  return error instanceof Error && error.message.startsWith(`${kind} `);
}
