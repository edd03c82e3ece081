import { existsSync } from 'node:fs';
import { execPath } from 'node:process';
import { freePort } from '../test/support/servers.ts';
import { type RunContext, type ServerProcess, startServer } from './processes.ts';
import type { Stores } from './stores.ts';

const FOLDER = new URL('peers/', import.meta.url);

/** An alternative to the service, over the same stores. */
export interface Peer {
  readonly name: string;
  /** Command-line arguments after the port. */
  readonly args: readonly string[];
  /** Whether it syncs each animal to disk by itself before it answers. */
  readonly synced: boolean;
}

export interface RunningPeer extends Peer {
  readonly server: ServerProcess;
}

/** The default of the service. */
const CONNECTIONS = '10';

export function peersOver({ databaseUrl, redisUrl }: Stores): readonly Peer[] {
  if (redisUrl !== undefined) {
    return [{ name: 'conventional', args: [databaseUrl, redisUrl, CONNECTIONS], synced: true }];
  }
  const args = [databaseUrl.slice('sqlite:'.length)];
  return ['fastify', 'express', 'hono', 'json-server'].map((name) => {
    return { name, args, synced: name !== 'json-server' };
  });
}

/** How to install the peers, or undefined if they are installed. */
export function missingPeers(): string | undefined {
  if (existsSync(new URL('node_modules', FOLDER))) return undefined;
  return 'The peers are not installed: run `npm ci --prefix bench/peers`.';
}

export async function startPeer(peer: Peer, context: RunContext): Promise<RunningPeer> {
  const port = await freePort();
  const command = [execPath, new URL(`${peer.name}/server.ts`, FOLDER).pathname, `${port}`, ...peer.args];
  const probe = { method: 'GET', path: '/v1/pets?limit=1', headers: {} } as const;
  return { ...peer, server: await startServer(command, { port, probe }, context) };
}
