// Contract: section 6.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AbortError, RateLimitError } from '../../client/src/index.ts';
import { PLANS } from '../../src/domain/plan.ts';
import {
  admitted,
  clientScene,
  insideRetryAfter,
  keepListing,
  MINUTE,
  mostRefusals,
  rejection,
  type Scene,
  settle,
} from '../support/client-scene.ts';
import type { SimulatedTime } from '../support/simulated-time.ts';

/** Seconds from now until the service may be called again. */
function waitOf({ retryAt }: RateLimitError, time: SimulatedTime): number {
  assert.ok(retryAt !== undefined);
  return (retryAt.getTime() - time.surroundings().unix()) / 1000;
}

function hasBans({ seen }: Scene): boolean {
  return seen.some(({ code }) => code === 'key_banned');
}

test('50 clients in one process obey Retry-After and are never banned', async (t) => {
  const stage = await clientScene(t);
  const apiKey = await stage.service.issueKey({ limits: PLANS.free });
  const process = stage.time.surroundings();
  const clients = Array.from({ length: 50 }, () => stage.client(process, { apiKey }));
  await keepListing(stage, clients, 3 * MINUTE);
  const { seen } = stage;
  assert.deepEqual(insideRetryAfter(seen), []);
  assert.ok(!hasBans(stage));
  // One refusal tells all of them that a minute is used up, and nothing of any minute is left unused.
  assert.equal(mostRefusals(seen), 1);
  assert.equal(admitted(seen), 3 * PLANS.free.perMinute);
});

test('50 processes that share a Free key for ten minutes are never banned', async (t) => {
  const stage = await clientScene(t);
  const apiKey = await stage.service.issueKey({ limits: PLANS.free });
  const clients = Array.from({ length: 50 }, () =>
    stage.client(stage.time.surroundings(), { apiKey, maxWait: 60 * MINUTE, maxTries: 20 }),
  );
  await keepListing(stage, clients, 10 * MINUTE);
  const { seen } = stage;
  assert.deepEqual(insideRetryAfter(seen), []);
  assert.ok(mostRefusals(seen) < 100, `${mostRefusals(seen)} refusals within a minute`);
  assert.ok(!hasBans(stage));
  assert.equal(admitted(seen), 10 * PLANS.free.perMinute);
});

test('1,000 calls at once with a Free key are refused at most once a minute', async (t) => {
  const stage = await clientScene(t);
  const { time, service, seen } = stage;
  const apiKey = await service.issueKey({ limits: { perMinute: 60, perDay: 10_000 } });
  const client = stage.client(time.surroundings(), { apiKey, maxWait: 20 * MINUTE });
  const calls = Promise.all(
    Array.from({ length: 1_000 }, (_, index) => client.pets.create({ name: `Rex ${index}`, categoryId: 1 })),
  );
  await time.run(calls);
  assert.equal(new Set((await calls).map(({ id }) => id)).size, 1_000);
  assert.equal(mostRefusals(seen), 1);
  assert.deepEqual(insideRetryAfter(seen), []);
});

test('a call that would wait a day fails at once, and nothing is sent until then', async (t) => {
  const stage = await clientScene(t);
  const { time, service, seen } = stage;
  const apiKey = await service.issueKey({ limits: { perMinute: 100, perDay: 3 } });
  const process = time.surroundings();
  const client = stage.client(process, { apiKey });
  const another = stage.client(process, { apiKey });
  for (let count = 0; count < 2; count++) await settle(time, client.pets.list());
  const started = time.now();
  // One is admitted, one refused, and those that wait behind it are told as well.
  const calls = Promise.allSettled(Array.from({ length: 5 }, () => client.pets.list()));
  const refused = (await settle(time, calls)).flatMap((call) => ('reason' in call ? [call.reason] : []));
  assert.equal(refused.length, 4);
  const unsent = await rejection(time, another.pets.list());
  assert.equal(seen.length, 4);
  assert.ok(time.now() - started < 1_000);
  for (const error of [...refused, unsent]) {
    assert.ok(error instanceof RateLimitError);
    assert.equal(error.status, 429);
    assert.equal(error.code, 'daily_limit_exceeded');
    assert.match(error.message, /^The limit of 3 requests per day is used up/);
    // Tests begin at noon.
    assert.match(error.message, /Come back at 2026-11-22T00:00:0\d\.\d{3}Z\.$/);
    assert.ok(Math.abs(waitOf(error, time) - 43_200) < 10);
  }
  await time.run(waitOf(unsent, time) * 1_000);
  await settle(time, another.pets.list());
  assert.equal(admitted(seen), 4);
});

test('pace: queued calls fail at once when the last request of the day is sent', async (t) => {
  const stage = await clientScene(t);
  const { time, service, seen } = stage;
  const apiKey = await service.issueKey({ limits: { perMinute: 100, perDay: 3 } });
  const process = time.surroundings();
  const client = stage.client(process, { apiKey, pace: true });
  const patient = stage.client(process, { apiKey, pace: true, maxWait: 24 * 60 * MINUTE });
  for (let count = 0; count < 2; count++) await settle(time, client.pets.list());
  const started = time.now();
  const last = Promise.resolve(client.pets.list());
  const tomorrow = Promise.resolve(patient.pets.list());
  const calls = Promise.allSettled([last, ...Array.from({ length: 4 }, () => client.pets.list())]);
  const refused = (await settle(time, calls)).flatMap((call) => ('reason' in call ? [call.reason] : []));
  assert.ok(time.now() - started < 1_000);
  assert.equal(refused.length, 4);
  for (const error of refused) {
    assert.ok(error instanceof RateLimitError, String(error));
    assert.match(error.message, /^No requests are left\. Come back at 2026-11-22T00:00:0\d\.\d{3}Z\.$/);
    assert.ok(Math.abs(waitOf(error, time) - 43_200) < 10);
  }
  // A call with enough `maxWait` waits. The service refused nobody.
  await settle(time, tomorrow);
  assert.deepEqual(
    seen.map(({ status }) => status),
    [200, 200, 200, 200],
  );
});

test('pace: a call fails at once when the rest of the minute exceeds maxWait', async (t) => {
  const stage = await clientScene(t);
  const { time, service, seen } = stage;
  const apiKey = await service.issueKey({ limits: { perMinute: 10, perDay: 1_000 } });
  const client = stage.client(time.surroundings(), { apiKey, pace: true, maxWait: 10_000 });
  const started = time.now();
  const calls = Promise.allSettled(Array.from({ length: 12 }, () => client.pets.list()));
  const refused = (await settle(time, calls)).flatMap((call) => ('reason' in call ? [call.reason] : []));
  assert.ok(time.now() - started < 10_000, `${time.now() - started} ms`);
  assert.equal(refused.length, 2);
  for (const error of refused) {
    assert.ok(error instanceof RateLimitError, String(error));
    const wait = waitOf(error, time);
    assert.ok(wait > 10 && wait <= 60.01, `${wait} s`);
  }
  assert.equal(admitted(seen), seen.length);
});

test('a call during a ban fails at once, and calls succeed after the ban', async (t) => {
  const stage = await clientScene(t, { BAN_AFTER: '1' });
  const { time, service, seen } = stage;
  const apiKey = await service.issueKey({ limits: { perMinute: 2, perDay: 1_000 } });
  const [one, other] = [0, 1].map(() => stage.client(time.surroundings(), { apiKey, pace: true }));
  assert.ok(one !== undefined && other !== undefined);
  await settle(time, one.pets.list());
  await settle(time, other.pets.list());
  // This process does not know that the other one has used the minute up.
  const error = await rejection(time, one.pets.list());
  assert.equal(error.code, 'key_banned');
  assert.ok(error instanceof RateLimitError);
  const wait = waitOf(error, time);
  assert.ok(wait > 299.99 && wait < 302, `${wait} s`);
  await time.run(wait * 1_000);
  await settle(time, one.pets.list());
  assert.deepEqual(
    seen.map(({ status }) => status),
    [200, 200, 429, 200],
  );
});

test('a used-up day or a ban holds back no operation on account and keys, and theirs no other call', async (t) => {
  const stage = await clientScene(t, { BAN_AFTER: '2' });
  const { time, service } = stage;
  const apiKey = await service.issueKey({ limits: { perMinute: 100, perDay: 1 } });
  const client = stage.client(time.surroundings(), { apiKey, pace: true, maxWait: 0 });
  await settle(time, client.pets.list());
  const plan = client.rateLimit;
  assert.equal(plan?.day.remaining, 0);
  for (let count = 0; count < 3; count++) {
    assert.ok((await rejection(time, client.pets.list())) instanceof RateLimitError);
    const { data, response } = await settle(time, client.account.get().withResponse());
    assert.deepEqual([data.day.limit, data.day.remaining], [1, 0]);
    assert.equal(response.rateLimit?.day.limit, 5_000);
  }
  await settle(time, client.keys.list());
  // What the client knows of the plan stays as the plan's own answers had it.
  assert.deepEqual([client.rateLimit?.day.limit, client.rateLimit?.day.remaining], [1, 0]);
});

test('a refusal of account and keys stops no other call', async (t) => {
  const stage = await clientScene(t);
  const { time, service, seen } = stage;
  const apiKey = await service.issueKey({ limits: { perMinute: 1_000, perDay: 10_000 } });
  const client = stage.client(time.surroundings(), { apiKey, maxWait: 0 });
  for (let count = 0; count < 60; count++) await settle(time, client.account.get());
  const error = await rejection(time, client.account.get());
  assert.ok(error instanceof RateLimitError);
  assert.equal(error.rateLimit?.minute.limit, 60);
  const before = seen.length;
  assert.ok((await rejection(time, client.account.get())) instanceof RateLimitError);
  assert.equal(seen.length, before);
  await settle(time, client.pets.list());
  assert.equal(client.rateLimit?.minute.limit, 1_000);
});

test('with maxWait 0 no call waits, and every call is sent', async (t) => {
  const stage = await clientScene(t);
  const { time, service, seen } = stage;
  const apiKey = await service.issueKey({ limits: { perMinute: 2, perDay: 1_000 } });
  const client = stage.client(time.surroundings(), { apiKey, maxWait: 0 });
  await settle(time, client.pets.list());
  await settle(time, client.pets.list());
  const started = time.now();
  assert.equal((await rejection(time, client.pets.list())).code, 'rate_limit_exceeded');
  assert.equal((await rejection(time, client.pets.list())).code, 'rate_limit_exceeded');
  assert.equal(seen.length, 3);
  assert.ok(time.now() - started < 1_000);
});

test('an abort ends the wait for the limit', async (t) => {
  const stage = await clientScene(t);
  const { time, service, seen } = stage;
  const apiKey = await service.issueKey({ limits: { perMinute: 1, perDay: 100 } });
  const { pets } = stage.client(time.surroundings(), { apiKey });
  await settle(time, pets.list());
  const abort = new AbortController();
  const waiting = pets.list({}, { signal: abort.signal }).catch((error: unknown) => error);
  const queued = Promise.resolve(pets.list());
  await time.run(10_000);
  const reason = new Error('No longer needed');
  abort.abort(reason);
  const error = await waiting;
  assert.ok(error instanceof AbortError);
  assert.equal(error.cause, reason);
  await settle(time, queued);
  assert.deepEqual(insideRetryAfter(seen), []);
});

test('pace: a client that paces itself is never refused and uses each minute fully', async (t) => {
  const stage = await clientScene(t);
  const { time, service, seen } = stage;
  const apiKey = await service.issueKey({ limits: { perMinute: 60, perDay: 10_000 } });
  const process = time.surroundings();
  const clients = Array.from({ length: 5 }, () => stage.client(process, { apiKey, pace: true }));
  await keepListing(stage, clients, 5 * MINUTE);
  assert.equal(seen.filter(({ status }) => status !== 200).length, 0);
  assert.ok(admitted(seen) >= 4.5 * 60, `${admitted(seen)} requests in five minutes`);
});

test('pace: calls go at once until half of the minute is used, then evenly to its end', async (t) => {
  const stage = await clientScene(t);
  const { time, service, seen } = stage;
  const apiKey = await service.issueKey({ limits: { perMinute: 60, perDay: 10_000 } });
  const client = stage.client(time.surroundings(), { apiKey, pace: true });
  await keepListing(stage, [client], MINUTE);
  const [first] = seen;
  assert.ok(first !== undefined);
  const passed = seen.map(({ at }) => at - first.at);
  assert.ok((passed[29] ?? 0) < 5_000, `the 30th came after ${passed[29]} ms`);
  const gaps = passed.slice(32).map((at, index) => at - (passed[index + 31] ?? 0));
  assert.ok(Math.min(...gaps) > 1_000, `the shortest gap was ${Math.min(...gaps)} ms`);
  assert.ok(Math.max(...gaps) < 3_000, `the longest gap was ${Math.max(...gaps)} ms`);
});
