import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createClient, ErrorReply } from '@redis/client';
import { NoAnswer, withTimeout } from '../timeout.ts';
import { asStartupError, isUnreachable, refuseUnfit, UnreachableError } from './fitness.ts';

/** Hash slots of a cluster, by the Redis Cluster specification. */
const SLOTS = 16_384;

/** A Lua script, and the digest that a server knows it by. */
export interface Script {
  readonly source: string;
  readonly sha: string;
}

type Arguments = readonly (string | number)[];

/** A script of this folder, with the prelude before it. */
export function loadScript(name: string): Script {
  const source = ['prelude.lua', name].map(readScript).join('\n');
  return { source, sha: hash('sha1', source, 'hex') };
}

function readScript(name: string): string {
  return readFileSync(new URL(name, import.meta.url), 'utf8');
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
type SlotRanges = Awaited<ReturnType<Client['clusterSlots']>>;

/** One server, over one connection at a time. Every method rejects while there is no connection. */
class RedisServer {
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

function isErrorReply(error: unknown, kind: string): error is Error {
  return error instanceof Error && error.message.startsWith(`${kind} `);
}

interface RedisOptions {
  readonly url: string;
  /** Called for each lost connection. */
  readonly onError?: (error: Error) => void;
  /** Called for each reason why a server that was out of reach at first must not be used. */
  readonly onRefused?: (error: Error) => void;
  /** Rejects with an ErrorReply when a server must not be used: rights are missing, or its disk is full. */
  readonly probe?: (server: string) => Promise<unknown>;
}

/**
 * Redis 7 or Valkey. Either one server, or a cluster with one connection to each primary, so that one that fails does not
 * affect the others. Until `open` has succeeded, it behaves like one server that is down. A server's name is `host:port`.
 */
export class Redis {
  readonly #options: RedisOptions;
  readonly #name: string;
  #servers = new Map<string, RedisServer>();
  /** The server of each hash slot of a cluster. Undefined when one server has all keys. */
  #slots: readonly string[] | undefined;
  /** Why it cannot be used, until `open` has succeeded. */
  #fault: Error | undefined = new UnreachableError('not connected');
  #refreshing: Promise<void> | undefined;

  constructor(options: RedisOptions) {
    this.#options = options;
    this.#name = new URL(options.url).host;
    this.#reset();
  }

  /**
   * Connects to the server, or to the cluster that it is part of. Refuses a server that would lose counts.
   * @throws StartupError in one line that never holds the password; UnreachableError when the server may be fit for use.
   */
  async open(): Promise<void> {
    try {
      const server = this.#server(this.#name);
      await server.connect();
      if (refuseUnfit(await server.info()).clustered) await this.#use(await server.slots());
      this.#fault = undefined;
      await Promise.all(this.servers().map((name) => this.#probe(name)));
    } catch (error) {
      this.#reset();
      this.#fault = asStartupError(error);
      throw this.#fault;
    }
  }

  /** The name of the server, or of each primary of a cluster. */
  servers(): readonly string[] {
    return [...this.#servers.keys()];
  }

  /** The name of the server that holds a key. */
  serverOf(key: string): string {
    return this.#slots === undefined ? this.#name : (this.#slots[slotOf(key)] ?? '');
  }

  /** Callers with the same group can share one script. */
  toGroup(caller: string): string {
    return this.#slots === undefined ? this.#name : caller;
  }

  /** Runs a script in one round trip, or in two when the server has not seen it yet. All keys are in one hash slot. */
  async run(script: Script, keys: readonly string[], args: Arguments): Promise<unknown> {
    if (this.#fault !== undefined) throw this.#fault;
    try {
      return await this.#server(this.serverOf(keys[0] ?? '')).run(script, keys, args);
    } catch (error) {
      if (isErrorReply(error, 'MOVED')) {
        await this.#refresh();
        return this.#server(addressIn(error)).run(script, keys, args);
      }
      if (isErrorReply(error, 'ASK')) return this.#server(addressIn(error)).run(script, keys, args, true);
      // The keys are being moved and are on two servers for a moment. Neither server is out of service.
      if (isErrorReply(error, 'TRYAGAIN')) throw new NoAnswer(error.message);
      throw error;
    }
  }

  /** Every key that matches a pattern, on all servers, one answer at a time. A key may come twice. */
  async *scan(pattern: string): AsyncIterable<readonly string[]> {
    for (const server of this.#servers.values()) yield* server.scan(pattern);
  }

  /** Replaces the connection to a server. In a cluster another server may have replaced this one, so it asks first. */
  async reconnect(name: string): Promise<void> {
    if (this.#fault !== undefined) return this.#openLate(this.#fault);
    if (this.#slots !== undefined) await this.#refresh();
    await this.#servers.get(name)?.connect();
  }

  close(): void {
    for (const server of this.#servers.values()) server.close();
  }

  async #openLate({ message: known }: Error): Promise<void> {
    try {
      await this.open();
    } catch (error) {
      const { message } = error as Error;
      if (!(error instanceof UnreachableError) && message !== known)
        this.#options.onRefused?.(error as Error);
      throw error;
    }
  }

  /** A server that does not answer is only an outage. */
  async #probe(name: string): Promise<void> {
    try {
      await this.#options.probe?.(name);
    } catch (error) {
      if (error instanceof ErrorReply && !isUnreachable(error)) throw error;
    }
  }

  #reset(): void {
    this.close();
    this.#servers = new Map([[this.#name, this.#newServer(this.#options.url)]]);
    this.#slots = undefined;
  }

  #newServer(url: string): RedisServer {
    return new RedisServer(url, this.#options.onError ?? (() => undefined));
  }

  #server(name: string): RedisServer {
    const server = this.#servers.get(name);
    if (server === undefined) throw new Error(`the cluster has no server ${name}`);
    return server;
  }

  #refresh(): Promise<void> {
    this.#refreshing ??= this.#readSlots()
      .then((ranges) => this.#use(ranges))
      .finally(() => {
        this.#refreshing = undefined;
      });
    return this.#refreshing;
  }

  async #readSlots(): Promise<SlotRanges> {
    try {
      return await Promise.any([...this.#servers.values()].map((server) => server.slots()));
    } catch {
      // No known server answers. All of them may have moved.
      const server = this.#newServer(this.#options.url);
      try {
        await server.connect();
        return await server.slots();
      } finally {
        server.close();
      }
    }
  }

  /** Closes the servers that are gone and connects to new ones. One that cannot be reached is connected later. */
  async #use(ranges: SlotRanges): Promise<void> {
    const slots: string[] = Array.from({ length: SLOTS }, () => '');
    const former = this.#servers;
    this.#servers = new Map();
    const added: RedisServer[] = [];
    for (const { from, to, master } of ranges) {
      const name = `${master.host || new URL(this.#options.url).hostname}:${master.port}`;
      slots.fill(name, from, to + 1);
      if (this.#servers.has(name)) continue;
      const known = former.get(name);
      const server = known ?? this.#newServer(urlOf(name, this.#options.url));
      if (known === undefined) added.push(server);
      this.#servers.set(name, server);
    }
    this.#slots = slots;
    for (const [name, server] of former) if (!this.#servers.has(name)) server.close();
    await Promise.allSettled(added.map((server) => server.connect()));
  }
}

/** The address of another server, with the same user, password and encryption. */
function urlOf(name: string, url: string): string {
  const other = new URL(url);
  const colon = name.lastIndexOf(':');
  const host = name.slice(0, colon);
  other.hostname = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
  other.port = name.slice(colon + 1);
  return other.href;
}

/** The address in a redirection such as `MOVED 3999 127.0.0.1:6381`. */
function addressIn({ message }: Error): string {
  return message.slice(message.lastIndexOf(' ') + 1);
}

/** The hash slot of a key: CRC-16/XMODEM of the text between its braces, which every key of ours has. */
function slotOf(key: string): number {
  const hashed = key.slice(key.indexOf('{') + 1, key.indexOf('}'));
  let crc = 0;
  for (const byte of Buffer.from(hashed)) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = (crc << 1) ^ (crc & 0x8000 ? 0x1021 : 0);
  }
  return (crc & 0xffff) % SLOTS;
}
