import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';
import { createClient } from '@redis/client';
import { type Lifetime, PROCESS } from './lifetime.ts';
import { freePort, listening, program, runServer, serverFolder, type TestServer } from './servers.ts';
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts';
import { MEMORY } from './temporary.ts';

/** A Redis server of the tests' own, which keeps nothing on disk. */
export async function startRedis(options: readonly string[] = []): Promise<TestServer> {
  const command = program('redis-server', 'redis-server', { name: 'Redis', variable: 'TEST_REDIS_URL' });
  // A server of a cluster syncs what it knows of the others, and answers nobody meanwhile: too long on a busy disk.
  const folder = serverFolder('redis', MEMORY);
  const port = await freePort();
  const args = [
    '--port',
    `${port}`,
    '--bind',
    '127.0.0.1',
    '--dir',
    folder,
    '--save',
    '',
    '--appendonly',
    'no',
  ];
  return runServer({
    port,
    url: `redis://127.0.0.1:${port}`,
    folder,
    command,
    args: [...args, ...options],
    ready: () => listening(port),
  });
}

/** The same, stopped after the test. */
export async function temporaryRedis(t: Lifetime, options: readonly string[] = []): Promise<TestServer> {
  const server = await startRedis(options);
  t.after(() => server.stop());
  return server;
}

let shared: Promise<TestServer> | undefined;

/** The address of a Redis that all tests of this process use in turn, without a key. */
export async function emptyRedis(): Promise<string> {
  const { url } = await (shared ??= temporaryRedis(PROCESS));
  await ask(url, ['FLUSHALL']);
  return url;
}

/** Without one of its primaries the others go on, and a replica takes over within a few seconds. */
const CLUSTERED = [
  ['--cluster-enabled', 'yes'],
  ['--cluster-require-full-coverage', 'no'],
  ['--cluster-node-timeout', '1000'],
].flat();

/** The server of TEST_REDIS_URL, whose keys the tests may delete, or one that is stopped after the test. */
export async function testRedis(t: Lifetime): Promise<string> {
  return process.env['TEST_REDIS_URL'] ?? (await temporaryRedis(t)).url;
}

/** A server of a cluster that it makes alone, without a hash slot; it stays a primary. It is stopped after the test. */
export async function temporaryNode(t: Lifetime): Promise<TestServer> {
  const options = ['--cluster-port', `${await freePort()}`, '--cluster-allow-replica-migration', 'no'];
  return temporaryRedis(t, [...CLUSTERED, ...options]);
}

/** A cluster of three primaries; without one of them the others go on. It is stopped after the test. */
export async function temporaryCluster(t: Lifetime): Promise<readonly TestServer[]> {
  // The port of a cluster's own messages, by default 10,000 higher, may be beyond the highest there is.
  const start = async () => startRedis([...CLUSTERED, '--cluster-port', `${await freePort()}`]);
  const servers = await Promise.all([start(), start(), start()]);
  t.after(() => Promise.all(servers.map((server) => server.stop())));
  const addresses = servers.map(({ port }) => `127.0.0.1:${port}`);
  execFileSync(program('redis-cli', 'redis-tools'), ['--cluster', 'create', ...addresses, '--cluster-yes'], {
    stdio: 'pipe',
  });
  for (const { url } of servers) await agreed(url);
  return servers;
}

/**
 * A replica of one server of a cluster. It takes over only once the test sets cluster-replica-no-failover to no: on a busy
 * machine it might take a server that is late for one that is gone. It is stopped after the test.
 */
export async function temporaryReplica(t: Lifetime, primary: TestServer): Promise<TestServer> {
  const options = ['--cluster-port', `${await freePort()}`, '--cluster-replica-no-failover', 'yes'];
  const replica = await temporaryRedis(t, [...CLUSTERED, ...options]);
  const primaryId = await readId(primary);
  const addresses = [replica, primary].map(({ port }) => `127.0.0.1:${port}`);
  const role = ['--cluster-slave', '--cluster-master-id', primaryId];
  execFileSync(program('redis-cli', 'redis-tools'), ['--cluster', 'add-node', ...addresses, ...role], {
    stdio: 'pipe',
  });
  while (!(await ask<string>(replica.url, ['INFO', 'replication'])).includes('master_link_status:up'))
    await wait(20);
  return replica;
}

/** The server of a cluster that a key is on. */
export async function findOwner(key: string, servers: readonly TestServer[]): Promise<TestServer> {
  const any = servers[0]?.url ?? '';
  const slot = await ask<number>(any, ['CLUSTER', 'KEYSLOT', key]);
  const ranges = await ask<[number, number, [string, number]][]>(any, ['CLUSTER', 'SLOTS']);
  const port = ranges.find(([from, to]) => from <= slot && slot <= to)?.[2][1];
  const owner = servers.find((server) => server.port === port);
  assert.ok(owner !== undefined);
  return owner;
}

/** The server of a key, and one that its slot can move to. */
export async function moveBetween(
  key: string,
  servers: readonly TestServer[],
): Promise<readonly [from: TestServer, to: TestServer]> {
  const from = await findOwner(key, servers);
  const to = servers.find((server) => server !== from);
  assert.ok(to !== undefined);
  return [from, to];
}

/** Begins to move the slot of a key. Keys move with MIGRATE. */
export async function beginMove(
  key: string,
  from: TestServer,
  to: TestServer,
): Promise<{ finish(): Promise<void> }> {
  const slot = `${await ask<number>(from.url, ['CLUSTER', 'KEYSLOT', key])}`;
  const [fromId, toId] = await Promise.all([from, to].map(readId));
  assert.ok(fromId !== undefined && toId !== undefined);
  await ask(to.url, ['CLUSTER', 'SETSLOT', slot, 'IMPORTING', fromId]);
  await ask(from.url, ['CLUSTER', 'SETSLOT', slot, 'MIGRATING', toId]);
  return {
    finish: async () => {
      for (const { url } of [to, from]) await ask(url, ['CLUSTER', 'SETSLOT', slot, 'NODE', toId]);
    },
  };
}

/** What its cluster calls a server. */
export function readId({ url }: TestServer): Promise<string> {
  return ask<string>(url, ['CLUSTER', 'MYID']);
}

/**
 * From now on a cluster tells its clients that one of its servers is behind a proxy. Gives the proxy, and the name that
 * the service has for it.
 */
export async function announceProxy(
  t: Lifetime,
  { url }: TestServer,
  others: readonly TestServer[],
): Promise<TcpProxy & { readonly name: string }> {
  const proxy = await startTcpProxy(t, url);
  const { host: name, port: proxyPort } = new URL(proxy.url);
  await ask(url, ['CONFIG', 'SET', 'cluster-announce-port', proxyPort]);
  for (const other of others)
    while (!(await ask<string>(other.url, ['CLUSTER', 'NODES'])).includes(`${name}@`)) await wait(20);
  return { ...proxy, name };
}

/** Until a server of a cluster has heard from the others who has which slots. */
export async function agreed(url: string): Promise<void> {
  while (!(await ask<string>(url, ['CLUSTER', 'INFO'])).includes('cluster_state:ok')) await wait(20);
}

/** Sends one command, on a connection of its own. */
export async function ask<T>(url: string, command: readonly string[]): Promise<T> {
  const client = createClient({ url, RESP: 2, socket: { reconnectStrategy: false } });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.sendCommand([...command])) as T;
  } finally {
    client.destroy();
  }
}
