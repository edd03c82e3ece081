// Contract: section 3.1.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Client } from 'pg';
import { DAY } from '../../src/domain/clock.ts';
import { SCOPES } from '../../src/domain/scope.ts';
import { ApiKey } from '../../src/domain/api-key.ts';
import { fakeClock } from '../support/clock.ts';
import { consoleOf, type TestConsole } from '../support/console.ts';
import { type Lifetime, lifetimeOfFile } from '../support/lifetime.ts';
import { migratedPostgres } from '../support/migrated-postgres.ts';
import { startTestService, temporaryDatabase } from '../support/service.ts';
import { countStatements } from '../support/statements.ts';
import { addKey } from '../support/store.ts';
import { startForFile, test } from '../support/test.ts';

/** Rows of each kind: many more than one part of the work reads. */
const MANY = 60_000;

/** Keys of the account whose history is read: more than the service looks up at once. */
const KEYS = 10_000;

/** Account 1 has keys, each with usage and a ban. There are many other accounts, and entries of the audit log. */
function fill(numbers: string, now: number): string[] {
  const day = Math.floor(now / DAY);
  const some = `${numbers} WHERE n <= ${KEYS}`;
  return [
    `INSERT INTO accounts (id, name, plan, created_at, folded_name)
      SELECT n, 'shop ' || n, 'business', 1, 'shop ' || n FROM ${numbers}`,
    `INSERT INTO keys (id, account_id, hash, environment, scopes, created_at)
      SELECT n, 1, 'hash ' || n, 'production', 'pets:read', 1 FROM ${numbers}`,
    `INSERT INTO usage_days (key_id, day, operation, ok, client_error, refused, server_error)
      SELECT n, ${day} - n % 20, 'getPet', n, 0, 0, 0 FROM ${some}`,
    `INSERT INTO standings (key_id, environment, refusals, banned_until, ban_count, lifted)
      SELECT n, 'production', '[]', ${now + DAY}, 1, 0 FROM ${numbers}`,
    `INSERT INTO audit (at, actor_kind, actor, action, target_kind, target)
      SELECT n, 'operator', 'ada', 'keys revoke', 'key', '7' FROM ${numbers}`,
  ];
}

const DATABASES = {
  async SQLite(t: Lifetime, now: number): Promise<string> {
    const databaseUrl = temporaryDatabase(t);
    const db = new DatabaseSync(databaseUrl.slice('sqlite:'.length));
    const numbers = `(WITH RECURSIVE s (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < ${MANY}) SELECT n FROM s)`;
    db.exec(`BEGIN; ${fill(numbers, now).join(';')}; COMMIT`);
    db.close();
    return databaseUrl;
  },
  async PostgreSQL(t: Lifetime, now: number): Promise<string> {
    const databaseUrl = await migratedPostgres(t);
    const client = new Client({ connectionString: databaseUrl });
    await client.connect();
    for (const sql of fill(`generate_series(1, ${MANY}) AS numbers (n)`, now)) await client.query(sql);
    for (const table of ['accounts', 'keys'])
      await client.query(`SELECT setval(pg_get_serial_sequence('${table}', 'id'), ${MANY})`);
    await client.end();
    return databaseUrl;
  },
};

/** Requests that read in many parts, by whom. */
const REQUESTS: readonly (readonly ['client' | 'operator', path: string])[] = [
  ['client', '/v1/account/usage'],
  ['operator', '/accounts?search=none'],
  ['operator', '/accounts?sort=name'],
  ['operator', '/accounts/count?search=none'],
  ['operator', '/keys?state=expired'],
  ['operator', '/keys/count?state=expired'],
  ['operator', '/audit?actor=none'],
  ['operator', '/bans?accountId=2'],
  ['operator', '/usage?by=key&accountId=1'],
  ['operator', '/usage?by=account'],
  ['operator', '/deprecations'],
];

/** How clients leave: each request is left in one of these ways. */
const LEAVES = ['end', 'destroy', 'resetAndDestroy'] as const;

/** Statements after which the client leaves. */
const LEFT_AFTER = 4;

/** Statements of the whole work, at least: many more than a part and the background tasks have meanwhile. */
const MANY_STATEMENTS = 24;

/** Turns of the event loop in which the service notices, at most. */
const PATIENCE = 20_000;

const countGone = ({ logText }: TestConsole) => logText().split('"client went away"').length;

const file = lifetimeOfFile();

async function start(name: keyof typeof DATABASES) {
  let started: TestConsole | undefined;
  // Before its database goes: what is registered first runs first.
  file.after(() => started?.stop());
  const clock = fakeClock();
  const databaseUrl = await DATABASES[name](file, Math.floor(clock().unix));
  started = consoleOf(await startTestService(file, { clock, databaseUrl, env: { CONSOLE_PORT: '0' } }));
  const key = ApiKey.generate('production', (length) => crypto.getRandomValues(new Uint8Array(length)));
  await addKey(started.store.keys, { accountId: 1, key, scopes: SCOPES });
  const token = await started.makeToken('ada');
  // The first request finds out more than the others.
  await started.ask('/admin/v1/deprecations', { key: token });
  return { service: started, key: key.reveal(), token };
}

const services = await startForFile(async () => ({
  SQLite: await start('SQLite'),
  PostgreSQL: await start('PostgreSQL'),
}));

for (const name of ['SQLite', 'PostgreSQL'] as const) {
  for (const [index, [caller, path]] of REQUESTS.entries())
    test(`${name}: ${path} reads no further part after its client has left`, async (t) => {
      const { service, key, token } = services[name];
      const leave = LEAVES[index % LEAVES.length] ?? 'end';
      const isClient = caller === 'client';
      const { hostname, port, host } = new URL(isClient ? service.url : service.listener);
      const target = isClient ? path : `/admin/v1${path}`;
      const statements = countStatements(t);
      const send = () => {
        const socket = connect(Number(port), hostname);
        socket.on('error', () => undefined);
        socket.write(
          `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${isClient ? key : token}\r\n\r\n`,
        );
        return socket;
      };
      const gone = countGone(service);
      const leaving = send().resume();
      const closed = once(leaving, 'close');
      // The caller is looked up first.
      let seen = 0;
      statements.onStatement = () => {
        if (++seen !== LEFT_AFTER) return;
        statements.take();
        leaving[leave]();
      };
      await closed;
      for (let turn = 0; turn < PATIENCE && countGone(service) === gone; turn++) await nextTurn();
      const after = statements.take();
      statements.onStatement = () => undefined;
      const staying = send();
      const [chunk] = (await once(staying, 'data')) as [Buffer];
      staying.destroy();
      assert.match(chunk.toString(), /^HTTP\/1\.1 200 /);
      const whole = statements.take();
      const text = `${after.statements} of ${whole.statements} statements`;
      assert.ok(whole.statements >= MANY_STATEMENTS, text);
      assert.ok(after.statements < whole.statements / 2, text);
    });
}
