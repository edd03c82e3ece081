// Contract: sections 2 and 3.
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { after } from 'node:test';
import { Client } from 'pg';
import { unfitness } from '../../src/storage/postgres/database.ts';
import { startPostgres } from '../support/postgres.ts';
import { run, runProcess, runJson, startServiceProcess } from '../support/process.ts';
import { freePort, serverFolder, serverUser } from '../support/servers.ts';
import { TEMPORARY } from '../support/temporary.ts';
import { startForFile, test } from '../support/test.ts';

const PASSWORD = 'hush-hush';

const { server, sockets } = await startForFile(async () => {
  const folder = serverFolder('sockets', TEMPORARY, serverUser());
  after(() => rmSync(folder, { recursive: true }));
  const settings = ['fsync=off', `unix_socket_directories=${folder}`];
  const started = await startPostgres(settings, ['host all guarded 127.0.0.1/32 scram-sha-256']);
  after(() => started.stop());
  return { server: started, sockets: folder };
});
await startForFile(async () => {
  await execute(`CREATE ROLE guarded LOGIN PASSWORD '${PASSWORD}'`, 'CREATE ROLE guest LOGIN');
  return server;
});

/** Runs statements as the superuser, one after the other. */
async function execute(...statements: readonly string[]): Promise<void> {
  await executeIn('postgres', ...statements);
}

async function executeIn(database: string, ...statements: readonly string[]): Promise<void> {
  const client = new Client({ connectionString: address({ database }) });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

function address({ user = 'postgres', password = '', database = 'postgres' }): string {
  const url = new URL(server.url);
  url.username = user;
  url.password = password;
  url.pathname = database;
  return url.href;
}

/** The one line with which `serve` refuses to start. */
async function refusal(databaseUrl: string, variables: Record<string, string> = {}): Promise<string> {
  const { code, stdout, stderr } = await runProcess(['serve'], {
    PORT: '0',
    DATABASE_URL: databaseUrl,
    ...variables,
  });
  assert.equal(stdout, '');
  assert.match(stderr, /^petstore: [^\n]+\n$/);
  assert.equal(code, 1);
  assert.ok(!stderr.includes(PASSWORD) && !stderr.includes('wrong-one'), stderr);
  return stderr;
}

test('a server that cannot be reached is named; exit 1', async () => {
  const port = await freePort();
  assert.match(
    await refusal(`postgres://guarded:${PASSWORD}@127.0.0.1:${port}/x`),
    new RegExp(`127.0.0.1:${port}`),
  );
});

test('a server that accepts and never answers ends the start after the timeout', async () => {
  server.pause();
  try {
    const line = await refusal(address({ password: PASSWORD }), { DATABASE_CONNECT_TIMEOUT: '300' });
    assert.match(line, /timeout/);
  } finally {
    server.resume();
  }
});

test('a wrong or missing password is refused without showing it; exit 1', async () => {
  const wrong = await refusal(address({ user: 'guarded', password: 'wrong-one' }));
  assert.match(wrong, /password authentication failed for user "guarded"/);
  assert.match(await refusal(address({ user: 'guarded' })), /password/);
});

test('a database that does not exist is named; exit 1', async () => {
  assert.match(await refusal(address({ database: 'nowhere' })), /database "nowhere" does not exist/);
});

test('a role without the right to create tables serves only an existing schema', async (t) => {
  await execute('CREATE DATABASE shared');
  const url = address({ user: 'guest', database: 'shared' });
  assert.match(await refusal(url), /permission denied.*the right to create tables/);
  const variables = { DATABASE_URL: address({ database: 'shared' }), PORT: '0' };
  await runJson(['migrate'], variables);
  const create = ['keys', 'create', '--account', 'acme', '--plan', 'free'];
  const { key } = await runJson<{ key: string }>(create, variables);
  await executeIn('shared', 'GRANT SELECT ON ALL TABLES IN SCHEMA public TO guest');
  // Each line says what to run next.
  for (const right of ['INSERT', 'UPDATE', 'DELETE', 'USAGE']) {
    const [, grant = ''] = /lacks the right .*: run (GRANT .*) as the owner/.exec(await refusal(url)) ?? [];
    assert.match(grant, new RegExp(`^GRANT ${right} `));
    await executeIn('shared', grant);
  }
  // A migration may add a table later.
  await executeIn('shared', 'REVOKE INSERT ON pets FROM guest', 'REVOKE UPDATE, DELETE ON audit FROM guest');
  assert.match(await refusal(url), /lacks the right INSERT on pets/);
  await executeIn('shared', 'GRANT INSERT ON pets TO guest');
  const service = await startServiceProcess(t, { DATABASE_URL: url, PORT: '0' });
  const answer = await fetch(`${service.url}/v1/pets`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: '{"name":"Rex","categoryId":7}',
  });
  assert.equal(answer.status, 201);
});

test('a Unix socket is found by a parameter, or percent-encoded as the host', async () => {
  const { port } = server;
  await execute('CREATE DATABASE local');
  for (const url of [
    `postgres://postgres@/local?host=${sockets}&port=${port}`,
    `postgres://postgres@${encodeURIComponent(sockets)}:${port}/local`,
  ]) {
    const { code, stderr } = await run(['migrate'], { DATABASE_URL: url });
    assert.equal(code, 0, stderr);
  }
});

test('a database of a newer petstore is refused and left unchanged; exit 1', async () => {
  await execute('CREATE DATABASE newer');
  const url = address({ database: 'newer' });
  assert.equal((await run(['migrate'], { DATABASE_URL: url })).code, 0);
  await executeIn('newer', 'INSERT INTO petstore_schema VALUES (9999)');
  assert.match(await refusal(url), /newer version of petstore/);
});

test('a database of another program is refused and left unchanged; exit 1', async () => {
  await execute('CREATE DATABASE songs');
  await executeIn('songs', 'CREATE TABLE accounts (title text)');
  assert.match(await refusal(address({ database: 'songs' })), /"accounts" already exists/);
  await assert.rejects(executeIn('songs', 'SELECT FROM pets'), /does not exist/);
});

test('a database that cannot store every name is refused; exit 1', async () => {
  await execute(`CREATE DATABASE ascii TEMPLATE template0 ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C'`);
  assert.match(await refusal(address({ database: 'ascii' })), /UTF8, not SQL_ASCII/);
});

test('a read-only database is refused; exit 1', async () => {
  await execute('CREATE DATABASE frozen', 'ALTER DATABASE frozen SET default_transaction_read_only = on');
  assert.match(await refusal(address({ database: 'frozen' })), /read-only/);
});

test('a server that answers before a commit is on disk is refused; exit 1', async () => {
  await execute('CREATE DATABASE hasty', 'ALTER DATABASE hasty SET synchronous_commit = off');
  assert.match(await refusal(address({ database: 'hasty' })), /synchronous_commit/);
});

test('a start waits while the server still closes the session of the service before', async (t) => {
  await execute('CREATE DATABASE resumed');
  const url = address({ database: 'resumed' });
  const [before, watch] = [new Client({ connectionString: url }), new Client({ connectionString: url })];
  for (const client of [before, watch]) await client.connect();
  t.after(() => watch.end());
  await before.query(`SELECT pg_advisory_lock(hashtext('petstore production'))`);
  const started = startServiceProcess(t, { DATABASE_URL: url, PORT: '0' });
  const waiting = `SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`;
  while ((await watch.query(waiting)).rowCount === 0);
  await before.end();
  await started;
});

test('a second service that counts by itself on one database is refused; exit 1', async (t) => {
  await execute('CREATE DATABASE counted');
  const url = address({ database: 'counted' });
  await startServiceProcess(t, { DATABASE_URL: url, PORT: '0' });
  assert.match(await refusal(url), /already serves production.*REDIS_URL/);
});

test('a server older than PostgreSQL 15 is refused, with both versions', () => {
  assert.equal(unfitness([15_00_00, 'UTF8', false, 'on']), undefined);
  assert.equal(unfitness([18_00_01, 'UTF8', false, 'remote_apply']), undefined);
  const fault = 'PostgreSQL 15 or later is needed, and this server is 14.';
  assert.equal(unfitness([14_00_22, 'UTF8', false, 'on']), fault);
});
