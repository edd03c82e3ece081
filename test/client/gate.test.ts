import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RateLimitError, TimeoutError } from '../../client/src/index.ts';
import { Gate } from '../../client/src/gate.ts';
import { gateOf, SYSTEM_RUNTIME } from '../../client/src/runtime.ts';

const visit = (milliseconds: number, signal?: AbortSignal) => ({
  deadline: SYSTEM_RUNTIME.now() + milliseconds,
  pace: false,
  signal,
});

/** A gate, and how many timers it has set. */
function watchedGate(): { gate: Gate; asleep: () => number } {
  let asleep = 0;
  const gate = new Gate({
    ...SYSTEM_RUNTIME,
    async sleep(milliseconds, signal) {
      asleep++;
      await SYSTEM_RUNTIME.sleep(milliseconds, signal).finally(() => asleep--);
    },
  });
  return { gate, asleep: () => asleep };
}

test('a caller that gives up at the moment of its turn takes no turn from others', async () => {
  const gate = new Gate(SYSTEM_RUNTIME);
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

test('a missed deadline is a TimeoutError, and the next turn is not lost', async () => {
  const gate = new Gate(SYSTEM_RUNTIME);
  const passes = await Promise.all(Array.from({ length: 10 }, () => gate.enter(visit(60_000))));
  await assert.rejects(gate.enter(visit(20)), TimeoutError);
  const next = gate.enter(visit(60_000));
  for (const pass of passes) gate.leave(pass, undefined, 'unanswered');
  gate.leave(await next, undefined, 'unanswered');
  assert.ok(gate.isIdle());
});

test('no timer stays when the last caller stops waiting for the limit', async () => {
  const { gate, asleep } = watchedGate();
  const refusal = { error: new RateLimitError('Refused'), serverWait: 30_000 };
  gate.leave(await gate.enter(visit(60_000)), undefined, refusal);
  const abort = new AbortController();
  const waiting = gate.enter(visit(60_000, abort.signal));
  assert.equal(asleep(), 2);
  abort.abort();
  await assert.rejects(waiting, { name: 'AbortError' });
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(asleep(), 0);
});

test('when the first caller gives up its paced turn, the next moves up without a timer', async () => {
  const { gate, asleep } = watchedGate();
  const reading = { limit: 100, remaining: 1, resetIn: 50_000, dayResetIn: undefined, rateLimit: undefined };
  gate.leave(await gate.enter(visit(60_000)), reading, 'admitted');
  const abort = new AbortController();
  const paced = gate.enter({ ...visit(60_000, abort.signal), pace: true });
  const next = gate.enter(visit(60_000));
  abort.abort();
  await assert.rejects(paced, { name: 'AbortError' });
  gate.leave(await next, undefined, 'unanswered');
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(asleep(), 0);
  assert.ok(gate.isIdle());
});

test('unused keys are forgotten, except keys that must wait', async () => {
  const surroundings = { ...SYSTEM_RUNTIME, gates: new Map<string, Gate>() };
  const baseUrl = 'https://petstore.example/v1';
  const refused = gateOf(surroundings, baseUrl, 'refused', 'plan');
  const refusal = { error: new RateLimitError('Refused'), serverWait: 30_000 };
  refused.leave(await refused.enter(visit(60_000)), undefined, refusal);
  const busy = gateOf(surroundings, baseUrl, 'busy', 'plan');
  await busy.enter(visit(60_000));
  for (let key = 0; key < 1_500; key++) gateOf(surroundings, baseUrl, String(key), 'plan');
  assert.ok(surroundings.gates.size <= 1_000, String(surroundings.gates.size));
  assert.equal(gateOf(surroundings, baseUrl, 'refused', 'plan'), refused);
  assert.equal(gateOf(surroundings, baseUrl, 'busy', 'plan'), busy);
  assert.notEqual(gateOf(surroundings, 'https://staging.petstore.example/v1', 'busy', 'plan'), busy);
});
