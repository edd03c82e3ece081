import { existsSync } from 'node:fs';
import { execPath } from 'node:process';
import type { Placement } from './placement.ts';
import { freePort, type Launch, type ServerProcess, startServer } from './processes.ts';

const FOLDER = new URL('peers/', import.meta.url);

/** What a user would build or take instead, over the stores of the service. */
export interface Peer {
  readonly name: string;
  /** Behind the port, on its command line. */
  readonly args: readonly string[];
  /** Whether it syncs each animal to disk by itself before it answers. */
  readonly synced: boolean;
}

export interface RunningPeer extends Peer {
  readonly server: ServerProcess;
}

/** As many as the service opens unless it is told otherwise. */
const CONNECTIONS = '10';

/** Those over the service's own SQLite file; json-server keeps a file of its own beside it. */
export function localPeers(database: string): readonly Peer[] {
  return ['fastify', 'express', 'hono', 'json-server'].map((name) => {
    return { name, args: [database], synced: name !== 'json-server' };
  });
}

/** The conventional build of the same operations, over the service's own PostgreSQL database and Redis. */
export function scalePeers(databaseUrl: string, redisUrl: string): readonly Peer[] {
  return [{ name: 'conventional', args: [databaseUrl, redisUrl, CONNECTIONS], synced: true }];
}

/** What to do before the peers can be measured, or undefined when they are installed. */
export function missingPeers(): string | undefined {
  if (existsSync(new URL('node_modules', FOLDER))) return undefined;
  return 'The peers are not installed: run `npm ci --prefix bench/peers`.';
}

export async function startPeer(
  peer: Peer,
  { place, signal }: Launch & { place: Placement },
): Promise<RunningPeer> {
  const port = await freePort();
  const script = new URL(`${peer.name}/server.ts`, FOLDER).pathname;
  const server = await startServer(place('server', [execPath, script, `${port}`, ...peer.args]), {
    port,
    probe: { method: 'GET', path: '/v1/pets?limit=1', headers: {} },
    signal,
  });
  return { ...peer, server };
}
