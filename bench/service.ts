import { execPath } from 'node:process';
import { ACCOUNT, issueKeys, type Keys } from './keys.ts';
import type { Placement } from './placement.ts';
import { freePort, type Launch, run, type ServerProcess, startServer } from './processes.ts';
import type { BenchRequest } from './request.ts';
import type { Scenario } from './scenarios.ts';

const PETSTORE = new URL('../bin/petstore.js', import.meta.url).pathname;

/** Its stores answer, and it takes requests. */
const READY: BenchRequest = { method: 'GET', path: '/readyz', headers: {} };

/** The service over stores of its own, before it starts. */
export interface PreparedService extends Keys {
  readonly env: NodeJS.ProcessEnv;
  readonly port: number;
  /** How many requests of the unlimited account were counted today: exact with Redis, else as of a second ago. */
  readonly counted: () => Promise<number>;
}

/** Puts so many animals and the keys into the stores that the variables in `stores` name. */
export async function prepareService(
  stores: NodeJS.ProcessEnv,
  animals: number,
  signal: AbortSignal,
): Promise<PreparedService> {
  const port = await freePort();
  // Nothing else of the environment: what is set for another service must not change this one.
  const env = { ...stores, PORT: `${port}` };
  const petstore = (...args: string[]) => run([execPath, PETSTORE, ...args], { signal, env });
  await petstore('seed', `${animals}`, '--random-seed', '1');
  const counted = async () => {
    const printed = await petstore('usage', '--account', ACCOUNT, '--json');
    const [usage] = JSON.parse(printed) as { day: Record<string, number> }[];
    const { limit = Number.NaN, remaining = Number.NaN } = usage?.day ?? {};
    return limit - remaining;
  };
  return { ...(await issueKeys(env)), env, port, counted };
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
