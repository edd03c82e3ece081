// Contract: sections 2 and 3.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { TestContext } from 'node:test';
import { issueKey, sharedServers } from '../support/instances.ts';
import { keepAliveClient } from '../support/load.ts';
import { faultsOf } from '../support/order-checker.ts';
import { MAX_OPEN_ORDERS } from '../support/order-histories.ts';
import { Recorder } from '../support/order-recorder.ts';
import { startServiceProcess, temporaryEnvironment, type Variables } from '../support/process.ts';
import { rounds } from '../support/rounds.ts';
import { test } from '../support/test.ts';

/** For each of four databases. */
const KILLS = rounds(25, 3);
const CLIENTS = 6;

/** Kills KILLS services one after the other over the same database, while clients adopt animals. */
async function adoptUnderKills(t: TestContext, servers: Variables): Promise<void> {
  const variables = { ...servers, MAX_OPEN_ORDERS };
  const { key } = await issueKey(variables);
  let service = await startServiceProcess(t, variables);
  let client = keepAliveClient(service.url, key, CLIENTS);
  let killAt = 0;
  const recorder = new Recorder({
    send: (_instance, ...request) => client.send(...request),
    expireAt: () => Promise.reject(new Error('Nothing expires here.')),
    onEnd: (count) => void (count === killAt && service.child.kill('SIGKILL')),
  });
  const isAlive = () => !service.child.killed;
  const adopt = async (categoryId: number, start: number) => {
    for (let n = start; isAlive(); n++) {
      const pet = await recorder.create(0, { name: crypto.randomUUID(), categoryId, status: 'available' });
      const order = pet && (await recorder.order(0, pet.id));
      if (order === undefined) continue;
      await recorder.patch(0, order.petId, { name: crypto.randomUUID() });
      if (n % 2 === 0) await recorder.complete(0, order.id);
      else await recorder.cancel(0, order.id);
      if (n % 3 === 0) await recorder.patch(0, order.petId, { status: 'available' });
      await recorder.order(0, order.petId);
    }
  };

  for (let kill = 0; kill < KILLS; kill++) {
    // Killed after a number of answers, not of milliseconds, so that every round has some.
    killAt = recorder.history.length + 10 + kill;
    await Promise.all([
      once(service.child, 'exit'),
      ...Array.from({ length: CLIENTS }, (_, number) => adopt(number, kill + number)),
    ]);
    client.close();
    service = await startServiceProcess(t, variables);
    client = keepAliveClient(service.url, key, CLIENTS);
  }
  await recorder.listAll(0, 'list');
  await recorder.listAll(0, 'list orders');
  client.close();
  assert.deepEqual(faultsOf(recorder.history), []);
  const unanswered = recorder.history.filter(({ ended }) => ended === Number.POSITIVE_INFINITY);
  assert.ok(unanswered.length >= KILLS, 'too few requests went unanswered');
}

test('kills lose no answered change, and leave every animal as its order says', async (t) => {
  const postgres = await sharedServers(t);
  const files = [temporaryEnvironment(t), temporaryEnvironment(t), temporaryEnvironment(t)];
  await Promise.all([postgres, ...files].map((variables) => adoptUnderKills(t, variables)));
});
