import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import type { Lifetime } from './lifetime.ts';
import { freePort, program, runServer, serverFolder, serverUser, type TestServer } from './servers.ts';
import { TEMPORARY } from './temporary.ts';

const POSTGRES = {
  name: 'PostgreSQL',
  folders: ['/usr/lib/postgresql/*/bin', '/usr/local/pgsql/bin'],
  variable: 'TEST_DATABASE_URL',
};

/**
 * A PostgreSQL server of the tests' own, with these settings. Everybody may come in without a password, except where
 * `access`, lines of pg_hba.conf, says otherwise.
 */
export async function startPostgres(
  settings: readonly string[] = [],
  access: readonly string[] = [],
): Promise<TestServer> {
  const initdb = program('initdb', 'postgresql', POSTGRES);
  const user = serverUser();
  const folder = serverFolder('postgres', TEMPORARY, user);
  const port = await freePort();
  const quiet = { stdio: 'ignore', ...user } as const;
  execFileSync(initdb, ['-D', folder, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-sync'], quiet);
  const rules = join(folder, 'pg_hba.conf');
  writeFileSync(rules, [...access, readFileSync(rules, 'utf8')].join('\n'));
  return runPostgres(folder, port, settings);
}

/** A standby that follows `primary`. It is stopped after the test. */
export async function startStandby(t: Lifetime, primary: TestServer): Promise<TestServer> {
  const user = serverUser();
  const folder = serverFolder('standby', TEMPORARY, user);
  const from = ['-d', `host=127.0.0.1 port=${primary.port} user=postgres`];
  const how = ['--write-recovery-conf', '--checkpoint=fast', '--no-sync'];
  const command = program('pg_basebackup', 'postgresql', POSTGRES);
  execFileSync(command, [...from, '-D', folder, ...how], { stdio: 'ignore', ...user });
  const standby = await runPostgres(folder, await freePort(), []);
  t.after(() => standby.stop());
  return standby;
}

function runPostgres(folder: string, port: number, settings: readonly string[]): Promise<TestServer> {
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  const user = serverUser();
  const options = [
    `port=${port}`,
    'listen_addresses=127.0.0.1',
    `unix_socket_directories=${folder}`,
    ...settings,
  ];
  return runServer({
    port,
    url,
    folder,
    command: program('postgres', 'postgresql', POSTGRES),
    args: ['-D', folder, ...options.flatMap((option) => ['-c', option])],
    ...(user && { user }),
    ready: () => answers(url),
  });
}

async function answers(url: string): Promise<void> {
  for (let tries = 0; ; tries++) {
    const client = new Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
    client.on('error', () => undefined);
    try {
      await client.connect();
      await client.query('SELECT 1');
      return;
    } catch (error) {
      if (tries > 500) throw error;
      await new Promise((resolve) => setTimeout(resolve, 20));
    } finally {
      await client.end().catch(() => undefined);
    }
  }
}

let shared: Promise<TestServer> | undefined;
let databases = 0;

/**
 * A new database, empty or a copy of `template`, on the server of TEST_DATABASE_URL or on one that all tests of this file
 * share.
 */
export async function temporaryPostgres(t: Lifetime, template = 'template0'): Promise<string> {
  const server = process.env['TEST_DATABASE_URL'] ?? (await (shared ??= startSharedPostgres())).url;
  const name = `petstore_test_${process.pid}_${databases++}`;
  const admin = new Client({ connectionString: server });
  t.after(async () => {
    await admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    await admin.end();
  });
  await admin.connect();
  await admin.query(`CREATE DATABASE ${name} TEMPLATE ${template} ENCODING 'UTF8' STRATEGY FILE_COPY`);
  const url = new URL(server);
  url.pathname = name;
  return url.href;
}

/** Waits for a connection and for a statement, in milliseconds, that a busy machine does not reach. */
export const PATIENT_POOL = { connectTimeout: 120_000, statementTimeout: 120_000 };

/** A server for many tests, which ends with this process. Nothing on it needs to outlast them. */
export async function startSharedPostgres(): Promise<TestServer> {
  const server = await startPostgres(['fsync=off', 'max_connections=400']);
  server.child().unref();
  return server;
}

/**
 * Resolves once `count` other connections wait for locks of this one. It reads `pg_locks`, because a transaction sees
 * `pg_stat_activity` as it was when it first looked.
 */
export async function waitForBlocked(client: Client, count: number): Promise<void> {
  const blocked = 'SELECT FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid))';
  while (((await client.query(blocked)).rowCount ?? 0) < count);
}

/** Runs one statement, on a connection of its own. */
export async function ask({ url }: TestServer, statement: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(statement);
  await client.end();
}
