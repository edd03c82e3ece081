// Contract: sections 3.12 and 6.
import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { TestContext } from 'node:test';
import pino from 'pino';
import { startBackground } from '../../src/app/background.ts';
import { MINUTE } from '../../src/domain/clock.ts';
import type { OpenService } from '../../src/resources/feature.ts';
import { open as openUsage } from '../../src/resources/usage/service.ts';
import { fakeClock } from '../support/clock.ts';
import { test } from '../support/test.ts';

/** The background of these services, whose timers stand still. `names` has what was called, in order. */
function start(t: TestContext, services: readonly OpenService[], names: string[]) {
  t.mock.timers.enable({ apis: ['setInterval', 'setTimeout'] });
  const clock = fakeClock();
  const call = (name: string) => async () => void names.push(name);
  const background = startBackground({
    store: { dropExpired: call('dropExpired'), usageHistory: { touch: call('touch') } } as never,
    limiter: { flush: call('limits'), flushAll: call('all limits') } as never,
    services,
    preparePages: async () => undefined,
    clock,
    state: { isOpen: true, isDraining: false, isWritable: true },
    log: pino({ level: 'silent' }),
  });
  return { background, clock };
}

const FAIL = new Error('This part fails.');

test('a part that fails keeps no other from what is due every second and every minute', async (t) => {
  const names: string[] = [];
  const failing = {
    flush: () => Promise.reject(FAIL),
    prune: () => Promise.reject(FAIL),
  };
  const other = {
    flush: async () => void names.push('flush'),
    prune: async () => void names.push('prune'),
  };
  const { clock } = start(t, [failing, other], names);
  clock.advance(MINUTE);
  t.mock.timers.tick(5_000);
  await nextTurn();
  assert.ok(names.includes('flush') && names.includes('dropExpired') && names.includes('prune'));
});

test('a flush that does not end keeps no other feature from its last write', async (t) => {
  const names: string[] = [];
  const { promise: hangs, resolve: end } = Promise.withResolvers<void>();
  const services = [
    { flush: () => hangs, finish: async () => void names.push('keys') },
    { finish: async () => void names.push('usage') },
  ];
  const { background } = start(t, services, names);
  t.mock.timers.tick(1_000);
  await nextTurn();
  background.leave();
  const stopped = background.stop();
  await nextTurn();
  assert.ok(names.includes('usage') && !names.includes('keys'));
  end();
  t.mock.timers.tick(1_000);
  await stopped;
  assert.ok(names.includes('keys') && names.includes('all limits'));
});

test('a stop without time left begins no further batch of usage, and says how many counts are lost', async (t) => {
  const { promise: hangs, resolve: end } = Promise.withResolvers<void>();
  const batches: object[] = [];
  const add = (batch: object) => (batches.push(batch) === 2 ? hangs : Promise.resolve());
  const usage = openUsage({ usageHistory: { add } as never, operationIds: [] });
  for (let keyId = 1; keyId <= 2_500; keyId++) usage.uses.usage.record(keyId, -1, 200, 0);
  const { background } = start(t, [usage], []);
  background.leave();
  const stopped = background.stop();
  while (batches.length < 2) await nextTurn();
  background.abandon();
  t.mock.timers.tick(300);
  const lost = {
    message: 'Counts are lost: a stop had no time to write 1500 requests of the usage history.',
  };
  await assert.rejects(stopped, lost);
  assert.deepEqual(background.unwritten(), { requests: 1_500, keys: 1_500 });
  end();
  await nextTurn();
  assert.equal(batches.length, 2);
});
