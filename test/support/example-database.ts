import assert from 'node:assert/strict';
import { copyFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as letOthersRun } from 'node:timers/promises';
import { OPERATIONS } from '../../src/resources/operations.ts';
import { requireValue } from '../storage/fixture.ts';
import { call } from './api.ts';
import type { Lifetime } from './lifetime.ts';
import { startTestService, type ServiceOptions, type TestService } from './service.ts';
import { listExamples } from '../../src/domain/fields.ts';
import { NewPet } from '../../src/resources/pets/schema.ts';
import { ROOT } from './store.ts';
import { temporaryFolder } from './temporary.ts';

/** Of each kind, so that the one with the id of the examples is there. */
const COUNT = 42;

/** The bodies of things of which 42 cannot be like the examples, even with other names. */
const BODIES: Readonly<Record<string, (index: number) => object>> = {
  // Each second one is available, and those have every field, but for the one of the examples.
  createPet(index) {
    const [main, other, whole] = listExamples(NewPet);
    return Object.assign({}, index % 2 === 1 ? other : index === COUNT ? main : whole, {
      name: `Name ${index}`,
    });
  },
  // Of the animals behind the one of the examples, those that are available.
  createOrder: (index) => ({ petId: COUNT + 2 * index }),
  // Nothing is delivered to the second one, so the first has the attempt of the examples.
  createWebhook: (index) => ({ url: EXAMPLE_ENDPOINT, types: [index === 1 ? '*' : 'limit.*'] }),
};

/** An endpoint that answers nothing, because nothing listens there. */
export const EXAMPLE_ENDPOINT = 'https://127.0.0.1:1';

/** How many of other kinds there are. */
const COUNTS: Readonly<Record<string, number>> = { createPet: 3 * COUNT, createWebhook: 2 };

/** Keys that work. An account cannot have as many as the others. */
const LIVE_KEYS = 9;

/** What a service needs, so that its examples exist. */
export const EXAMPLE_ENV = { WEBHOOKS_ALLOW_PRIVATE: 'true' };

/** Makes everything that the examples of the operations name, with the first key of a service. Returns the key. */
export async function addExamples(service: TestService): Promise<string> {
  const { keys, webhooks } = service.store;
  const key = await service.issueKey();
  for (const { id, path, body } of OPERATIONS) {
    if (body === undefined || path.includes('{')) continue;
    if (id === 'createKey') {
      for (let index = 1; index <= COUNT; index++) await service.issueKey();
      for (const { id: made } of (await keys.listAll()).slice(LIVE_KEYS + 1)) await keys.revoke(ROOT, made);
      continue;
    }
    const examples = Object.values(body.examples).map(({ value }) => value);
    const count = COUNTS[id] ?? COUNT;
    for (let index = 1; index <= count; index++) {
      const example = examples[index % examples.length];
      // Most things have names that nothing else of their kind has.
      const value = BODIES[id]?.(index) ?? Object.assign({}, example, { name: `Name ${index}` });
      const { status, text } = await call(service.url, `/v1${path}`, { key, body: JSON.stringify(value) });
      assert.equal(status, 201, text);
    }
  }
  // Events, and attempts to deliver them. Copies have other files, so their endpoints are disabled.
  for (const name of ['Told', 'Told again'])
    await call(service.url, '/v1/categories', { key, body: JSON.stringify({ name }) });
  const deliveries = async () =>
    requireValue(await webhooks.listDeliveries(1, undefined, { limit: 2 })).items;
  while ((await deliveries()).length < 2) await letOthersRun();
  return key;
}

/** A key, and services on databases of their own in which everything exists that the examples of the operations name. */
export async function exampleDatabase(lifetime: Lifetime) {
  const folder = temporaryFolder(lifetime);
  const file = join(folder, 'examples.db');
  const service = await startTestService(lifetime, { env: EXAMPLE_ENV, databaseUrl: `sqlite:${file}` });
  const key = await addExamples(service);
  await service.stop();
  assert.ok(!existsSync(`${file}-wal`), 'the file is the whole database');
  let copies = 0;
  return {
    key,
    start: async (t: Lifetime, options: ServiceOptions = {}): Promise<TestService> => {
      const copy = join(folder, `${copies++}.db`);
      copyFileSync(file, copy);
      const started = await startTestService(t, {
        ...options,
        env: { ...EXAMPLE_ENV, ...options.env },
        databaseUrl: `sqlite:${copy}`,
      });
      // Failed requests are in no database.
      for (const id of ['failed-1', 'failed-2'])
        await call(started.url, '/v1/nothing', { key, headers: { 'x-request-id': id } });
      return started;
    },
  };
}
