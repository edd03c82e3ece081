import { execPath } from 'node:process';
import type { Placement } from './placement.ts';
import { freePort, type Launch, run, type ServerProcess, startServer } from './processes.ts';
import type { BenchRequest } from './request.ts';

const PETSTORE = new URL('../bin/petstore.js', import.meta.url).pathname;

/** So much that nothing is ever refused. */
const LIMIT = '1000000000';

/** Its stores answer, and it takes requests. */
const READY: BenchRequest = { method: 'GET', path: '/readyz', headers: {} };

/** The service over stores of its own, before it starts. */
export interface PreparedService {
  readonly env: NodeJS.ProcessEnv;
  readonly port: number;
  /** Of an account whose limits are never reached. */
  readonly key: string;
  /** How many requests of that account were counted today: exact with Redis, else as of a second ago. */
  readonly counted: () => Promise<number>;
}

/** Puts so many animals and a key into the stores that the variables in `stores` name. */
export async function prepareService(
  stores: NodeJS.ProcessEnv,
  animals: number,
  signal: AbortSignal,
): Promise<PreparedService> {
  const port = await freePort();
  // Nothing else of the environment: what is set for another service must not change this one.
  const env = { ...stores, PORT: `${port}`, LOG_LEVEL: 'warn' };
  const petstore = (...args: string[]) => run([execPath, PETSTORE, ...args], { signal, env });
  await petstore('seed', `${animals}`, '--random-seed', '1');
  const account = ['--account', 'bench', '--plan', 'enterprise'];
  const limits = ['--per-minute', LIMIT, '--per-day', LIMIT];
  const issued = await petstore('keys', 'create', ...account, ...limits, '--json');
  const { key } = JSON.parse(issued) as { key: string };
  const counted = async () => {
    const [usage] = JSON.parse(await petstore('usage', '--json')) as { day: Record<string, number> }[];
    const { limit = Number.NaN, remaining = Number.NaN } = usage?.day ?? {};
    return limit - remaining;
  };
  return { env, port, key, counted };
}

/** The real service as its own process, ready to answer. */
export function startService(
  { env, port }: PreparedService,
  { place, signal }: Launch & { place: Placement },
): Promise<ServerProcess> {
  return startServer(place('server', [execPath, PETSTORE, 'serve']), { port, probe: READY, signal, env });
}
