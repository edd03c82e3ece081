import type { TestContext } from 'node:test';
import { fakeClock } from './clock.ts';
import { keepAliveClient, type Sent } from './load.ts';
import { temporaryPostgres } from './postgres.ts';
import { stopDatabaseClock } from './postgres-clock.ts';
import { runJson, type RunningService, startServiceProcess, type Variables } from './process.ts';
import { temporaryRedis } from './redis.ts';
import { overSlowNetwork } from './slow-network.ts';
import { PLENTY, type StartService, startTestService, type TestService } from './service.ts';

/** Variables for processes that share one new database and one new Redis, each on any free port. */
export async function sharedServers(t: TestContext): Promise<Variables> {
  const redis = await temporaryRedis(t);
  return { DATABASE_URL: await temporaryPostgres(t), REDIS_URL: redis.url, PORT: '0' };
}

export interface IssuedKey {
  readonly id: number;
  readonly key: string;
}

/** A key that the command line issues, of an account with limits that no test reaches. Makes the database, too. */
export async function issueKey(variables: Variables, account = 'chain'): Promise<IssuedKey> {
  await runJson(['migrate'], variables);
  const limits = ['--per-minute', `${PLENTY.perMinute}`, '--per-day', `${PLENTY.perDay}`];
  return runJson(['keys', 'create', '--account', account, '--plan', 'enterprise', ...limits], variables);
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
 * So many processes over the same servers, and a client that keeps up to `connections` to each of them; packets to and
 * from the database are under way for up to `slowNetwork` milliseconds.
 */
export async function startInstances(
  t: TestContext,
  count: number,
  { connections = 50, slowNetwork = 0 }: { connections?: number; slowNetwork?: number } = {},
): Promise<Instances> {
  const variables = await sharedServers(t);
  const { key } = await issueKey(variables);
  const { DATABASE_URL = '' } = variables;
  const serving =
    slowNetwork === 0
      ? variables
      : { ...variables, DATABASE_URL: await overSlowNetwork(t, DATABASE_URL, slowNetwork) };
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

/** So many in this process over the same servers, started at once, each on a clock of its own that stands at now. */
export async function startTestInstances(t: TestContext, count: number, env: Variables = {}) {
  const services: Promise<TestService>[] = [];
  // Before the servers that they use: what is registered first runs first.
  t.after(() => Promise.allSettled(services.map(async (service) => (await service).stop())));
  const variables = await sharedServers(t);
  for (let started = 0; started < count; started++)
    services.push(startTestService(t, { clock: fakeClock(Date.now()), env: { ...variables, ...env } }));
  return { variables, services: await Promise.all(services) };
}

/** One in this process over servers of its own, for the tests that hold over any stores. */
export const startSharedService: StartService = async (t, options) => {
  let service: TestService | undefined;
  t.after(() => service?.stop());
  const variables = await sharedServers(t);
  const { clock = fakeClock() } = options ?? {};
  const advanceDatabase = await stopDatabaseClock(variables['DATABASE_URL'] ?? '', clock().unix);
  service = await startTestService(t, { ...options, clock, env: { ...variables, ...options?.env } });
  const passTime = async (milliseconds: number) => {
    clock.advance(milliseconds);
    await advanceDatabase(milliseconds);
  };
  return Object.assign(service, { passTime });
};
