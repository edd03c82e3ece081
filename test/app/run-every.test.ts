// Contract: section 4.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import { runEvery } from '../../src/app/run-every.ts';
import { fakeClock } from '../support/clock.ts';

test('a write that hangs counts as failed until it is over', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const lines: string[] = [];
  const log = pino({}, { write: (line) => void lines.push((JSON.parse(line) as { msg: string }).msg) });
  const states: boolean[] = [];
  const hanging = Promise.withResolvers<void>();
  let writes = 0;
  const runner = runEvery('a write', () => (++writes === 1 ? hanging.promise : Promise.resolve()), {
    interval: 4_000,
    mayRun: () => true,
    clock: fakeClock(),
    log,
    onChange: (isFailing) => states.push(isFailing),
  });
  t.mock.timers.tick(4_000);
  assert.deepEqual([writes, states], [1, []]);
  t.mock.timers.tick(8_000);
  assert.equal(writes, 1, 'never twice at a time');
  hanging.resolve();
  await runner.idle();
  assert.deepEqual(states, [true, true, false]);
  assert.deepEqual(lines, ['a write failed; the service tries again', 'a write succeeds again']);
  await runner.stop();
});
