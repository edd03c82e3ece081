import { systemClock } from '../../src/cli/context.ts';
import { readConfig } from '../../src/app/config.ts';
import { DEFAULT_SCOPES, type Scope } from '../../src/domain/scope.ts';
import type { Limits, Plan } from '../../src/domain/plan.ts';
import { requireValue } from '../../src/terminal/command.ts';
import { findOrCreateAccount } from '../../src/resources/keys/commands.ts';
import { openStore } from '../../src/app/store.ts';
import { fakeClock } from './clock.ts';
import type { Lifetime } from './lifetime.ts';
import { keepAliveClient, type Sent } from './load.ts';
import { migratedPostgres } from './migrated-postgres.ts';
import { temporaryPostgres } from './postgres.ts';
import { stopDatabaseClock } from './postgres-clock.ts';
import { type RunningService, startServiceProcess, type Variables } from './process.ts';
import { emptyRedis, temporaryRedis } from './redis.ts';
import { startTcpProxy } from './tcp-proxy.ts';
import { PLENTY, type StartService, startTestService, type TestService } from './service.ts';
import { issueKey as addRandomKey, ROOT } from './store.ts';

/** Variables for processes that share one new database and one new Redis, each on any free port. */
export async function sharedServers(t: Lifetime): Promise<Variables> {
  const redis = await temporaryRedis(t);
  return { DATABASE_URL: await temporaryPostgres(t), REDIS_URL: redis.url, PORT: '0' };
}

export interface IssuedKey {
  readonly id: number;
  readonly key: string;
}

/** What a key is made for: by default, for an enterprise with limits that no test reaches. */
interface KeySettings {
  readonly account?: string;
  readonly plan?: Plan;
  /** Of an enterprise. */
  readonly limits?: Limits;
  readonly scopes?: readonly Scope[];
}

/** A key, made as the command line makes it. Makes the database, too. */
export async function issueKey(variables: Variables, settings: KeySettings = {}): Promise<IssuedKey> {
  const config = readConfig(variables);
  const [clock, onLost] = [systemClock(), () => undefined];
  const store = await openStore({ ...config, clock, mustExist: false, onLost });
  const { account = 'chain', plan = 'enterprise', scopes = DEFAULT_SCOPES } = settings;
  const { limits = plan === 'enterprise' ? PLENTY : {} } = settings;
  try {
    const { accounts, keys } = store;
    const { id: accountId } = requireValue(await findOrCreateAccount(accounts, ROOT, account, plan, limits));
    const { environment } = config;
    const { key, record } = await addRandomKey(keys, { accountId, environment, scopes });
    return { id: record.id, key: key.reveal() };
  } finally {
    await store.close();
  }
}

export interface Instances {
  readonly variables: Variables;
  readonly key: string;
  readonly services: readonly RunningService[];
  /** One request to the instance of this number; numbers beyond the last begin again with the first. */
  readonly send: (
    instance: number,
    path: string,
    body?: string,
    headers?: Record<string, string>,
    method?: string,
  ) => Promise<Sent>;
}

/**
 * Starts `count` processes over the same servers, and a client that keeps up to `connections` connections to each.
 * Packets to and from the database take up to `slowNetwork` milliseconds.
 */
export async function startInstances(
  t: Lifetime,
  count: number,
  { connections = 50, slowNetwork = 0 }: { connections?: number; slowNetwork?: number } = {},
): Promise<Instances> {
  const variables = await sharedServers(t);
  const { key } = await issueKey(variables);
  const { DATABASE_URL = '' } = variables;
  const proxy = slowNetwork === 0 ? undefined : await startTcpProxy(t, DATABASE_URL);
  // On the loopback answers come too fast for requests to meet in between.
  proxy?.begin({ delay: () => Math.random() * slowNetwork });
  const serving = { ...variables, DATABASE_URL: proxy?.url ?? DATABASE_URL };
  const services = await Promise.all(Array.from({ length: count }, () => startServiceProcess(t, serving)));
  const clients = services.map(({ url }) => keepAliveClient(url, key, connections));
  t.after(() => {
    for (const client of clients) client.close();
  });
  return {
    variables,
    key,
    services,
    send: async (instance, ...request) => {
      const client = clients[instance % clients.length];
      if (client === undefined) throw new Error('There is no instance.');
      return client.send(...request);
    },
  };
}

/**
 * Starts `count` services in this process at once, over the same servers. Each has a clock of its own that stands at
 * now.
 */
export async function startTestInstances(t: Lifetime, count: number, env: Variables = {}) {
  const services: Promise<TestService>[] = [];
  // Before the servers that they use: what is registered first runs first.
  t.after(() => Promise.allSettled(services.map(async (service) => (await service).stop())));
  const variables = await sharedServers(t);
  for (let started = 0; started < count; started++)
    services.push(startTestService(t, { clock: fakeClock(Date.now()), env: { ...variables, ...env } }));
  return { variables, services: await Promise.all(services) };
}

/** A service in this process, over empty stores. */
export const startSharedService: StartService = async (t, options) => {
  let service: TestService | undefined;
  t.after(() => service?.stop());
  const variables = { DATABASE_URL: await migratedPostgres(t), REDIS_URL: await emptyRedis() };
  const { clock = fakeClock() } = options ?? {};
  const advanceDatabase = await stopDatabaseClock(variables.DATABASE_URL, clock().unix);
  service = await startTestService(t, { ...options, clock, env: { ...variables, ...options?.env } });
  const passTime = async (milliseconds: number) => {
    clock.advance(milliseconds);
    await advanceDatabase(milliseconds);
  };
  return Object.assign(service, { passTime });
};
