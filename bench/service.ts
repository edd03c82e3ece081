import { execPath } from 'node:process';
import { ACCOUNT, issueKeys, type Keys } from './keys.ts';
import type { Placement } from './placement.ts';
import { freePort, type Launch, run, type ServerProcess, startServer } from './processes.ts';
import type { BenchRequest } from './request.ts';
import type { Scenario } from './scenarios.ts';
import type { Stores } from './stores.ts';

const PETSTORE = new URL('../bin/petstore.js', import.meta.url).pathname;

/** Its stores answer, and it takes requests. */
const READY: BenchRequest = { method: 'GET', path: '/readyz', headers: {} };

/** The service over stores of its own, before it starts. */
export interface PreparedService extends Keys {
  readonly stores: Stores;
  /** Their ids are 1 to this number. */
  readonly animals: number;
  /** For files that are needed meanwhile. */
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  readonly port: number;
  /** How many requests of the unlimited account were counted today: exact with Redis, else as of a second ago. */
  readonly counted: () => Promise<number>;
}

/** Puts so many animals and the keys into empty stores. */
export async function prepareService(
  stores: Stores,
  { animals, folder, signal }: Pick<PreparedService, 'animals' | 'folder'> & Launch,
): Promise<PreparedService> {
  const port = await freePort();
  const { databaseUrl, redisUrl } = stores;
  // Nothing else of the environment: what is set for another service must not change this one.
  const env = {
    DATABASE_URL: databaseUrl,
    ...(redisUrl !== undefined && { REDIS_URL: redisUrl }),
    PORT: `${port}`,
  };
  const petstore = (...args: string[]) => run([execPath, PETSTORE, ...args], { signal, env });
  await petstore('seed', `${animals}`, '--random-seed', '1');
  const counted = async () => {
    const printed = await petstore('usage', '--account', ACCOUNT, '--json');
    const [usage] = JSON.parse(printed) as { day: Record<string, number> }[];
    const { limit = Number.NaN, remaining = Number.NaN } = usage?.day ?? {};
    return limit - remaining;
  };
  const keys = await issueKeys(env, signal);
  await stores.settle(signal);
  return { ...keys, stores, animals, folder, env, port, counted };
}

/** The real service as its own process, ready to answer, configured for a scenario. */
export function startService(
  { env, port }: PreparedService,
  { place, signal }: Launch & { place: Placement },
  { logged = false, env: special }: Pick<Scenario, 'logged' | 'env'> = {},
): Promise<ServerProcess> {
  return startServer(place('server', [execPath, PETSTORE, 'serve']), {
    port,
    probe: READY,
    signal,
    env: { ...env, ...special, LOG_LEVEL: logged ? 'info' : 'warn' },
    countLines: logged,
  });
}
