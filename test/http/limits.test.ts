// Contract: sections 1, 5 and 6.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PLANS } from '../../src/domain/plan.ts';
import { type Answer, assertError, assertRateHeaders, call } from '../support/api.ts';
import { fakeClock } from '../support/clock.ts';
import { lifetimeOfFile } from '../support/lifetime.ts';
import { startTestService, temporaryDatabase } from '../support/service.ts';
import { createAccount } from '../support/store.ts';

const START = '2026-11-21T12:00:00Z';
const MIDNIGHT = Date.parse('2026-11-22T00:00:00Z') / 1000;

const seen = ({ headers }: Answer) => ({
  limit: Number(headers.get('x-ratelimit-limit')),
  remaining: Number(headers.get('x-ratelimit-remaining')),
  reset: Number(headers.get('x-ratelimit-reset')),
});

const unix = (offset: number) => Date.parse(START) / 1000 + offset;

/** Of the tests that let no time pass. */
const shared = await startTestService(lifetimeOfFile(), { clock: fakeClock(START) });

for (const [plan, limits] of Object.entries(PLANS)) {
  if (limits === 'custom') continue;
  test(`plan ${plan} admits ${limits.perMinute} requests a minute, and the headers count down`, async () => {
    const { id } = await createAccount(shared.store.accounts, plan, plan as keyof typeof PLANS, limits);
    assert.ok(id > 0);
    const key = await shared.issueKey({ account: plan });
    for (let used = 1; used <= limits.perMinute; used++) {
      const answer: Answer = await call(shared.url, '/v1/pets', { key });
      assert.equal(answer.status, 200);
      const remaining: number = limits.perMinute - used;
      assert.deepEqual(seen(answer), { limit: limits.perMinute, remaining, reset: unix(60) });
      const day: string = `"day";r=${limits.perDay - used};t=43200`;
      assert.equal(answer.headers.get('ratelimit'), `"minute";r=${remaining};t=60, ${day}`);
    }
    const refused = await call(shared.url, '/v1/pets', { key });
    assertError(refused, 'rate_limit_exceeded');
    assert.deepEqual(seen(refused), { limit: limits.perMinute, remaining: 0, reset: unix(60) });
    assert.equal(refused.headers.get('retry-after'), '60');
  });
}

test('RateLimit-Policy names both windows of the plan', async () => {
  const key = await shared.issueKey({ account: 'policy', limits: { perMinute: 60, perDay: 1_000 } });
  const { headers } = await call(shared.url, '/v1/pets', { key });
  assert.equal(headers.get('ratelimit-policy'), '"minute";q=60;w=60, "day";q=1000;w=86400');
  assert.equal(headers.get('ratelimit'), '"minute";r=59;t=60, "day";r=999;t=43200');
});

test('a client that waits for Retry-After is admitted', async (t) => {
  const service = await startTestService(t);
  const key = await service.issueKey({ limits: { perMinute: 2, perDay: 100 } });
  const send = () => call(service.url, '/v1/pets', { key });
  for (let round = 0; round < 5; round++) {
    service.clock.advance(round * 333);
    await send();
    service.clock.advance(12_345);
    await send();
    const refused = await send();
    assertError(refused, 'rate_limit_exceeded');
    assert.equal(refused.headers.get('retry-after'), '48', 'rounded up');
    service.clock.advance(47_000);
    assertError(await send(), 'rate_limit_exceeded');
    service.clock.advance(1_000);
    assert.equal((await send()).status, 200);
    service.clock.advance(60_000);
  }
});

test('the day is the UTC calendar day, and its refusal has its own code', async (t) => {
  const service = await startTestService(t, { clock: fakeClock('2026-11-21T23:59:00Z') });
  const key = await service.issueKey({ limits: { perMinute: 3, perDay: 4 } });
  const send = () => call(service.url, '/v1/pets', { key });
  for (let i = 0; i < 3; i++) await send();
  service.clock.advance(59_000);
  assertError(await send(), 'rate_limit_exceeded');
  service.clock.advance(900);
  assert.equal((await send()).status, 429, 'the minute is not over');
  service.clock.advance(100);
  const admitted = await send();
  assert.equal(admitted.status, 200, 'a new day, and a new minute');
  assert.equal(admitted.headers.get('ratelimit'), '"minute";r=2;t=60, "day";r=3;t=86400');
  for (let i = 0; i < 2; i++) await send();
  service.clock.advance(60_000);
  const last = await send();
  assert.deepEqual(seen(last), { limit: 4, remaining: 0, reset: MIDNIGHT + 86_400 }, 'the day governs');
  const refused = await send();
  assertError(refused, 'daily_limit_exceeded');
  assert.deepEqual(seen(refused), { limit: 4, remaining: 0, reset: MIDNIGHT + 86_400 });
  assert.equal(refused.headers.get('retry-after'), String(86_400 - 60));
});

test('all responses of a window have the same Reset, for a day midnight UTC', async (t) => {
  const service = await startTestService(t, { clock: fakeClock('2026-11-21T12:00:00.400Z') });
  const limits = { perMinute: 30, perDay: 1_000 };
  const [byMinute, byDay] = [
    await service.issueKey({ limits }),
    await service.issueKey({ account: 'day', limits: { perMinute: 1_000, perDay: 10 } }),
  ];
  const resets = [new Set<number>(), new Set<number>()];
  for (let round = 0; round < 20; round++) {
    for (const [index, key] of [byMinute, byDay].entries())
      resets[index]?.add(seen(await call(service.url, '/v1/pets', { key })).reset);
    service.clock.advance(2_345.6);
  }
  assert.deepEqual(resets, [new Set([unix(61)]), new Set([MIDNIGHT])]);
});

test('a request that one window refuses takes nothing from the other', async (t) => {
  const service = await startTestService(t);
  const key = await service.issueKey({ limits: { perMinute: 1, perDay: 10 } });
  const send = () => call(service.url, '/v1/pets', { key });
  await send();
  for (let i = 0; i < 20; i++) assertError(await send(), 'rate_limit_exceeded');
  service.clock.advance(60_000);
  assert.match((await send()).headers.get('ratelimit') ?? '', /"day";r=8;/);
});

test('every authenticated request counts, whatever its status', async () => {
  const limits = { perMinute: 100, perDay: 1_000 };
  const key = await shared.issueKey({ account: 'one', limits });
  const reader = await shared.issueKey({ account: 'one', scopes: ['pets:read'] });
  const body = '{"name":"Rex","categoryId":7}';
  const { headers } = await call(shared.url, '/v1/pets', { key });
  const answers = [
    await call(shared.url, '/v1/pets', { key, headers: { 'if-none-match': headers.get('etag') ?? '' } }),
    await call(shared.url, '/v1/pets?limit=0', { key }),
    await call(shared.url, '/v1/pets', { key: reader, body }),
    await call(shared.url, '/v1/nowhere', { key }),
    await call(shared.url, '/v1/pets', { key, method: 'PUT' }),
    await call(shared.url, '/v1/pets', { key, body, headers: { 'content-type': 'text/plain' } }),
  ];
  assert.deepEqual(
    answers.map(({ status }) => status),
    [304, 400, 403, 404, 405, 415],
  );
  assert.deepEqual(
    answers.map((answer) => seen(answer).remaining),
    [98, 97, 96, 95, 94, 93],
  );
  for (const answer of answers) assertRateHeaders(answer);
});

test('all keys of an account share its quota', async () => {
  const account = 'two keys';
  const limits = { perMinute: 3, perDay: 100 };
  const [first, second] = [await shared.issueKey({ account, limits }), await shared.issueKey({ account })];
  await call(shared.url, '/v1/pets', { key: first });
  await call(shared.url, '/v1/pets', { key: second });
  await call(shared.url, '/v1/pets', { key: first });
  assertError(await call(shared.url, '/v1/pets', { key: second }), 'rate_limit_exceeded');
});

test('of many simultaneous requests exactly the limit is admitted', async (t) => {
  const service = await startTestService(t);
  const key = await service.issueKey({ limits: { perMinute: 50, perDay: 60 } });
  const send = () => call(service.url, '/v1/pets', { key });
  const admitted = async () => {
    const answers = await Promise.all(Array.from({ length: 200 }, send));
    return answers.filter(({ status }) => status === 200).length;
  };
  assert.equal(await admitted(), 50);
  service.clock.advance(60_000);
  // A second of bans has no part in this: the key was refused 150 times, so it is banned; another key goes on.
  const other = await service.issueKey();
  const answers = await Promise.all(
    Array.from({ length: 50 }, () => call(service.url, '/v1/pets', { key: other })),
  );
  assert.equal(answers.filter(({ status }) => status === 200).length, 10, 'what the day has left');
});

test('a clean stop keeps counters exactly', async (t) => {
  const databaseUrl = temporaryDatabase(t);
  const clock = fakeClock();
  const before = await startTestService(t, { databaseUrl, clock });
  const key = await before.issueKey({ limits: { perMinute: 5, perDay: 10 } });
  for (let i = 0; i < 4; i++) await call(before.url, '/v1/pets', { key });
  await before.stop();
  clock.advance(20_000);
  const after = await startTestService(t, { databaseUrl, clock });
  const answer = await call(after.url, '/v1/pets', { key });
  assert.equal(answer.headers.get('ratelimit')?.split(', ')[0], '"minute";r=0;t=40');
  assert.match(answer.headers.get('ratelimit') ?? '', /"day";r=5;/);
  assertError(await call(after.url, '/v1/pets', { key }), 'rate_limit_exceeded');
});

test('a jump of the system clock exceeds no limit and puts no Reset in the past', async (t) => {
  const service = await startTestService(t);
  const key = await service.issueKey({ limits: { perMinute: 2, perDay: 100 } });
  const send = () => call(service.url, '/v1/pets', { key });
  await send();
  await send();
  for (const jump of [30_000, -3_600_000, 90_000, -86_400_000, 600_000]) {
    service.clock.jump(jump);
    const answer = await send();
    assertError(answer, 'rate_limit_exceeded');
    assert.ok(seen(answer).reset * 1000 >= service.clock().unix);
  }
  service.clock.advance(60_000);
  assert.equal((await send()).status, 200);
});
