import assert from 'node:assert/strict';
import type { Lifetime } from './lifetime.ts';
import { keepAliveClient } from './load.ts';
import type { SendTo } from './order-recorder.ts';
import { startServiceProcess, type Variables } from './process.ts';

/** Connections of a key to an instance. */
const CONNECTIONS = 50;

/** Several instances over one database. */
export interface KilledInstances {
  /** Requests with a key, to the instance of a number. */
  readonly connect: (key: string) => SendTo;
  /** Kills the instance of a number, and starts another one in its place. */
  readonly kill: (number: number) => Promise<void>;
}

/** Starts `count` processes that are to be killed. */
export async function startKilledInstances(
  t: Lifetime,
  count: number,
  variables: Variables,
): Promise<KilledInstances> {
  const start = async () => {
    const { url, child } = await startServiceProcess(t, variables);
    const clients = new Map<string, ReturnType<typeof keepAliveClient>>();
    t.after(() => clients.forEach((client) => client.close()));
    return { url, child, clients };
  };
  const instances = await Promise.all(Array.from({ length: count }, start));
  const starting = instances.map((instance) => Promise.resolve(instance));
  const find = (number: number) => starting[number % count] ?? assert.fail('There is no instance.');
  return {
    connect:
      (key) =>
      async (number, ...request) => {
        const { url, clients } = await find(number);
        return clients
          .getOrInsertComputed(key, () => keepAliveClient(url, key, CONNECTIONS))
          .send(...request);
      },
    async kill(number) {
      const { child } = await find(number);
      child.kill('SIGKILL');
      await (starting[number % count] = start());
    },
  };
}
