import { DAY, HOUR } from '../../src/domain/clock.ts';
import { SCOPES } from '../../src/domain/scope.ts';
import type { Operation } from '../../src/http/operation.ts';
import { OPERATIONS, OPERATOR_OPERATIONS } from '../../src/resources/operations.ts';
import { fakeClock } from './clock.ts';
import { consoleOf, type TestConsole } from './console.ts';
import type { Attempt } from './ends.ts';
import { addExamples, EXAMPLE_ENV } from './example-database.ts';
import type { Lifetime } from './lifetime.ts';
import { keepAliveClient, type Sent } from './load.ts';
import { migratedPostgres } from './migrated-postgres.ts';
import { type AdvanceDatabase, stopDatabaseClock } from './postgres-clock.ts';
import { startTestService, temporaryDatabase } from './service.ts';

export type DatabaseName = 'SQLite' | 'PostgreSQL';

/** One of the two APIs of a service. */
export interface Api {
  readonly name: 'public' | 'admin';
  readonly database: DatabaseName;
  readonly operations: readonly Operation[];
  /** Sends a request with the key or the token. The clock moves when a window is used up. */
  readonly send: (attempt: Attempt) => Promise<Sent>;
  readonly hasRateHeaders: boolean;
  /** Where its listener is, and what a request sends as `Authorization: Bearer`. */
  readonly base: string;
  readonly prefix: string;
  readonly secret: string;
}

export interface BothApis {
  readonly service: TestConsole;
  readonly databaseUrl: string;
  readonly public: Api;
  readonly admin: Api;
  /** Time passes for the service and for its database. */
  pass(milliseconds: number): Promise<void>;
}

/** Both APIs of a service whose database has everything that examples name. `prepare` gets the database before the service. */
export async function startBothApis(
  lifetime: Lifetime,
  database: DatabaseName,
  prepare: (databaseUrl: string) => Promise<void> = async () => {},
): Promise<BothApis> {
  const clock = fakeClock();
  let advance: AdvanceDatabase = async () => undefined;
  let stop = async () => {};
  // Before the database goes: what is registered first runs first.
  lifetime.after(() => stop());
  const databaseUrl = database === 'SQLite' ? temporaryDatabase(lifetime) : await migratedPostgres(lifetime);
  if (database === 'PostgreSQL') advance = await stopDatabaseClock(databaseUrl, clock().unix);
  await prepare(databaseUrl);
  const env = { ...EXAMPLE_ENV, CONSOLE_PORT: '0' };
  const service = consoleOf(await startTestService(lifetime, { databaseUrl, clock, env }));
  stop = () => service.stop();
  await addExamples(service);
  const { store, url, listener } = service;
  const hour = Math.floor(clock().unix / HOUR);
  const counts = Array.from({ length: 20 }, (_, index) => ({
    hour: hour - 24 * index,
    keyId: 1 + (index % 5),
    operation: index % 2 === 0 ? 'getPet' : 'listPets',
    counts: [1, 2, 3, 4] as const,
  }));
  await store.usageHistory.add({ writer: 'one', sequence: 1, counts });
  const ban = { until: Math.floor(clock().unix) + DAY, count: 1 };
  await store.limits.writeBanRecords(new Map([11, 12, 13].map((id) => [id, { refusals: [], ban }])));
  // Neither the key nor the operator has a number that is an end, because attempts delete those.
  const key = await service.issueKey({ scopes: SCOPES });
  await service.makeToken('first');
  const token = await service.makeToken('ada');
  const pass = async (milliseconds: number) => {
    clock.advance(milliseconds);
    await advance(milliseconds);
  };
  const open = (name: Api['name'], base: string, prefix: string, secret: string): Api => {
    const client = keepAliveClient(base, secret, 1);
    lifetime.after(() => client.close());
    return {
      name,
      database,
      operations: name === 'public' ? OPERATIONS : OPERATOR_OPERATIONS,
      hasRateHeaders: name === 'public',
      base,
      prefix,
      secret,
      async send({ method, path, headers, body }) {
        const sent = await client.send(prefix + path, body, { ...headers }, method);
        if (sent.headers['x-ratelimit-remaining'] === '0')
          await pass(Number(sent.headers['x-ratelimit-reset']) * 1_000 - clock().unix);
        return sent;
      },
    };
  };
  return {
    service,
    databaseUrl,
    public: open('public', url, '/v1', key),
    admin: open('admin', listener, '/admin/v1', token),
    pass,
  };
}
