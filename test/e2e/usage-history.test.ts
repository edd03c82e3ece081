// Contract: section 6.9.
import assert from 'node:assert/strict';
import { suite, type TestContext } from 'node:test';
import { randomNumbers } from '../../src/cli/invented-pets.ts';
import { storeOf } from '../support/databases.ts';
import { sharedServers } from '../support/instances.ts';
import {
  type RunningService,
  startServiceProcess,
  temporaryEnvironment,
  type Variables,
} from '../support/process.ts';
import { rounds } from '../support/rounds.ts';
import { until } from '../support/until.ts';
import { test } from '../support/test.ts';
import {
  emptyTally,
  issueKeys,
  readTally,
  requestsIn,
  sendRandom,
  showTally,
} from '../support/usage-load.ts';

/** Requests of each test. */
const REQUESTS = rounds(12_000);

const RESTARTS = rounds(2);

const SEED = Number(process.env['SEED'] ?? 7);

const STORES: readonly (readonly [string, number, (t: TestContext) => Variables | Promise<Variables>])[] = [
  ['1 instance over SQLite', 1, temporaryEnvironment],
  ['3 instances over PostgreSQL and Redis', 3, sharedServers],
];

async function stop(service: RunningService | undefined): Promise<void> {
  service?.child.kill('SIGTERM');
  assert.equal((await service?.ended)?.code, 0);
}

// At once, because each waits for the services to write.
void suite('the usage history', { concurrency: true }, () => {
  for (const [name, instances, prepare] of STORES)
    test(`usage of ${name} adds up over restarts, and a crash loses only the last seconds`, {
      timeout: 120_000 + 20 * REQUESTS,
    }, async (t) => {
      const variables = await prepare(t);
      const keys = await issueKeys(variables);
      const random = randomNumbers(SEED);
      const serve = () => startServiceProcess(t, { ...variables, BAN_AFTER: '10000', LOG_LEVEL: 'info' });
      const serveAll = () => Promise.all(Array.from({ length: instances }, serve));
      const sent = emptyTally();
      const send = (to: readonly RunningService[], count: number) =>
        sendRandom(to, keys, { count, random, tally: sent });

      let services = await serveAll();
      for (let restarts = 0; restarts < RESTARTS; restarts++) {
        await send(services, REQUESTS / (RESTARTS + 1));
        await stop(services.shift());
        services.push(await serve());
      }
      await send(services, REQUESTS / (RESTARTS + 1));
      await Promise.all(services.map(stop));
      assert.deepEqual(await showTally(variables), sent);

      services = await serveAll();
      await send(services, 100);
      // The services write them by themselves within ten seconds.
      const store = await storeOf(t, variables);
      await until(async () => requestsIn((await readTally(store)).key) >= requestsIn(sent.key));
      assert.deepEqual(await readTally(store), sent);
      await send(services, 100);
      for (const { child } of services) child.kill('SIGKILL');
      await Promise.all(services.map(({ ended }) => ended));
      const last = await serve();
      await send([last], 100);
      await stop(last);
      const left = await readTally(store);
      const lost = requestsIn(sent.key) - requestsIn(left.key);
      assert.ok(lost >= 0 && lost <= 100, `${lost} of 100 requests are lost`);
      assert.equal(requestsIn(left.operation), requestsIn(left.key));
      for (const [key, counts] of Object.entries(left.key))
        for (const [outcome, count] of Object.entries(counts))
          assert.ok(count <= Number(sent.key[key]?.[outcome as keyof typeof counts]), `${key} ${outcome}`);
    });
});
