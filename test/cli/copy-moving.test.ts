// Contract: sections 3, 5 and 6.
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { call } from '../support/api.ts';
import { temporaryPostgres } from '../support/postgres.ts';
import { runJson, startServiceProcess, temporaryEnvironment, type Variables } from '../support/process.ts';
import { startRedis } from '../support/redis.ts';
import { test } from '../support/test.ts';

interface Report {
  readonly tables: readonly { readonly name: string; readonly rows: number }[];
}

async function issueKey(variables: Variables, account: string, options: readonly string[]): Promise<string> {
  const args = ['keys', 'create', '--account', account, '--plan', 'enterprise', ...options];
  return (await runJson<{ key: string }>(args, variables)).key;
}

/** Moves a service with an animal, a banned key and used-up quota to PostgreSQL, and starts it there. */
async function move(t: TestContext, environment: string, redisUrl?: string) {
  const policy = { PETSTORE_ENVIRONMENT: environment, BAN_AFTER: '2', BAN_SECONDS: '3600' };
  const database = temporaryEnvironment(t);
  const source = { ...database, ...policy };
  const key = await issueKey(source, 'shop', ['--per-minute', '100', '--per-day', '5']);
  const eager = await issueKey(source, 'eager', ['--per-minute', '1', '--per-day', '5']);
  const before = await startServiceProcess(t, source);
  const create = (url: string) =>
    call(url, '/v1/pets', {
      key,
      body: '{"name":"Rex","categoryId":-9223372036854775808}',
      headers: { 'idempotency-key': 'once' },
    });
  const created = await create(before.url);
  assert.equal(created.status, 201);
  for (const code of [undefined, 'rate_limit_exceeded', 'key_banned'])
    assert.equal((await call(before.url, '/v1/pets', { key: eager })).json.code, code);
  before.child.kill('SIGTERM');
  await before.ended;

  const to = await temporaryPostgres(t);
  const redis: Variables = redisUrl === undefined ? {} : { REDIS_URL: redisUrl };
  // Nothing but the addresses is told to it: it brings over both environments.
  const { tables } = await runJson<Report>(
    ['copy', '--from', database['DATABASE_URL'] ?? '', '--to', to],
    redis,
  );
  const target = { ...policy, ...redis, DATABASE_URL: to, PORT: '0' };
  const usage = await runJson<readonly { day: { remaining: number } }[]>(['usage'], target);
  const bans = await runJson<readonly { keyId: number; count: number }[]>(['bans', 'list'], target);
  const { url } = await startServiceProcess(t, target);
  return { key, eager, created, tables, usage, bans, url, create: () => create(url) };
}

for (const [environment, withRedis] of [
  ['production', false],
  ['staging', true],
] as const) {
  const name = `moving ${environment} to PostgreSQL${withRedis ? ' and Redis' : ''}`;
  test(`${name}: keys, replays, days and bans survive`, async (t) => {
    const redis = withRedis ? await startRedis() : undefined;
    t.after(() => redis?.stop());
    const { key, eager, created, tables, usage, bans, url, create } = await move(t, environment, redis?.url);
    const filled = tables.filter((table) => table.rows > 0);
    const rows = Object.fromEntries(filled.map((table) => [table.name, table.rows]));
    // Of both keys and the animal, and of the ban if it was written in time.
    const { events = 0, event_marks: _, ...others } = rows;
    assert.ok(events >= 3);
    assert.deepEqual(others, {
      accounts: 2,
      keys: 2,
      pets: 1,
      idempotency: 1,
      audit: 4,
      usage: 2,
      standings: 1,
      usage_recent: 2,
      usage_days: 2,
      usage_totals: 2,
      usage_writers: 1,
    });
    assert.deepEqual(
      usage.map(({ day }) => day.remaining),
      [4, 4],
    );
    assert.deepEqual(
      bans.map(({ keyId, count }) => [keyId, count]),
      [[2, 1]],
    );
    const replayed = await create();
    assert.equal(replayed.headers.get('idempotent-replay'), 'true');
    assert.equal(replayed.text, created.text);
    const listed = await call(url, '/v1/pets', { key });
    assert.equal(listed.text, `[${created.text}]`);
    // An instance goes on by itself when Redis is slow for a moment, as it may be on a busy machine.
    if (withRedis) return;
    assert.match(listed.headers.get('ratelimit') ?? '', /"day";r=2;/);
    assert.equal((await call(url, '/v1/pets', { key: eager })).json.code, 'key_banned');
  });
}
