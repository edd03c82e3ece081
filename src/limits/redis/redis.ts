import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { ErrorReply } from '@redis/client';
import { parseRedisUrl, type RedisAddress } from '../../config/redis-url.ts';
import { StartupError } from '../../domain/startup-error.ts';
import { NoAnswer, withTimeout } from '../timeout.ts';
import { CONNECT_TIMEOUT, type Connection, type NewConnection, newSocketConnection } from './connection.ts';
import { asStartupError, isUnreachable, refuseUnfit, UnreachableError } from './fitness.ts';
import {
  findMajority,
  findTakeovers,
  type SlotRange,
  type SlotsReply,
  slotOf,
  type Takeover,
  toOwners,
  toServerName,
  toSlotRanges,
} from './slots.ts';

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

/** Keys that one answer of a scan looks at. The server does nothing else meanwhile. */
const SCANNED = 2_500;

/** A server answers that another one has a key, or is getting it. Neither is out of service. */
export class Redirected extends NoAnswer {
  /** The name of the other server. */
  readonly target: string;
  /** Whether the key is on its way there. */
  readonly isMoving: boolean;

  constructor({ message }: Error, host: string) {
    super(message);
    // Such as `MOVED 3999 127.0.0.1:6381`. Without a host it is the server that was asked.
    const address = message.slice(message.lastIndexOf(' ') + 1);
    const colon = address.lastIndexOf(':');
    this.target = toServerName(address.slice(0, colon) || host, Number(address.slice(colon + 1)));
    this.isMoving = message.startsWith('ASK ');
  }
}

/** One server, over one connection at a time. Every method rejects while there is no connection. */
class RedisServer {
  readonly #host: string;
  readonly #newConnection: () => Connection;
  #connection: Connection | undefined;
  #connecting: Promise<void> | undefined;
  #closed = false;

  constructor(host: string, newConnection: () => Connection) {
    this.#host = host;
    this.#newConnection = newConnection;
  }

  /** Connects, then closes the previous connection. Calls share an attempt. */
  connect(): Promise<void> {
    this.#connecting ??= this.#connect().finally(() => {
      this.#connecting = undefined;
    });
    return this.#connecting;
  }

  async #connect(): Promise<void> {
    if (this.#closed) throw new Error('closed');
    const next = this.#newConnection();
    try {
      await withTimeout(next.connect(), CONNECT_TIMEOUT);
      if (this.#closed) throw new Error('closed while connecting');
    } catch (error) {
      next.close();
      throw error;
    }
    this.#connection?.close();
    this.#connection = next;
  }

  /**
   * Runs a script in one round trip, or in two when the server has not seen it yet. `asking`: the keys are being moved to
   * this server. Rejects with Redirected when another server has the keys.
   */
  async run(script: Script, keys: readonly string[], args: Arguments, asking = false): Promise<unknown> {
    try {
      return await this.#run(script, keys, args, asking);
    } catch (error) {
      if (isErrorReply(error, 'MOVED') || isErrorReply(error, 'ASK')) throw new Redirected(error, this.#host);
      // The keys are being moved and are on two servers for a moment. Neither server is out of service.
      if (isErrorReply(error, 'TRYAGAIN')) throw new NoAnswer(error.message);
      throw error;
    }
  }

  async #run(script: Script, keys: readonly string[], args: Arguments, asking: boolean): Promise<unknown> {
    const connection = this.#connected();
    const rest = [`${keys.length}`, ...keys, ...args.map(String)];
    // ASKING applies to the next command only, so both are sent together.
    if (asking)
      return (
        await Promise.all([connection.send(['ASKING']), connection.send(['EVAL', script.source, ...rest])])
      )[1];
    try {
      return await connection.send(['EVALSHA', script.sha, ...rest]);
    } catch (error) {
      if (!isErrorReply(error, 'NOSCRIPT')) throw error;
      return connection.send(['EVAL', script.source, ...rest]);
    }
  }

  async info(): Promise<string> {
    return (await withTimeout(this.#connected().send(['INFO']), CONNECT_TIMEOUT)) as string;
  }

  /** The hash slots of its cluster, as it knows them. */
  async slots(): Promise<readonly SlotRange[]> {
    const reply = await withTimeout(this.#connected().send(['CLUSTER', 'SLOTS']), CONNECT_TIMEOUT);
    return toSlotRanges(reply as SlotsReply, this.#host);
  }

  /** Keys that match a pattern, one answer at a time. A key may come twice. */
  async *scan(pattern: string): AsyncIterable<readonly string[]> {
    const connection = this.#connected();
    let cursor = '0';
    do {
      const reply = await connection.send(['SCAN', cursor, 'MATCH', pattern, 'COUNT', `${SCANNED}`]);
      const [next, keys] = reply as readonly [string, readonly string[]];
      yield keys;
      cursor = next;
    } while (cursor !== '0');
  }

  close(): void {
    this.#closed = true;
    this.#connection?.close();
  }

  #connected(): Connection {
    if (this.#connection === undefined) throw new Error('not connected');
    return this.#connection;
  }
}

function isErrorReply(error: unknown, kind: string): error is Error {
  return error instanceof Error && error.message.startsWith(`${kind} `);
}

interface RedisOptions {
  readonly url: string;
  /** By default over a socket. */
  readonly newConnection?: NewConnection | undefined;
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
  readonly #address: RedisAddress;
  readonly #name: string;
  #servers = new Map<string, RedisServer>();
  #isClustered = false;
  /** The hash slots of a cluster as they were read last. Undefined when one server has all keys. */
  #ranges: readonly SlotRange[] | undefined;
  /** The server of each of these slots, corrected by each server that says where a slot is. */
  #owners: string[] = [];
  /** Why it cannot be used, until `open` has succeeded. */
  #error: Error | undefined = new UnreachableError('not connected');
  #refreshing: Promise<readonly Takeover[]> | undefined;
  #closed = false;

  constructor(options: RedisOptions) {
    this.#options = options;
    this.#address = parseRedisUrl(options.url);
    this.#name = toServerName(this.#address.host, this.#address.port);
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
      this.#isClustered = refuseUnfit(await server.info()).clustered;
      if (this.#isClustered) await Promise.allSettled(this.#use(await server.slots()));
      this.#error = undefined;
      await Promise.all(this.servers().map((name) => this.#check(name)));
    } catch (error) {
      this.#reset();
      this.#error = asStartupError(error);
      throw this.#error;
    }
  }

  /** The name of the server, or of each primary of a cluster. Never empty. */
  servers(): readonly string[] {
    return [...this.#servers.keys()];
  }

  /** The name of the server that holds a key. In a cluster, no server may: then it is empty. */
  serverOf(key: string): string {
    return this.#ranges === undefined ? this.#name : this.ownerOf(slotOf(key));
  }

  /** The same for a hash slot. */
  ownerOf(slot: number): string {
    return this.#ranges === undefined ? this.#name : (this.#owners[slot] ?? '');
  }

  /** Callers with the same group can share one script. */
  toGroup(caller: string): string {
    return this.#ranges === undefined ? this.#name : caller;
  }

  /**
   * Runs a script in one round trip, or in two when the server has not seen it yet, or when it redirects. All keys are in one
   * hash slot.
   */
  async run(script: Script, keys: readonly string[], args: Arguments): Promise<unknown> {
    if (this.#error !== undefined) throw this.#error;
    try {
      return await this.runOn(this.serverOf(keys[0] ?? ''), script, keys, args);
    } catch (error) {
      if (!(error instanceof Redirected)) throw error;
      // A server that is new is not used before the instances have restored their counts there.
      const target = this.#servers.get(error.target);
      if (target === undefined) throw error;
      try {
        return await target.run(script, keys, args, error.isMoving);
      } catch (cause) {
        // Followed once only, because two servers may redirect to each other. It says nothing of the server that redirected.
        throw new NoAnswer(error.message, { cause });
      }
    }
  }

  /** The same on one server. Rejects with Redirected when another one has the keys. */
  async runOn(name: string, script: Script, keys: readonly string[], args: Arguments): Promise<unknown> {
    if (this.#error !== undefined) throw this.#error;
    try {
      return await this.#server(name).run(script, keys, args);
    } catch (error) {
      if (error instanceof Redirected) this.#followRedirection(error, keys[0] ?? '');
      throw error;
    }
  }

  /** Every key that matches a pattern, on all servers, one answer at a time. A key may come twice. */
  async *scan(pattern: string): AsyncIterable<readonly string[]> {
    for (const server of this.#servers.values()) yield* server.scan(pattern);
  }

  /** Replaces the connection to a server. */
  async reconnect(name: string): Promise<void> {
    if (this.#error !== undefined) return this.#openLate(this.#error);
    await this.#servers.get(name)?.connect();
  }

  /**
   * Reads again which server of a cluster has which slots, and begins to connect to new servers. Gives which servers took
   * over slots of which others. Rejects when nobody says who has them: then everything stays.
   */
  async refresh(): Promise<readonly Takeover[]> {
    if (this.#error !== undefined || !this.#isClustered) return [];
    this.#refreshing ??= this.#readSlots()
      .then((ranges) => {
        const former = this.#owners;
        for (const connecting of this.#use(ranges)) connecting.catch(() => undefined);
        return findTakeovers(former, this.#owners);
      })
      .finally(() => {
        this.#refreshing = undefined;
      });
    return this.#refreshing;
  }

  close(): void {
    this.#closed = true;
    this.#closeServers();
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
  async #check(name: string): Promise<void> {
    try {
      if (this.#isClustered) refuseUnfit(await this.#server(name).info(), name);
      await this.#options.probe?.(name);
    } catch (error) {
      if (error instanceof StartupError || (error instanceof ErrorReply && !isUnreachable(error)))
        throw error;
    }
  }

  #reset(): void {
    this.#closeServers();
    this.#servers = new Map([[this.#name, this.#newServer(this.#address)]]);
    this.#isClustered = false;
    this.#ranges = undefined;
    this.#owners = [];
  }

  #closeServers(): void {
    for (const server of this.#servers.values()) server.close();
  }

  #newServer(address: RedisAddress): RedisServer {
    const { newConnection = newSocketConnection, onError = () => undefined } = this.#options;
    const server = new RedisServer(address.host, () => newConnection(address, onError));
    if (this.#closed) server.close();
    return server;
  }

  #server(name: string): RedisServer {
    const server = this.#servers.get(name);
    if (server === undefined)
      throw new Error(name === '' ? 'no server has this hash slot' : `the cluster has no server ${name}`);
    return server;
  }

  /** A server that redirects knows one slot better than what was read last. */
  #followRedirection({ target, isMoving }: Redirected, key: string): void {
    this.#isClustered = true;
    if (isMoving || this.#ranges === undefined || !this.#servers.has(target)) return;
    const slot = slotOf(key);
    const former = this.#owners[slot] ?? '';
    this.#owners[slot] = target;
    // What is read next replaces this, even if it is what was read before.
    this.#ranges = [];
    if (!this.#owners.includes(former)) this.#leave(former);
  }

  #leave(name: string): void {
    this.#servers.get(name)?.close();
    this.#servers.delete(name);
  }

  async #readSlots(): Promise<readonly SlotRange[]> {
    const answers = await Promise.allSettled([...this.#servers.values()].map((server) => server.slots()));
    const tables = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
    return findMajority(tables) ?? this.#readSlotsAnew();
  }

  /** No known server answers. All of them may have moved. */
  async #readSlotsAnew(): Promise<readonly SlotRange[]> {
    const server = this.#newServer(this.#address);
    try {
      await server.connect();
      return await server.slots();
    } finally {
      server.close();
    }
  }

  /** Closes the servers that are gone and begins to connect to new ones. One that cannot be reached is connected later. */
  #use(ranges: readonly SlotRange[]): readonly Promise<void>[] {
    if (isDeepStrictEqual(ranges, this.#ranges)) return [];
    const former = this.#servers;
    this.#servers = new Map();
    const added: RedisServer[] = [];
    for (const { server: name } of ranges) {
      if (this.#servers.has(name)) continue;
      const known = former.get(name);
      const server = known ?? this.#newServer(addressAt(name, this.#address));
      if (known === undefined) added.push(server);
      this.#servers.set(name, server);
    }
    this.#ranges = ranges;
    this.#owners = toOwners(ranges);
    for (const [name, server] of former) if (!this.#servers.has(name)) server.close();
    return added.map((server) => server.connect());
  }
}

/** The address of another server, with the same user, password and encryption. */
function addressAt(name: string, address: RedisAddress): RedisAddress {
  const colon = name.lastIndexOf(':');
  return { ...address, host: name.slice(0, colon), port: Number(name.slice(colon + 1)) };
}
