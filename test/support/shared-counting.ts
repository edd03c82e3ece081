import assert from 'node:assert/strict';
import type { Limits } from '../../src/domain/plan.ts';
import { assertRateHeaders } from './api.ts';
import type { Lifetime } from './lifetime.ts';
import { keepAliveClient, type Sent } from './load.ts';
import { startTestService, temporaryDatabase, type TestService } from './service.ts';
import { until } from './until.ts';

export const LOST = 'the shared counter does not answer; this instance counts by itself';
export const BACK = 'the shared counter answers again';

const SHARING = 'instances share the counter';

export const logged = ({ log }: TestService, message: string): number =>
  log.filter(({ msg }) => msg === message).length;

/** What was answered, and that each answer was as it must be whatever happens to Redis. */
export class Tally {
  admitted = 0;
  refused = 0;

  note({ status, headers }: Sent): void {
    assert.ok(status === 200 || status === 429, `answered ${status}`);
    assertRateHeaders({ headers: { get: (name) => headers[name] ?? null } });
    if (status === 200) this.admitted++;
    else this.refused++;
  }
}

interface SharedCounting {
  readonly services: readonly TestService[];
  readonly key: string;
  /** One request to the service of this number, with the key. */
  send(service: number): Promise<Sent>;
  /** Sends to all services, on `width` connections each, until it is stopped. */
  flood(width: number, tally: Tally): { stop(): Promise<void> };
  /** Until every service has written `times` such lines. */
  allLogged(message: string, times: number): Promise<void>;
}

/**
 * Starts `count` services over one database, which use the `redisUrls` in turn and have heard of each other, and makes
 * a key of one account.
 */
export async function startSharedCounting(
  t: Lifetime,
  count: number,
  redisUrls: readonly string[],
  { limits, env = {} }: { limits: Limits; env?: Record<string, string> },
): Promise<SharedCounting> {
  const databaseUrl = temporaryDatabase(t);
  const services: TestService[] = [];
  for (let number = 0; number < count; number++) {
    const REDIS_URL = redisUrls[number % redisUrls.length] ?? '';
    const BAN_AFTER = '10000';
    services.push(await startTestService(t, { databaseUrl, env: { REDIS_URL, BAN_AFTER, ...env } }));
  }
  await until(() =>
    services.every(({ log }) => (log.findLast(({ msg }) => msg === SHARING)?.['instances'] ?? 1) === count),
  );
  const key = await services[0]?.issueKey({ limits });
  assert.ok(key !== undefined);
  const clients = services.map(({ url }) => keepAliveClient(url, key, 50));
  t.after(() => {
    for (const client of clients) client.close();
  });
  const send = (service: number) => {
    const client = clients[service];
    assert.ok(client !== undefined);
    return client.send('/v1/pets');
  };
  return {
    services,
    key,
    send,
    flood(width, tally) {
      const stop = new AbortController();
      const worker = async (service: number) => {
        while (!stop.signal.aborted) tally.note(await send(service));
      };
      const workers = Array.from({ length: width * count }, (_, number) => worker(number % count));
      const done = Promise.all(workers);
      // Heard of when it is stopped.
      done.catch(() => undefined);
      return {
        async stop() {
          stop.abort();
          await done;
        },
      };
    },
    async allLogged(message, times) {
      await until(() => services.every((service) => logged(service, message) >= times));
    },
  };
}
