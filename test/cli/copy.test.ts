// Contract: sections 2, 3 and 8.
import assert from 'node:assert/strict';
import { existsSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { TABLES } from '../../src/resources/repositories.ts';
import { keepAliveClient } from '../support/load.ts';
import { startPostgres, temporaryPostgres } from '../support/postgres.ts';
import {
  run,
  runJson,
  start,
  startServiceProcess,
  temporaryEnvironment,
  type Variables,
} from '../support/process.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { test } from '../support/test.ts';

interface Report {
  readonly tables: readonly { readonly name: string; readonly rows: number; readonly sha256: string }[];
}

const PLENTY = ['--plan', 'enterprise', '--per-minute', '1000000000', '--per-day', '1000000000'];

async function query(url: string, sql: string): Promise<any[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

const copy = (from: Variables, to: string, ...rest: string[]) =>
  ['copy', '--from', from['DATABASE_URL'] ?? '', '--to', to, ...rest] as const;

test('a copy made while animals are created holds the catalogue of one instant', async (t) => {
  const source = temporaryEnvironment(t);
  const { key } = await runJson<{ key: string }>(['keys', 'create', '--account', 'shop', ...PLENTY], source);
  await run(['seed', '3000'], source);
  const service = await startServiceProcess(t, source);
  const to = await temporaryPostgres(t);
  const client = keepAliveClient(service.url, key, 8);
  t.after(() => client.close());
  const seen = { answered: 3_000, copied: false };
  const create = async (creator: number) => {
    for (let n = 0; !seen.copied; n++) {
      const headers = { 'idempotency-key': `${creator}-${n}` };
      assert.equal((await client.send('/v1/pets', '{"name":"new","categoryId":1}', headers)).status, 201);
      seen.answered++;
    }
  };
  const creating = Promise.all(Array.from({ length: 8 }, (_, creator) => create(creator)));
  while (seen.answered < 3_100) await new Promise(setImmediate);
  const sure = seen.answered;
  const { tables } = await runJson<Report>(copy(source, to), {}).finally(() => {
    seen.copied = true;
  });
  await creating;
  const count = tables.find((table) => table.name === 'pets')?.rows ?? 0;
  assert.ok(count >= sure && count <= seen.answered, `${sure} ${count} ${seen.answered}`);
  const [found] = await query(
    to,
    `SELECT count(*)::int, max(id)::int, (SELECT count(*)::int FROM idempotency) AS recorded,
       (SELECT count(*)::int FROM idempotency JOIN pets ON location = '/pets/' || id AND name = 'new') AS replayable FROM pets`,
  );
  assert.deepEqual(found, { count, max: count, recorded: count - 3_000, replayable: count - 3_000 });
});

/** Makes statements that add animals after the first 5,000 last a while, so that a copy can be met there; true when one is. */
async function slowDown(to: string): Promise<() => Promise<boolean>> {
  await run(['migrate'], { DATABASE_URL: to });
  await query(
    to,
    `CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
       IF (SELECT count(*) FROM pets) > 5000 THEN PERFORM pg_sleep(0.2); END IF; RETURN NULL; END $$;
     CREATE TRIGGER slow AFTER INSERT ON pets FOR EACH STATEMENT EXECUTE FUNCTION slow()`,
  );
  const sleeping = `SELECT FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()`;
  return async () => (await query(to, sleeping)).length > 0;
}

test('a copy that is killed half way leaves nothing behind and can be repeated', async (t) => {
  const source = temporaryEnvironment(t);
  await run(['seed', '10000'], source);
  const to = await temporaryPostgres(t);
  const halfWay = await slowDown(to);
  const { child, ended } = start(copy(source, to), {});
  while (!(await halfWay()));
  child.kill('SIGKILL');
  assert.equal((await ended).code, null);
  // This waits for what the server still works on.
  await query(to, 'DROP TRIGGER slow ON pets');
  assert.equal((await run(['export'], { DATABASE_URL: to })).stdout, '');
  const { tables } = await runJson<Report>(copy(source, to), {});
  assert.equal(tables.find((table) => table.name === 'pets')?.rows, 10_000);
  const [before, after] = await Promise.all(
    [source, { DATABASE_URL: to }].map((variables) => run(['export'], variables)),
  );
  assert.equal(after?.stdout, before?.stdout);
});

test('a server that is lost half way gives one clear line and exit 1', async (t) => {
  const source = temporaryEnvironment(t);
  await run(['seed', '10000'], source);
  const server = await startPostgres(['fsync=off']);
  t.after(() => server.stop());
  const halfWay = await slowDown(server.url);
  const { ended } = start(copy(source, server.url), {});
  while (!(await halfWay()));
  await server.kill();
  const { code, stdout, stderr } = await ended;
  assert.match(stderr, /^petstore: The catalogue cannot answer now; try again later\. \(.+\)\n$/);
  assert.deepEqual([code, stdout], [1, '']);
});

test('the report names every table with its count and checksum', async (t) => {
  const source = temporaryEnvironment(t);
  await run(['import', '-'], source, 'name,categoryId\nRex,1\nBo,1\n');
  const target = await temporaryPostgres(t);
  const { code, stdout, stderr } = await run(copy(source, target), {});
  const empty = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
  const width = Math.max(...TABLES.map(({ name }) => name.length));
  assert.deepEqual([code, stderr], [0, '']);
  assert.deepEqual(stdout.replaceAll(/(  2 +)[\da-f]{64}\n/g, '$1…\n').split('\n'), [
    `${'TABLE'.padEnd(width)}  ROWS  SHA-256`,
    ...TABLES.map(
      ({ name }) =>
        `${name.padEnd(width)}  ${/^(pets|audit|events)$/.test(name) ? '2     …' : `0     ${empty}`}`,
    ),
    '',
  ]);
  // The copy has the entries of the source, and one of its own.
  const [entry, ...copied] = await runJson<readonly object[]>(['audit'], { DATABASE_URL: target });
  assert.deepEqual(copied, await runJson(['audit'], source));
  const made = { action: 'copy', target: { kind: 'database', name: source['DATABASE_URL'] }, after: null };
  assert.deepEqual(entry, { ...entry, ...made, id: 3 });
});

test('categories and orders reach the other database and come back the same', async (t) => {
  const source = temporaryEnvironment(t);
  await run(['seed', '200', '--random-seed', '7', '--orders', '50'], source);
  const there = { DATABASE_URL: await temporaryPostgres(t) };
  const back = { DATABASE_URL: `sqlite:${join(temporaryFolder(t), 'back.db')}` };
  await runJson(copy(source, there.DATABASE_URL), {});
  await runJson(copy(there, back.DATABASE_URL), {});
  for (const what of ['pets', 'categories', 'orders']) {
    const [first, second, third] = await Promise.all(
      [source, there, back].map((variables) => run(['export', '--what', what], variables)),
    );
    assert.notEqual(first?.stdout, '');
    assert.deepEqual(second, first);
    assert.deepEqual(third, first);
  }
  for (const variables of [there, back]) {
    assert.equal((await runJson<{ id: number }>(['categories', 'create', 'Yaks'], variables)).id, 13);
    await run(['seed', '10', '--random-seed', '7', '--orders', '1'], variables);
    const [newest] = await runJson<readonly { id: number }[]>(['orders', 'list'], variables);
    assert.equal(newest?.id, 51);
  }
});

test('copy creates no source, and says in one line what prevents the copy', async (t) => {
  const folder = temporaryFolder(t);
  const file = (name: string) => join(folder, name);
  const from = { DATABASE_URL: `sqlite:${file('petstore.db')}` };
  const refused = async (to: string, variables: Variables = {}) => {
    const { code, stdout, stderr } = await run(copy(from, to), variables);
    assert.deepEqual([code, stdout], [1, '']);
    return stderr;
  };
  const to = `sqlite:${file('copy.db')}`;
  assert.equal(
    await refused(to),
    `petstore: There is no petstore database at ${file('petstore.db')}: check the address, or make one with petstore migrate.\n`,
  );
  assert.ok(!existsSync(file('petstore.db')) && !existsSync(file('copy.db')));

  await run(['migrate'], from);
  symlinkSync(file('petstore.db'), file('same.db'));
  assert.equal(
    await refused(`sqlite:${file('same.db')}`),
    'petstore: Both addresses lead to the same database.\n',
  );
  assert.match(
    await refused('postgres://petstore:secret@127.0.0.1:1/petstore'),
    /^petstore: The PostgreSQL database cannot be used: (?!.*secret).+\n$/,
  );
  assert.match(
    await refused(to, { REDIS_URL: 'redis://127.0.0.1:1' }),
    /^petstore: The Redis server cannot be used: .+\n$/,
  );
  await run(['seed', '1'], { DATABASE_URL: to });
  assert.equal(
    await refused(to),
    'petstore: The target is not empty: its table audit has rows. Copy into an empty database.\n',
  );
  writeFileSync(file('other.db'), 'precious');
  assert.match(await refused(`sqlite:${file('other.db')}`), /^petstore: .+ it is not a SQLite database\.\n$/);
});

test('an invalid address is wrong use, and its password is not printed', async () => {
  for (const [args, message] of [
    [['--from', 'sqlite:a.db'], "petstore: required option '--to <url>' not specified\n"],
    [
      ['--from', 'sqlite:a.db', '--to', 'mysql://petstore:secret@db/petstore'],
      'petstore: --to must be sqlite:PATH or postgres://…\n',
    ],
    [['--from', 'a.db', '--to', 'sqlite:b.db'], 'petstore: --from must be sqlite:PATH or postgres://…\n'],
  ] as const) {
    assert.deepEqual(await run(['copy', ...args], {}), { code: 2, stdout: '', stderr: message });
  }
});
