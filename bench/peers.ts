import { existsSync } from 'node:fs';
import { execPath } from 'node:process';
import { freePort } from '../test/support/servers.ts';
import { type RunContext, type ServerProcess, startServer } from './processes.ts';
import type { Stores } from './stores.ts';

const FOLDER = new URL('peers/', import.meta.url);

/** As many connections to PostgreSQL as the service has by default. */
const CONNECTIONS = '10';

/** How to install the peer, or undefined if it is installed. */
export function missingPeer(): string | undefined {
  if (existsSync(new URL('node_modules', FOLDER))) return undefined;
  return 'The peer is not installed: run `npm ci --prefix bench/peers`.';
}

/** Starts what a user could build instead of the service, over the same stores. */
export async function startPeer(
  { databaseUrl, redisUrl }: Stores,
  context: RunContext,
): Promise<ServerProcess> {
  const port = await freePort();
  const stores =
    redisUrl === undefined ? [databaseUrl.slice('sqlite:'.length)] : [databaseUrl, redisUrl, CONNECTIONS];
  const command = [execPath, new URL('server.ts', FOLDER).pathname, `${port}`, ...stores];
  const probe = { method: 'GET', path: '/v1/pets?limit=1', headers: {} } as const;
  return startServer(command, { port, probe }, context);
}
