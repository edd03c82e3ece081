// Contract: section 7.
import assert from 'node:assert/strict';
import { chmod, mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { once } from 'node:events';
import { spawn } from 'node:child_process';
import {
  PROGRAM,
  run,
  runBoundByModes,
  runProcess,
  startServiceProcess,
  temporaryEnvironment,
} from '../support/process.ts';
import { newDatabase } from '../support/new-database.ts';
import { freePort } from '../support/servers.ts';
import { temporaryFolder } from '../support/temporary.ts';

/** Runs `serve` where it must refuse: its one line on standard error, and its exit code. */
async function refusal(env: Record<string, string>): Promise<{ code: number | null; line: string }> {
  const { code, stdout, stderr } = await runProcess(['serve'], { PORT: '0', ...env });
  assert.equal(stdout, '');
  assert.match(stderr, /^petstore: [^\n]+\n$/);
  return { code, line: stderr };
}

async function databaseIn(
  t: TestContext,
  make: (file: string) => unknown,
): Promise<{ file: string; env: Record<string, string> }> {
  const file = join(temporaryFolder(t), 'petstore.db');
  await make(file);
  return { file, env: { DATABASE_URL: `sqlite:${file}` } };
}

test('a port in use gives one line that names it and its variable, nothing before it, and exit 1', async (t) => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const { code, line } = await refusal({ ...temporaryEnvironment(t), PORT: String(port), CONSOLE_PORT: '0' });
  assert.equal(code, 1);
  assert.equal(
    line,
    `petstore: Cannot listen on 127.0.0.1:${port}: the port is in use: set PORT to another one.\n`,
  );
});

test('each invalid variable gives one line; exit 2, and nothing is created', async (t) => {
  const folder = temporaryFolder(t);
  const env = {
    DATABASE_URL: `sqlite:${join(folder, 'petstore.db')}`,
    PORT: 'http',
    BAN_AFTER: '0',
    LOG_LEVEL: 'loud',
  };
  const { code, stderr } = await runProcess(['serve'], env);
  assert.equal(code, 2);
  assert.deepEqual(
    stderr
      .match(/^petstore: [A-Z_]+ must .*$/gm)
      ?.map((line) => line.split(' ')[1])
      .toSorted(),
    ['BAN_AFTER', 'LOG_LEVEL', 'PORT'],
  );
  assert.deepEqual(await readdir(folder), []);
});

// A mistyped path must not start an empty catalogue.
test('a missing data folder is refused with exit 1', async (t) => {
  const folder = temporaryFolder(t);
  const { code, line } = await refusal({ DATABASE_URL: `sqlite:${join(folder, 'data', 'petstore.db')}` });
  assert.equal(code, 1);
  assert.match(line, /data.* does not exist/);
  assert.deepEqual(await readdir(folder), []);
});

test('an unwritable data folder is refused with exit 1', async (t) => {
  const { env } = await databaseIn(t, async (file) => {
    // Root may write to any folder, but nobody into a file.
    await writeFile(join(file, '..', 'data'), '');
  });
  const { code, line } = await refusal({
    DATABASE_URL: env['DATABASE_URL']?.replace('petstore.db', 'data/petstore.db') ?? '',
  });
  assert.equal(code, 1);
  assert.match(line, /cannot be opened|does not exist/);
});

for (const [what, unwritable] of Object.entries({
  'a database': 'petstore.db',
  'the folder of a database': '',
  'the log of a database': 'petstore.db-wal',
  'the index of that log': 'petstore.db-shm',
  'the lock of a database': 'petstore.db.production.lock',
}))
  test(`${what} that may only be read is refused in a line that names it and says what to do; exit 1`, async (t) => {
    const { env, file } = await databaseIn(t, async (path) => {
      newDatabase(path);
      // What a crash leaves.
      const service = await startServiceProcess(t, { DATABASE_URL: `sqlite:${path}`, PORT: '0' });
      await run(['migrate'], { DATABASE_URL: `sqlite:${path}` });
      service.child.kill('SIGKILL');
      await service.ended;
    });
    const path = join(file, '..', unwritable);
    const { mode } = await stat(path);
    await chmod(path, mode & 0o555);
    const refused = await runBoundByModes(['serve'], { ...env, PORT: '0' });
    await chmod(path, mode);
    assert.deepEqual(refused, {
      code: 1,
      stdout: '',
      stderr: `petstore: The database cannot be written, because of ${path.replace(/\/$/, '')}: permission denied; give it to the user that runs petstore, for example with chown.\n`,
    });
    const service = await startServiceProcess(t, { ...env, PORT: '0' });
    assert.equal((await fetch(`${service.url}/readyz`)).status, 200);
  });

test('commands read a database that may only be read, and refuse to write to it in one line', async (t) => {
  const { env, file } = await databaseIn(t, (path) => run(['seed', '3'], { DATABASE_URL: `sqlite:${path}` }));
  newDatabase(`${file}.other`);
  await chmod(file, 0o444);
  assert.equal((await runBoundByModes(['export'], env)).stdout.split('\n').length, 4);
  for (const args of [
    ['seed', '1'],
    ['restore', file],
    ['copy', '--from', `sqlite:${file}.other`, '--to', `sqlite:${file}`],
  ]) {
    const { code, stderr } = await runBoundByModes(args, env);
    assert.equal(code, 1);
    assert.match(
      stderr,
      /^petstore: The database cannot be written, because of [^\n]*petstore\.db: permission denied; [^\n]*\n$/,
    );
  }
});

test('a file that is no database is left unchanged and refused with exit 1', async (t) => {
  const { env, file } = await databaseIn(t, (path) => writeFile(path, 'Dear diary, '.repeat(1_000)));
  const { code, line } = await refusal(env);
  assert.equal(code, 1);
  assert.match(line, /not a SQLite database/);
  assert.deepEqual((await readdir(join(file, '..'))).toSorted(), ['petstore.db']);
});

test('a database of another program or a newer schema is refused and left unchanged', async (t) => {
  const foreign = await databaseIn(t, (path) => {
    const db = new DatabaseSync(path);
    db.exec('CREATE TABLE songs (title TEXT)');
    db.close();
  });
  assert.match((await refusal(foreign.env)).line, /another program/);
  const newer = await databaseIn(t, async (path) => {
    await run(['migrate'], { DATABASE_URL: `sqlite:${path}` });
    const db = new DatabaseSync(path);
    db.exec('PRAGMA user_version = 9999');
    db.close();
  });
  const { code, line } = await refusal(newer.env);
  assert.equal(code, 1);
  assert.match(line, /newer version of petstore/);
});

test('a second service on the same database and environment exits 1', async (t) => {
  const env = temporaryEnvironment(t);
  await startServiceProcess(t, env);
  const { code, line } = await refusal(env);
  assert.equal(code, 1);
  assert.match(line, /already serves production/);
});

for (const [what, versions] of Object.entries({
  'Node.js': { node: '20.20.2' },
  SQLite: { sqlite: '3.51.2' },
})) {
  test(`an old ${what} is refused in one sentence that says what to do`, async () => {
    const pretend = `Object.defineProperty(process, 'versions', { value: { ...process.versions, ...${JSON.stringify(versions)} } })`;
    const child = spawn(process.execPath, [
      '--import',
      `data:text/javascript,${encodeURIComponent(pretend)}`,
      PROGRAM,
      'serve',
    ]);
    let stderr = '';
    child.stderr.on('data', (chunk: Buffer) => {
      stderr += chunk.toString();
    });
    const [code] = (await once(child, 'close')) as [number];
    assert.equal(code, 1);
    assert.match(stderr, new RegExp(`^petstore needs ${what} [^\\n]*npm ci[^\\n]*\\n$`));
  });
}

test('a working folder that was deleted is named in one line; exit 1', async (t) => {
  const folder = temporaryFolder(t);
  const command = 'mkdir gone && cd gone && rmdir ../gone && exec "$@"';
  for (const [args, env] of [
    [['serve'], { DATABASE_URL: `sqlite:${join(folder, 'petstore.db')}`, PORT: '0' }],
    [['migrate'], {}],
  ] as const) {
    const petstore = [process.execPath, PROGRAM, ...args];
    const child = spawn('sh', ['-c', command, 'sh', ...petstore], { cwd: folder, env });
    let stderr = '';
    child.stderr.on('data', (chunk: Buffer) => {
      stderr += chunk.toString();
    });
    const [code] = (await once(child, 'close')) as [number];
    assert.deepEqual(
      { code, stderr },
      { code: 1, stderr: 'petstore: The working folder was deleted: change to one that exists.\n' },
    );
  }
});

test('the default database creates the folder data/ in the current folder', async (t) => {
  const folder = temporaryFolder(t);
  await mkdir(folder, { recursive: true });
  await chmod(folder, 0o755);
  const child = spawn(process.execPath, [PROGRAM, 'migrate'], { cwd: folder, env: {} });
  const [code] = (await once(child, 'close')) as [number];
  assert.equal(code, 0);
  assert.ok((await readdir(join(folder, 'data'))).includes('petstore.db'));
});

test('SIGUSR1 opens no debugger, and the service continues', async (t) => {
  const service = await startServiceProcess(t, {
    ...temporaryEnvironment(t),
    NODE_OPTIONS: `--inspect-port=${await freePort()}`,
  });
  service.child.kill('SIGUSR1');
  for (let request = 0; request < 20; request++) {
    assert.equal((await fetch(`${service.url}/healthz`)).status, 200);
  }
  service.child.kill('SIGTERM');
  const { code, stderr } = await service.ended;
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
});
