import { readFileSync } from 'node:fs';
import { hash } from 'node:crypto';
import { createClient, createCluster } from '@redis/client';
import { StartupError } from '../../startup-error.ts';

/** How long a connection may take to come about, and how long one that was lost is left before the next try, in ms. */
const CONNECT_TIMEOUT = 2_000;
const RECONNECT_DELAY = 250;

const OLDEST_VERSION = 7;

export type Arguments = readonly (string | number)[];

/** A Lua script with the digest that the server knows it by. */
export interface Script {
  readonly source: string;
  readonly sha: string;
}

export function loadScript(url: URL): Script {
  const source = readFileSync(url, 'utf8');
  return { source, sha: hash('sha1', source, 'hex') };
}

/** Redis 7 or Valkey, alone or as a cluster. */
export interface Redis {
  /** Runs a script in one round trip, or in two when the server has not seen it yet. All keys lie in one hash slot. */
  run(script: Script, keys: readonly string[], args: Arguments): Promise<unknown>;
  ping(): Promise<void>;
  /** Every key that matches a pattern, on whichever server. */
  scan(pattern: string): AsyncIterable<string>;
  close(): void;
}

/** What is used of one server, and of a cluster: the driver's own types depend on every option it was made with. */
interface Scriptable {
  evalSha(sha: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
  eval(source: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
}

interface Server extends Scriptable {
  info(): Promise<string>;
  ping(): Promise<unknown>;
  scanIterator(options: { MATCH: string; COUNT: number }): AsyncIterable<string[]>;
  destroy(): void;
}

interface Cluster extends Scriptable {
  /** A client for each primary. */
  primaries(): Promise<readonly Server[]>;
  destroy(): void;
}

/**
 * Connects, and refuses what would lose counts.
 * @throws StartupError in one line that never holds the password.
 */
export async function connectRedis(url: string, onError: (error: Error) => void): Promise<Redis> {
  let clustered: boolean;
  const options = {
    // In an outage a command fails at once; it is neither kept nor sent later.
    disableOfflineQueue: true,
    socket: { connectTimeout: CONNECT_TIMEOUT, reconnectStrategy: (): number => RECONNECT_DELAY },
  };
  try {
    const first = createClient({ url, ...options, socket: { ...options.socket, reconnectStrategy: false } });
    first.on('error', () => undefined);
    try {
      await first.connect();
      clustered = await refuseUnfit(first as unknown as Server);
    } finally {
      if (first.isOpen) first.destroy();
    }
    if (clustered) {
      const { username, password, protocol } = new URL(url);
      const cluster = createCluster({
        rootNodes: [{ url }],
        defaults: {
          ...options,
          ...(username !== '' && { username: decodeURIComponent(username) }),
          ...(password !== '' && { password: decodeURIComponent(password) }),
          ...(protocol === 'rediss:' && { socket: { ...options.socket, tls: true } }),
        },
      });
      cluster.on('error', onError);
      cluster.on('node-error', onError);
      await cluster.connect();
      return wrapCluster({
        evalSha: (sha, given) => cluster.evalSha(sha, given),
        eval: (source, given) => cluster.eval(source, given),
        primaries: () =>
          Promise.all(cluster.masters.map((node) => cluster.nodeClient(node) as unknown as Promise<Server>)),
        destroy: () => cluster.destroy(),
      });
    }
    const client = createClient({ url, ...options });
    client.on('error', onError);
    await client.connect();
    return wrapSingle(client as unknown as Server);
  } catch (error) {
    if (error instanceof StartupError) throw error;
    throw new StartupError(`The Redis server cannot be used: ${reason(error)}.`, { cause: error });
  }
}

/** Whether it is part of a cluster. @throws StartupError when it cannot keep counts. */
async function refuseUnfit(client: Server): Promise<boolean> {
  const info = Object.fromEntries(
    (await client.info())
      .split('\r\n')
      .filter((line) => line.includes(':'))
      .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)] as const),
  );
  const version = info['redis_version'] ?? '0';
  if (Number.parseInt(version, 10) < OLDEST_VERSION) {
    throw new StartupError(`Redis 7 or Valkey is needed, and this server is Redis ${version}.`);
  }
  const policy = info['maxmemory_policy'];
  if (policy !== undefined && policy !== 'noeviction' && info['maxmemory'] !== '0') {
    throw new StartupError(
      `The Redis server evicts keys (maxmemory-policy ${policy}): counts would be lost; set noeviction.`,
    );
  }
  if (info['role'] === 'slave')
    throw new StartupError('The Redis server is a read-only replica: connect to the primary.');
  return info['cluster_enabled'] === '1';
}

function wrapSingle(client: Server): Redis {
  return {
    run: (script, keys, args) => runOn(client, script, keys, args),
    async ping() {
      await client.ping();
    },
    async *scan(pattern) {
      yield* scanNode(client, pattern);
    },
    close: () => client.destroy(),
  };
}

function wrapCluster(cluster: Cluster): Redis {
  return {
    run: (script, keys, args) => runOn(cluster, script, keys, args),
    async ping() {
      // Every primary: while one is missing, its callers cannot be counted.
      await Promise.all((await cluster.primaries()).map((server) => server.ping()));
    },
    async *scan(pattern) {
      for (const server of await cluster.primaries()) yield* scanNode(server, pattern);
    },
    close: () => cluster.destroy(),
  };
}

async function* scanNode(client: Server, pattern: string): AsyncIterable<string> {
  for await (const keys of client.scanIterator({ MATCH: pattern, COUNT: 1_000 })) yield* keys;
}

async function runOn(
  client: Scriptable,
  { sha, source }: Script,
  keys: readonly string[],
  args: Arguments,
): Promise<unknown> {
  const options = { keys: [...keys], arguments: args.map(String) };
  try {
    return await client.evalSha(sha, options);
  } catch (error) {
    if (error instanceof Error && error.message.startsWith('NOSCRIPT')) return client.eval(source, options);
    throw error;
  }
}

/** What the server or the driver said, in one line; neither repeats a password. */
function reason(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reason).join(', ');
  return error instanceof Error ? error.message.replaceAll(/\s+/g, ' ') : String(error);
}
