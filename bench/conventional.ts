import { existsSync } from 'node:fs';
import { execPath } from 'node:process';
import type { Placement } from './placement.ts';
import { freePort, type Launch, type ServerProcess, startServer } from './processes.ts';

const PEERS = new URL('peers/', import.meta.url);
const SERVER = new URL('conventional/server.ts', PEERS).pathname;

/** As many as the service opens unless it is told otherwise. */
const CONNECTIONS = 10;

/** What to do before the peers can be measured, or undefined when they are installed. */
export function missingPeers(): string | undefined {
  if (existsSync(new URL('node_modules', PEERS))) return undefined;
  return 'The peers are not installed: run `npm ci --prefix bench/peers`.';
}

/** The conventional build of the same operations, over the service's own database and Redis. */
export async function startConventional(
  { databaseUrl, redisUrl }: { readonly databaseUrl: string; readonly redisUrl: string },
  { place, signal }: Launch & { place: Placement },
): Promise<ServerProcess> {
  const port = await freePort();
  const command = [execPath, SERVER, `${port}`, databaseUrl, redisUrl, `${CONNECTIONS}`];
  return startServer(place('server', command), {
    port,
    probe: { method: 'GET', path: '/v1/pets', headers: {} },
    signal,
  });
}
