import { execPath } from 'node:process';
import { PROGRAM } from '../test/support/process.ts';
import { freePort } from '../test/support/servers.ts';
import { ACCOUNT, issueKeys, type Keys } from './keys.ts';
import { run, type RunContext, type ServerProcess, startServer } from './processes.ts';
import type { BenchRequest } from './request.ts';
import type { Stores } from './stores.ts';

const READY: BenchRequest = { method: 'GET', path: '/readyz', headers: {} };

/** A service that has its animals and keys, and can be started. */
export interface PreparedService extends Keys {
  readonly stores: Stores;
  /** Their ids are 1 to this number. */
  readonly animals: number;
  /** For temporary files. */
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  readonly port: number;
  /** Requests of the unlimited account that Redis counted today. */
  readonly counted: (() => Promise<number>) | undefined;
}

export interface ServiceSettings {
  /** Variables that differ from the defaults. */
  readonly env?: Readonly<Record<string, string>>;
  /** Logs each request (`LOG_LEVEL=info`) to a pipe whose lines are counted. */
  readonly logged?: boolean;
}

/** Fills empty stores with animals and keys. */
export async function prepareService(
  stores: Stores,
  { animals, folder }: Pick<PreparedService, 'animals' | 'folder'>,
  signal: AbortSignal,
): Promise<PreparedService> {
  const port = await freePort();
  // Nothing else of this process's environment: it could configure another service.
  const env = {
    DATABASE_URL: stores.databaseUrl,
    ...(stores.redisUrl !== undefined && { REDIS_URL: stores.redisUrl }),
    PORT: `${port}`,
  };
  const petstore = (...args: string[]) => run([execPath, PROGRAM, ...args], { signal, env });
  await petstore('seed', `${animals}`, '--random-seed', '1');
  const counted = async () => {
    const printed = await petstore('usage', '--account', ACCOUNT, '--json');
    const [usage] = JSON.parse(printed) as { day: { limit: number; remaining: number } }[];
    return usage === undefined ? Number.NaN : usage.day.limit - usage.day.remaining;
  };
  const keys = await issueKeys(env, signal);
  // PostgreSQL would do this later, during a measurement.
  if (stores.redisUrl !== undefined) await stores.execute('VACUUM ANALYZE');
  const prepared = { ...keys, stores, animals, folder, env, port };
  return { ...prepared, counted: stores.redisUrl === undefined ? undefined : counted };
}

/** Starts the service as it runs in production, and waits until it is ready. */
export function startService(
  { env, port }: PreparedService,
  context: RunContext,
  { logged = false, env: special }: ServiceSettings = {},
): Promise<ServerProcess> {
  const level = { LOG_LEVEL: logged ? 'info' : 'warn' };
  const options = { port, probe: READY, env: { ...env, ...special, ...level }, countLines: logged };
  return startServer([execPath, PROGRAM, 'serve'], options, context);
}
