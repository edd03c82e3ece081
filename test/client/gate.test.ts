import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TimeoutError } from '../../client/src/index.ts';
import { Gate } from '../../client/src/gate.ts';
import { SURROUNDINGS } from '../../client/src/surroundings.ts';

const visit = (milliseconds: number, signal?: AbortSignal) => ({
  deadline: SURROUNDINGS.now() + milliseconds,
  pace: false,
  signal,
});

test('whoever gives up waiting in the same moment as there is room takes none of it', async () => {
  const gate = new Gate(SURROUNDINGS);
  const passes = await Promise.all(Array.from({ length: 10 }, () => gate.enter(visit(60_000))));
  const abort = new AbortController();
  const waiting = gate.enter(visit(60_000, abort.signal));
  const next = gate.enter(visit(60_000));
  abort.abort();
  for (const pass of passes) gate.leave(pass, undefined, 'unanswered');
  await assert.rejects(waiting, { name: 'AbortError' });
  gate.leave(await next, undefined, 'unanswered');
  assert.ok(gate.isIdle());
});

test('a turn that does not come before the deadline is a TimeoutError, and the next one is not lost', async () => {
  const gate = new Gate(SURROUNDINGS);
  const passes = await Promise.all(Array.from({ length: 10 }, () => gate.enter(visit(60_000))));
  await assert.rejects(gate.enter(visit(20)), TimeoutError);
  const next = gate.enter(visit(60_000));
  for (const pass of passes) gate.leave(pass, undefined, 'unanswered');
  gate.leave(await next, undefined, 'unanswered');
  assert.ok(gate.isIdle());
});
