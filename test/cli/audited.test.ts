// Contract: sections 8 and 10.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { TestContext } from 'node:test';
import { Client } from 'pg';
import { DAY } from '../../src/domain/clock.ts';
import { INVENTED_CATEGORIES } from '../../src/cli/invented-pets.ts';
import { DATABASES, onPostgres, rowsText, storeOf } from '../support/databases.ts';
import { run, runJson, start, type Variables } from '../support/process.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { test } from '../support/test.ts';
import { newKey } from './prepared.ts';
import type { Store } from '../../src/resources/repositories.ts';
import { CLIENT } from '../support/store.ts';

interface Entry {
  readonly action: string;
  readonly actor: { readonly kind: string };
  readonly target: { readonly kind: string; readonly name: string };
  readonly account: string | null;
  readonly before: Readonly<Record<string, unknown>> | null;
  readonly after: Readonly<Record<string, unknown>> | null;
}

/** Runs SQL past the code of the service. */
async function sql({ DATABASE_URL: url = '' }: Variables, text: string): Promise<void> {
  if (url.startsWith('sqlite:')) {
    const db = new DatabaseSync(url.replace('sqlite:', ''));
    try {
      return db.exec(text);
    } finally {
      db.close();
    }
  }
  const client = new Client(url);
  await client.connect();
  try {
    await client.query(text);
  } finally {
    await client.end();
  }
}

/** Lets no entry be added to the audit log. */
const BLOCK = {
  SQLite: `CREATE TRIGGER blocked BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'blocked'); END`,
  PostgreSQL: 'CREATE TRIGGER blocked BEFORE INSERT ON audit EXECUTE FUNCTION audit_is_append_only()',
};

/** A database with an account, a key that is banned, an animal and an order of it. */
async function prepared(t: TestContext, variables: Variables): Promise<Store> {
  const store = await storeOf(t, variables);
  await newKey(store);
  await store.pets.create(CLIENT, { name: 'Rex', categoryId: 7n, status: 'available' });
  await store.pets.create(CLIENT, { name: 'Bo', categoryId: 7n });
  await store.pets.create(CLIENT, { name: 'Mia', categoryId: 7n, status: 'available' });
  for (const petId of [1n, 3n]) await store.orders.create(CLIENT, 1, { petId });
  const ban = { until: Date.now() + 3_600_000, count: 2 };
  await store.limits.writeBanRecords(new Map([[1, { refusals: [], ban }]]));
  return store;
}

/** Commands that change something, with a file of animals, and what their entries are. */
const CHANGES = (file: string): readonly (readonly [command: string, ...entries: string[]])[] => [
  ['bans lift 1', 'bans lift: ban 1'],
  ['orders cancel 1', 'orders cancel: order 1'],
  ['categories create Dogs', 'categories create: category Dogs'],
  ['categories set Dogs --name Hounds', 'categories set: category Dogs'],
  ['categories set Hounds --name Dogs', 'categories set: category Hounds'],
  ['pets set 2 --name Max', 'pets set: pet 2'],
  ['pets delete 2', 'pets delete: pet 2'],
  ['pets assign --account shop 1', 'pets assign: pets 1'],
  ['pets assign --house --all', 'pets assign start: pets all', 'pets assign end: pets all'],
  ['orders complete 2', 'orders complete: order 2'],
  [
    `import ${file} --map categoryId=kind`,
    `import start: pets ${file}`,
    'categories create: category Cats',
    `import end: pets ${file}`,
  ],
  [`import ${file} --map categoryId=kind --atomic`, `import: pets ${file}`],
  ['seed 5 --random-seed 1', ...SEEDED],
  ['operators create ada --role admin', 'operators create: operator ada'],
  ['operators token ada', 'operators token: operator ada'],
  ['console', 'operators link: operator ada'],
  ['operators remove ada', 'operators remove: operator ada'],
  ['accounts create other', 'accounts create: account other'],
  ['accounts set shop --plan pro', 'accounts set: account shop'],
  ['accounts suspend shop', 'accounts suspend: account shop'],
  ['accounts resume shop', 'accounts resume: account shop'],
  ['accounts rename other another', 'accounts rename: account other'],
  ['keys create --account shop', 'keys create: key 2'],
  ['keys set 2 --scopes pets:read', 'keys set: key 2'],
  ['keys rotate 1', 'keys rotate: key 1'],
  ['keys revoke 2', 'keys revoke: key 2'],
];

const SEEDED = [
  'seed start: pets 5',
  // Cats and Dogs are there.
  ...INVENTED_CATEGORIES.filter((each) => !/Cats|Dogs/.test(each)).map(
    (each) => `categories create: category ${each}`,
  ),
  'seed end: pets 5',
];

/** Commands that change nothing after those, whether they succeed or not. */
const NO_CHANGES = (file: string): readonly string[] => [
  'bans lift 1',
  'orders cancel 1',
  'orders complete 2',
  'pets set 1 --name Rex',
  'pets delete 2',
  'pets assign --house --all',
  'pets assign --house --category 7',
  'pets assign --house 1 3',
  'pets assign --account shop 1 2',
  'categories set Dogs --name Dogs',
  'categories create DOGS',
  `import ${file} --map name=none`,
  `import ${file} --map categoryId=kind --dry-run`,
  'operators remove ada',
  'accounts resume shop',
  'accounts set shop --plan pro',
  'keys set 2 --scopes pets:read',
  'keys set 1 --scopes pets:read,pets:manage',
  'keys revoke 2',
  'export',
];

function animals(t: TestContext): string {
  const file = join(temporaryFolder(t), 'animals.csv');
  writeFileSync(file, 'name,kind\nBo,Cats\nMia,Cats\n');
  return file;
}

for (const [name, prepare] of Object.entries(DATABASES)) {
  test(`${name}: each change by a command adds its entries once, and others add none`, async (t) => {
    const variables = await prepare(t);
    const store = await prepared(t, variables);
    const file = animals(t);
    let last = (await store.audit.list({ limit: 1 })).items[0]?.id ?? 0;
    const added = async () => {
      const entries = (await store.audit.list({ limit: 100 })).items.filter(({ id }) => id > last);
      last = entries[0]?.id ?? last;
      return entries.toReversed();
    };
    for (const [command, ...expected] of CHANGES(file)) {
      const { code, stderr } = await run(command.split(' '), variables);
      assert.equal(code, 0, `${command}: ${stderr}`);
      const entries = await added();
      assert.deepEqual(
        entries.map(({ action, target }) => `${action}: ${target.kind} ${target.name}`),
        expected,
        command,
      );
      for (const { actor } of entries) assert.equal(actor.kind, 'system');
    }
    await Promise.all(NO_CHANGES(file).map((command) => run(command.split(' '), variables)));
    assert.deepEqual(await added(), []);
    const all = await runJson<readonly Entry[]>(['audit'], variables);
    const of = (action: string) => all.find((entry) => entry.action === action);
    assert.match(String(of('bans lift')?.before?.['until']), /^\d{4}-.*Z$/);
    assert.deepEqual([of('bans lift')?.before?.['count'], of('bans lift')?.account], [2, 'shop']);
    const { account, before, after } = of('orders cancel') ?? {};
    assert.deepEqual([account, before, after], ['shop', { status: 'pending' }, { status: 'cancelled' }]);
    assert.deepEqual(of('import end')?.after, { animals: 2, refused: 0 });
    assert.deepEqual(of('import')?.after, { animals: 2 });
    assert.deepEqual(of('seed end')?.after, { animals: 5, orders: 0, requests: 0, randomSeed: 1 });
    assert.match(String(of('keys revoke')?.after?.['revokedAt']), /^\d{4}-.*Z$/);
  });

  test(`${name}: a change whose entry cannot be added is not made`, async (t) => {
    const variables = await prepare(t);
    const store = await prepared(t, variables);
    const file = animals(t);
    await run(['operators', 'create', 'ada', '--role', 'viewer'], variables);
    await run(['accounts', 'create', 'other'], variables);
    await sql(variables, BLOCK[name as keyof typeof BLOCK]);
    const before = await rowsText(store);
    const blocked = CHANGES(file)
      .map(([command]) => command)
      .filter((command) =>
        /^(bans|orders|categories|import|console|operators token|accounts set|pets assign --account)/.test(
          command,
        ),
      );
    for (const command of [
      ...blocked,
      `import ${file} --map categoryId=kind:Cats=1`,
      'keys revoke 1',
      'keys set 1 --scopes pets:read',
      'pets assign --account shop --all',
      'seed 5',
      'operators remove ada',
    ]) {
      const { code } = await run(command.split(' '), variables);
      assert.equal(code, 1, command);
      assert.equal(await rowsText(store), before, command);
    }
  });

  test(`${name}: a service and a command can add entries, but not change them`, async (t) => {
    const variables = await prepare(t);
    const store = await prepared(t, variables);
    const target = { kind: 'webhook', name: '1' };
    await store.audit.add({ kind: 'key', id: 1 }, { action: 'webhooks update', target });
    // Nothing is that old.
    await store.audit.prune(400 * DAY);
    const before = (await store.audit.list({ limit: 100 })).items;
    assert.equal(before.length, 3);
    for (const text of [
      "UPDATE audit SET actor = 'Eve'",
      'DELETE FROM audit',
      'DELETE FROM audit WHERE id = 1',
      "DELETE FROM audit WHERE actor_kind = 'key'",
    ])
      await assert.rejects(sql(variables, text), /append-only/);
    if (name === 'PostgreSQL') await assert.rejects(sql(variables, 'TRUNCATE audit'), /append-only/);
    assert.deepEqual((await store.audit.list({ limit: 100 })).items, before);
  });

  test(`${name}: an import that is killed has a start without an end in the audit log`, async (t) => {
    const variables = await prepare(t);
    const store = await storeOf(t, variables);
    const { child, ended } = start(['import', '-'], variables);
    child.stdin?.write(`name,categoryId\n${'Rex,1\n'.repeat(1_500)}`);
    while ((await store.pets.list({ limit: 1 })).items === '[]') await new Promise(setImmediate);
    child.kill('SIGKILL');
    await ended;
    const entries = (await store.audit.list({ limit: 100 })).items;
    assert.deepEqual(
      entries.map(({ action, target }) => [action, target.name]),
      [['import start', '-']],
    );
  });
}

test('a command works with a role that may only read and add entries of the audit log', async (t) => {
  const variables = await onPostgres(t);
  const url = new URL(variables['DATABASE_URL'] ?? '');
  url.username = `auditor_${url.pathname.slice(1)}`;
  await sql(
    variables,
    `CREATE ROLE ${url.username} LOGIN;
     GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ${url.username};
     GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO ${url.username};
     REVOKE UPDATE, DELETE, TRUNCATE ON audit FROM ${url.username}`,
  );
  // Its database is gone by then, and its rights with it.
  const server = { DATABASE_URL: new URL('/postgres', variables['DATABASE_URL']).href };
  t.after(() => sql(server, `DROP ROLE ${url.username}`));
  const restricted = { ...variables, DATABASE_URL: url.href };
  await runJson(['operators', 'create', 'ada', '--role', 'admin'], restricted);
  await runJson(['operators', 'remove', 'ada'], restricted);
  assert.equal((await runJson<readonly Entry[]>(['audit'], restricted)).length, 2);
  const trigger = 'ALTER TABLE audit DISABLE TRIGGER ALL';
  for (const text of ['DELETE FROM audit', "UPDATE audit SET actor = 'Eve'", trigger])
    await assert.rejects(sql(restricted, text), /permission denied|must be owner/);
});
