// Contract: sections 5 and 6.
import { requireValue } from '../../../test/storage/fixture.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Answer, assertError, assertRateHeaders, call } from '../../../test/support/api.ts';
import { fakeClock, unixMilliseconds } from '../../../test/support/clock.ts';
import { startTestService, temporaryDatabase, type TestService } from '../../../test/support/service.ts';
import { ROOT } from '../../../test/support/store.ts';

const env = { BAN_AFTER: '10', BAN_SECONDS: '300' };
const limits = { perMinute: 1, perDay: 100 };

const get = (service: TestService, key: string) => call(service.url, '/v1/pets', { key });

/** Uses up the minute, and sends requests until the key is banned. Returns the answer with the ban. */
async function untilBanned(service: TestService, key: string): Promise<Answer> {
  for (let i = 0; i < 20; i++) {
    const answer = await get(service, key);
    if (answer.status === 429 && answer.json.code === 'key_banned') return answer;
  }
  throw new Error('never banned');
}

test('a key refused BAN_AFTER times within 60 s is banned for BAN_SECONDS', async (t) => {
  const service = await startTestService(t, { env });
  const key = await service.issueKey({ limits });
  assert.equal((await get(service, key)).status, 200);
  for (let refusal = 1; refusal <= 9; refusal++) {
    const answer = await get(service, key);
    assertError(answer, 'rate_limit_exceeded');
    const left = refusal >= 5 ? new RegExp(`After ${10 - refusal} more refused requests? `) : /wait 60 s\.$/;
    assert.match(answer.json.message, left);
  }
  const banned = await get(service, key);
  assertError(banned, 'key_banned');
  assertRateHeaders(banned);
  assert.equal(banned.headers.get('x-ratelimit-remaining'), '0');
  assert.equal(banned.headers.get('retry-after'), '300');
  assert.equal(Number(banned.headers.get('x-ratelimit-reset')), unixMilliseconds(service.clock) / 1000 + 300);
});

test('during a ban RateLimit shows both windows empty until the ban ends', async (t) => {
  const service = await startTestService(t, { env });
  const key = await service.issueKey({ limits });
  const ratelimit = (answer: Answer) => answer.headers.get('ratelimit');
  assert.equal(ratelimit(await untilBanned(service, key)), '"minute";r=0;t=300, "day";r=0;t=300');
  service.clock.advance(100_500);
  const later = await get(service, key);
  assert.equal(ratelimit(later), '"minute";r=0;t=200, "day";r=0;t=200');
  assert.equal(later.headers.get('retry-after'), '200');
  assert.equal(Number(later.headers.get('x-ratelimit-reset')), unixMilliseconds(fakeClock()) / 1000 + 300);
});

test('requests during a ban do not count, do not lengthen it, and succeed after it', async (t) => {
  const service = await startTestService(t, { env });
  const key = await service.issueKey({ limits });
  await untilBanned(service, key);
  for (let i = 0; i < 30; i++) assertError(await get(service, key), 'key_banned');
  service.clock.advance(299_001);
  const last = await get(service, key);
  assertError(last, 'key_banned');
  assert.equal(last.headers.get('retry-after'), '1');
  assert.equal(last.headers.get('x-ratelimit-remaining'), '0', 'though the minute is new');
  service.clock.advance(999);
  const free = await get(service, key);
  assert.equal(free.status, 200);
  assert.match(free.headers.get('ratelimit') ?? '', /"day";r=98;/);
});

test('each further ban within 24 hours lasts twice as long, at most 24 hours', async (t) => {
  const service = await startTestService(t, { env });
  const key = await service.issueKey({ limits: { perMinute: 1, perDay: 100_000 } });
  const durations: number[] = [];
  for (let i = 0; i < 11; i++) {
    const seconds = Number((await untilBanned(service, key)).headers.get('retry-after'));
    durations.push(seconds);
    service.clock.advance(seconds * 1000);
  }
  assert.deepEqual(durations, [300, 600, 1200, 2400, 4800, 9600, 19_200, 38_400, 76_800, 86_400, 86_400]);
  service.clock.advance(86_400_000);
  assert.equal((await untilBanned(service, key)).headers.get('retry-after'), '300', 'after 24 good hours');
});

test('refusals spread over more than 60 s cause no ban', async (t) => {
  const service = await startTestService(t, { env });
  const key = await service.issueKey({ limits: { perMinute: 100, perDay: 1 } });
  await get(service, key);
  for (let i = 0; i < 30; i++) {
    service.clock.advance(6_700);
    assertError(await get(service, key), 'daily_limit_exceeded');
  }
});

test('a ban belongs to the key; another key of the account goes on', async (t) => {
  const service = await startTestService(t, { env });
  const [bad, good] = [await service.issueKey({ limits }), await service.issueKey()];
  await untilBanned(service, bad);
  service.clock.advance(60_000);
  assertError(await get(service, bad), 'key_banned');
  assert.equal((await get(service, good)).status, 200);
});

test('bans and refusals survive a restart, and an operator lists and lifts bans', async (t) => {
  const databaseUrl = temporaryDatabase(t);
  const clock = fakeClock();
  const before = await startTestService(t, { env, databaseUrl, clock });
  const key = await before.issueKey({ limits });
  const near = await before.issueKey();
  await untilBanned(before, key);
  for (let i = 0; i < 9; i++) assertError(await get(before, near), 'rate_limit_exceeded');
  await before.stop();

  const after = await startTestService(t, { env, databaseUrl, clock });
  assertError(await get(after, key), 'key_banned');
  assertError(await get(after, near), 'key_banned');
  const bans = await after.store.limits.listBans();
  const until = unixMilliseconds(clock) + 300_000;
  assert.deepEqual(bans, [
    { keyId: 1, until, count: 1 },
    { keyId: 2, until, count: 1 },
  ]);
  requireValue(await after.store.bans.lift(ROOT, 1, after.store.limits));
  assert.ok('error' in (await after.store.bans.lift(ROOT, 1, after.store.limits)));
  await after.stop();
  const last = await startTestService(t, { env, databaseUrl, clock });
  assertError(await get(last, key), 'rate_limit_exceeded');
  assertError(await get(last, near), 'key_banned');
});
