import { NoAnswer } from '../timeout.ts';
import type { Redis } from './redis.ts';
import type { Arguments, Script } from './script.ts';
import { isReply, RedisServer, type SlotRange } from './server.ts';
import { SLOTS, slotOf } from './slot.ts';

/**
 * A cluster, with one connection to each primary, so that one that fails does not affect the others. The name of a server
 * is its address, `host:port`.
 */
export class RedisCluster implements Redis {
  readonly #url: string;
  readonly #onError: (error: Error) => void;
  readonly #servers = new Map<string, RedisServer>();
  #slots: readonly string[] = [];
  #refreshing: Promise<void> | undefined;

  private constructor(url: string, onError: (error: Error) => void) {
    this.#url = url;
    this.#onError = onError;
  }

  /** `any` is a server of the cluster, at `url`. A primary that cannot be reached is connected later. */
  static async of(any: RedisServer, url: string, onError: (error: Error) => void): Promise<RedisCluster> {
    const cluster = new RedisCluster(url, onError);
    cluster.#apply(await any.slots());
    await Promise.allSettled(cluster.servers().map((name) => cluster.#server(name).connect()));
    return cluster;
  }

  servers(): readonly string[] {
    return [...this.#servers.keys()];
  }

  serverOf(key: string): string {
    return this.#slots[slotOf(key)] ?? '';
  }

  /** The keys of one script must be in one hash slot. */
  groupOf(caller: string): string {
    return caller;
  }

  async run(script: Script, keys: readonly string[], args: Arguments): Promise<unknown> {
    try {
      return await this.#server(this.serverOf(keys[0] ?? '')).run(script, keys, args);
    } catch (error) {
      if (isReply(error, 'MOVED')) {
        await this.#refresh();
        return this.#server(addressIn(error)).run(script, keys, args);
      }
      if (isReply(error, 'ASK')) return this.#server(addressIn(error)).runAsking(script, keys, args);
      // The keys are being moved and are on two servers for a moment. Neither server is out of service.
      if (isReply(error, 'TRYAGAIN')) throw new NoAnswer(error.message);
      throw error;
    }
  }

  async *scan(pattern: string): AsyncIterable<string> {
    for (const server of this.#servers.values()) yield* server.scan(pattern);
  }

  /** Asks for the slots first, because another server may have replaced the one that is gone. */
  async reconnect(name: string): Promise<void> {
    await this.#refresh();
    await this.#servers.get(name)?.connect();
  }

  close(): void {
    for (const server of this.#servers.values()) server.close();
  }

  #server(name: string): RedisServer {
    const server = this.#servers.get(name);
    if (server === undefined) throw new Error(`the cluster has no server ${name}`);
    return server;
  }

  #refresh(): Promise<void> {
    this.#refreshing ??= this.#askAny().finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  async #askAny(): Promise<void> {
    const former = new Set(this.#servers.keys());
    this.#apply(
      await Promise.any([...this.#servers.values()].map((server) => server.slots())).catch(() =>
        this.#askFirst(),
      ),
    );
    const added = [...this.#servers].filter(([name]) => !former.has(name));
    await Promise.allSettled(added.map(([, server]) => server.connect()));
  }

  /** For when no known server answers: all of them may have moved. */
  async #askFirst(): Promise<readonly SlotRange[]> {
    const server = new RedisServer(this.#url, this.#onError);
    try {
      await server.connect();
      return await server.slots();
    } finally {
      server.close();
    }
  }

  #apply(ranges: readonly SlotRange[]): void {
    const slots: string[] = Array.from({ length: SLOTS }, () => '');
    const names = new Set<string>();
    for (const { from, to, host, port } of ranges) {
      const name = `${host === '' ? new URL(this.#url).hostname : host}:${port}`;
      slots.fill(name, from, to + 1);
      names.add(name);
      if (!this.#servers.has(name))
        this.#servers.set(name, new RedisServer(urlOf(name, this.#url), this.#onError));
    }
    for (const [name, server] of this.#servers) {
      if (names.has(name)) continue;
      server.close();
      this.#servers.delete(name);
    }
    this.#slots = slots;
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
