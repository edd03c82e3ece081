// Contract: sections 3.12 and 6.
import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { TestContext } from 'node:test';
import pino from 'pino';
import { startBackground } from '../../src/app/background.ts';
import { MINUTE, SECOND } from '../../src/domain/clock.ts';
import type { Task } from '../../src/resources/feature.ts';
import { open as openUsage } from '../../src/resources/usage/service.ts';
import { fakeClock } from '../support/clock.ts';
import { test } from '../support/test.ts';

/** The background of these tasks, whose timers stand still. `names` has what was called, in order. */
function start(t: TestContext, tasks: readonly Task[], names: string[]) {
  t.mock.timers.enable({ apis: ['setInterval', 'setTimeout'] });
  const clock = fakeClock();
  const call = (name: string) => async () => void names.push(name);
  const stopping = new AbortController();
  const background = startBackground({
    store: { dropExpired: call('dropExpired'), usageHistory: { touch: call('touch') } } as never,
    limiter: { flush: call('limits'), flushAll: call('all limits') } as never,
    services: [{ tasks }],
    preparePages: async () => undefined,
    stopping: stopping.signal,
    clock,
    state: { isOpen: true, isDraining: false, isWritable: true },
    log: pino({ level: 'silent' }),
  });
  const stop = () => {
    stopping.abort();
    return background.stop();
  };
  return { background, clock, stopping, stop };
}

test('a task that fails or hangs keeps no other from its rounds', async (t) => {
  const names: string[] = [];
  const tasks = [
    { name: 'failing', interval: SECOND, run: () => Promise.reject(new Error('This task fails.')) },
    { name: 'hanging', interval: SECOND, run: () => new Promise<void>(() => undefined) },
    { name: 'other', interval: SECOND, run: async () => void names.push('other') },
  ];
  start(t, tasks, names);
  t.mock.timers.tick(SECOND);
  await nextTurn();
  assert.deepEqual(names.toSorted(), ['dropExpired', 'limits', 'other']);
});

test('a round that is due once a minute begins when the clock has passed a minute', async (t) => {
  const names: string[] = [];
  const { clock } = start(
    t,
    [{ name: 'old', interval: MINUTE, run: async () => void names.push('old') }],
    names,
  );
  const rounds = () => names.filter((name) => name === 'old').length;
  for (const [passed, expected] of [
    [MINUTE - 1, 0],
    [1, 1],
    [MINUTE - 1, 1],
    [1, 2],
  ] as const) {
    clock.advance(passed);
    t.mock.timers.tick(5_000);
    await nextTurn();
    assert.equal(rounds(), expected);
  }
});

test('a round that does not end keeps no other task from its last write', async (t) => {
  const names: string[] = [];
  const { promise: hangs, resolve: end } = Promise.withResolvers<void>();
  const finish = (name: string) => ({ finish: async () => void names.push(name) });
  const { stop } = start(
    t,
    [
      { name: 'keys', interval: SECOND, run: () => hangs, atStop: finish('keys') },
      { name: 'usage', interval: SECOND, run: async () => undefined, atStop: finish('usage') },
    ],
    names,
  );
  t.mock.timers.tick(SECOND);
  await nextTurn();
  const stopped = stop();
  await nextTurn();
  assert.ok(names.includes('usage') && names.includes('all limits') && !names.includes('keys'));
  end();
  t.mock.timers.tick(SECOND);
  await stopped;
  assert.ok(names.includes('keys'));
});

test('while requests are finished, what is in memory is written on, and other work is handed over', async (t) => {
  const names: string[] = [];
  const task = (name: string) => ({ name, interval: SECOND, run: async () => void names.push(name) });
  const call = (name: string) => async () => void names.push(name);
  const { background, stopping } = start(
    t,
    [
      { ...task('usage'), atStop: { finish: call('last usage') } },
      { ...task('delivery'), atStop: { handOver: call('hand over') } },
      task('expiry'),
    ],
    names,
  );
  stopping.abort();
  await nextTurn();
  t.mock.timers.tick(SECOND);
  await nextTurn();
  assert.deepEqual(names, ['hand over', 'limits', 'usage']);
  await background.stop();
  assert.deepEqual(names.slice(3).toSorted(), ['all limits', 'last usage']);
});

test('a stop without time left begins no further batch of usage, and says how many counts are lost', async (t) => {
  const { promise: hangs, resolve: end } = Promise.withResolvers<void>();
  const batches: object[] = [];
  const add = (batch: object) => (batches.push(batch) === 2 ? hangs : Promise.resolve());
  const usage = openUsage({ usageHistory: { add } as never, operationIds: [] });
  for (let keyId = 1; keyId <= 2_500; keyId++) usage.uses.usage.record(keyId, -1, 200, 0);
  const { background, stop } = start(t, usage.tasks, []);
  const stopped = stop();
  while (batches.length < 2) await nextTurn();
  background.abandon();
  t.mock.timers.tick(300);
  const lost = {
    message: 'Counts are lost: a stop had no time to write 1500 requests of the usage history.',
  };
  await assert.rejects(stopped, lost);
  assert.deepEqual(background.unwritten(), ['1500 requests of the usage history']);
  end();
  await nextTurn();
  assert.equal(batches.length, 2);
});
