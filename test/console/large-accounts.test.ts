// Contract: sections 3.13 and 10.2.
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import type { TestContext } from 'node:test';
import { test } from '../support/test.ts';
import { Client } from 'pg';
import { DAY } from '../../src/domain/clock.ts';
import { call } from '../support/api.ts';
import { fakeClock } from '../support/clock.ts';
import { adminOf, startTestConsole, type TestConsole } from '../support/console.ts';
import { migratedPostgres } from '../support/migrated-postgres.ts';
import { ask as askRedis, temporaryRedis } from '../support/redis.ts';
import { temporaryDatabase } from '../support/service.ts';

/** Numbers from 1, as a table `numbers (n)`. */
const NUMBERS = {
  SQLite: (last: number) =>
    `(WITH RECURSIVE s (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < ${last}) SELECT n FROM s) AS numbers`,
  PostgreSQL: (last: number) => `generate_series(1, ${last}) AS numbers (n)`,
};

/** Every 10,000th key works, every 10,000th is rotated or has expired, and the others are revoked. */
const statesOf = (last: number) => {
  const ids = Array.from({ length: last }, (_, index) => last - index);
  return {
    active: ids.filter((id) => id % 10_000 === 0),
    rotated: ids.filter((id) => id % 10_000 === 1),
    expired: ids.filter((id) => id % 10_000 === 2),
    banned: ids.filter((id) => id % 100 === 0),
  };
};

/** Account 1 has `last` keys. Every 100th one is banned, and each called a deprecated operation today. */
function statements(engine: keyof typeof NUMBERS, last: number, now: number): string[] {
  const numbers = NUMBERS[engine](last);
  const day = Math.floor(now / DAY);
  const until = `CASE WHEN n % 100 = 0 THEN ${now + 3_600_000} END`;
  return [
    `INSERT INTO accounts (id, name, plan, created_at, folded_name) VALUES (1, 'chain', 'business', 1, 'chain')`,
    `INSERT INTO keys (id, account_id, hash, environment, scopes, created_at, expires_at, revoked_at, rotated_to)
      SELECT n, 1, 'hash ' || n, 'production', 'pets:read', 1,
        CASE n % 10000 WHEN 1 THEN ${now + 1_000_000} WHEN 2 THEN ${now - 1} END,
        CASE WHEN n % 10000 > 2 THEN ${now - 1} END, CASE n % 10000 WHEN 1 THEN 7 END FROM ${numbers}`,
    `INSERT INTO standings (key_id, environment, refusals, banned_until, ban_count, lifted)
      SELECT n, 'production', '[]', ${until}, CASE WHEN n % 100 = 0 THEN 1 END, 0 FROM ${numbers}`,
    `INSERT INTO usage_days (key_id, day, operation, ok, client_error, refused, server_error)
      SELECT n, ${day}, 'getPet', n, 0, 0, 0 FROM ${numbers}`,
  ];
}

/** More keys than a statement of this database has parameters. */
const KEYS = { SQLite: 40_000, PostgreSQL: 70_000 };

const DATABASES = {
  async SQLite(t: TestContext, now: number): Promise<string> {
    const databaseUrl = temporaryDatabase(t);
    const db = new DatabaseSync(databaseUrl.slice('sqlite:'.length));
    db.exec(`BEGIN; ${statements('SQLite', KEYS.SQLite, now).join(';')}; COMMIT`);
    db.close();
    return databaseUrl;
  },
  async PostgreSQL(t: TestContext, now: number): Promise<string> {
    const databaseUrl = await migratedPostgres(t);
    const client = new Client({ connectionString: databaseUrl });
    await client.connect();
    for (const sql of statements('PostgreSQL', KEYS.PostgreSQL, now)) await client.query(sql);
    await client.query(`SELECT setval(pg_get_serial_sequence('keys', 'id'), ${KEYS.PostgreSQL}),
      setval(pg_get_serial_sequence('accounts', 'id'), 1)`);
    await client.end();
    return databaseUrl;
  },
};

const idsOf = (rows: readonly { readonly id: number }[]) => rows.map(({ id }) => id);
const keysOf = (rows: readonly { readonly keyId: number }[]) => rows.map(({ keyId }) => keyId);

for (const engine of ['SQLite', 'PostgreSQL'] as const) {
  test(`${engine}: the console shows an account with more keys than a statement has parameters`, async (t) => {
    let service: TestConsole | undefined;
    // Before its database goes: what is registered first runs first.
    t.after(() => service?.stop());
    const clock = fakeClock();
    const databaseUrl = await DATABASES[engine](t, Math.floor(clock().unix));
    service = await startTestConsole(t, { clock, databaseUrl });
    const { its, get, pages } = await adminOf(service);
    const last = KEYS[engine];
    const { active, rotated, expired, banned } = statesOf(last);
    const oldestBans = banned.toReversed();

    const account = await get('/accounts/1');
    assert.deepEqual(keysOf(account.bans), oldestBans.slice(0, 100));
    const bans = await pages('/bans?accountId=1&limit=100');
    assert.deepEqual(keysOf(bans.flat()), oldestBans);
    assert.deepEqual(await get('/bans?accountId=2'), []);
    assert.deepEqual(keysOf(await get('/bans?limit=20')), oldestBans.slice(0, 20));

    const keys = await get('/keys?accountId=1&limit=100');
    assert.deepEqual(
      idsOf(keys),
      Array.from({ length: 100 }, (_, index) => last - index),
    );
    const withBan = keys.filter(({ bannedUntil }: { bannedUntil?: string }) => bannedUntil !== undefined);
    assert.deepEqual(idsOf(withBan), [last]);
    for (const [state, ids] of Object.entries({ active, rotated, expired, suspended: [] }))
      assert.deepEqual(idsOf(await get(`/keys?state=${state}&accountId=1`)), ids, state);
    assert.deepEqual(idsOf(await get('/keys?expiresWithin=1000')), rotated);
    assert.deepEqual(idsOf(await get('/keys?expiresWithin=999')), []);
    assert.deepEqual(idsOf(await get('/keys?state=banned&limit=30')), banned.slice(0, 30));
    const bannedPages = await pages('/keys?state=banned&accountId=1&limit=100&unusedFor=60');
    assert.deepEqual(idsOf(bannedPages.flat()), banned);

    const byEnd = (await pages('/keys?sort=expires&limit=5&expiresWithin=1000')).flat();
    assert.deepEqual(idsOf(byEnd), rotated.toReversed());
    const ended = [...expired.toReversed(), ...rotated.toReversed(), 3, 4];
    assert.deepEqual(idsOf(await get(`/keys?sort=expires&limit=${ended.length}`)), ended);
    assert.deepEqual(idsOf(await get('/keys?sort=-expires&limit=20')), idsOf(keys).slice(0, 20));
    assert.deepEqual(await get('/keys/count?state=active'), { count: active.length, total: last });
    assert.equal((await get('/keys/count?state=banned')).count, banned.length);

    const ranked = await get('/deprecations?limit=100');
    assert.deepEqual(keysOf(ranked), idsOf(keys));
    const overview = await get('/overview');
    assert.equal(overview.bans, banned.length);
    assert.deepEqual(
      (await get('/accounts?search=HAI')).map(({ name }: { name: string }) => name),
      ['chain'],
    );
    assert.deepEqual(await get('/accounts?search=none'), []);
    for (const path of ['/accounts', '/failed-requests', '/audit', '/operators']) await get(path);

    const key = await its.issueKey({ account: 'chain', scopes: ['pets:read', 'keys:manage'] });
    const own = await call(its.url, '/v1/account', { key });
    assert.equal(own.status, 200, own.text);
    assert.deepEqual(keysOf(own.json.bans), active.toReversed());
  });
}

test('Redis: a page of keys asks for its bans at once, and looks at no other key', async (t) => {
  const redis = await temporaryRedis(t);
  const clock = fakeClock(Date.now());
  const databaseUrl = await DATABASES.SQLite(t, Math.floor(clock().unix));
  const env = { REDIS_URL: redis.url };
  const { get } = await adminOf(await startTestConsole(t, { clock, databaseUrl, env }));
  const banned = [KEYS.SQLite, KEYS.SQLite - 7];
  for (const id of banned)
    await askRedis(redis.url, [
      'HSET',
      `petstore:production:{account 1}:ban:${id}`,
      'until',
      String(Date.now() + 3_600_000),
      'count',
      '1',
    ]);
  assert.deepEqual(keysOf(await get('/bans?accountId=1')), banned.toReversed());
  assert.equal((await get('/overview')).bans, 2);
  // The heartbeats of the service run a script, too.
  const calls = async () => {
    const stats = await askRedis<string>(redis.url, ['INFO', 'commandstats']);
    const count = (command: string) =>
      Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(stats)?.[1] ?? 0);
    return { scans: count('scan'), reads: count('hmget') };
  };
  const before = await calls();
  const keys = await get('/keys?accountId=1&limit=99');
  const withBan = keys.filter(({ bannedUntil }: { bannedUntil?: string }) => bannedUntil !== undefined);
  assert.deepEqual(idsOf(withBan), banned);
  const after = await calls();
  assert.deepEqual([after.scans - before.scans, after.reads - before.reads], [0, 99]);
  assert.deepEqual(idsOf(await get('/keys?state=banned')), banned);
});
