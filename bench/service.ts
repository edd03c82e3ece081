import { join } from 'node:path';
import { execPath } from 'node:process';
import type { Placement } from './placement.ts';
import { freePort, type Launch, run, type ServerProcess, startServer } from './processes.ts';

const PETSTORE = new URL('../bin/petstore.js', import.meta.url).pathname;

/** So much that nothing is ever refused. */
const LIMIT = '1000000000';

export interface MeasuredService {
  readonly server: ServerProcess;
  readonly key: string;
}

/** The real service as its own process, over a new database in `folder` with so many animals. */
export async function startMeasuredService(
  folder: string,
  animals: number,
  { place, signal }: Launch & { place: Placement },
): Promise<MeasuredService> {
  const port = await freePort();
  // Nothing else of the environment: what is set for another service must not change this one.
  const env = {
    DATABASE_URL: `sqlite:${join(folder, 'petstore.db')}`,
    PORT: `${port}`,
    LOG_LEVEL: 'warn',
  };
  const petstore = (...args: string[]) => run([execPath, PETSTORE, ...args], { signal, env });
  await petstore('seed', `${animals}`, '--random-seed', '1');
  const account = ['--account', 'bench', '--plan', 'enterprise'];
  const limits = ['--per-minute', LIMIT, '--per-day', LIMIT];
  const issued = await petstore('keys', 'create', ...account, ...limits, '--json');
  const { key } = JSON.parse(issued) as { key: string };
  const server = await startServer(place('server', [execPath, PETSTORE, 'serve']), {
    port,
    probe: { method: 'GET', path: '/healthz', headers: {} },
    signal,
    env,
  });
  return { server, key };
}
