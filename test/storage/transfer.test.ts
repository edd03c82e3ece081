// Contract: sections 2 and 8.
import { addKey, CLIENT, createAccount } from '../support/store.ts';
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { type Environment, ENVIRONMENTS } from '../../src/domain/api-key.ts';
import { INT64_MAX, INT64_MIN } from '../../src/domain/int64.ts';
import type { NewPet, Pet } from '../../src/resources/pets/schema.ts';
import { PLANS } from '../../src/domain/plan.ts';
import type { Value } from '../../src/storage/sql.ts';
import { type Store, TABLES } from '../../src/resources/repositories.ts';
import { copyTables } from '../../src/storage/transfer.ts';
import type { AnyTable } from '../../src/storage/table.ts';
import { addPets, newKey, requireValue, REX } from './fixture.ts';
import { postgresFixture } from './postgres-fixture.ts';
import { sqliteFixture } from './sqlite-fixture.ts';
import { allRows, readSnapshot, transferContract } from './transfer-contract.ts';
import { test } from '../support/test.ts';

transferContract('SQLite', (t) => sqliteFixture(t));
transferContract('PostgreSQL', (t) => postgresFixture(t));

const QUIET = { onProgress: () => undefined, beforeCommit: async () => undefined };

const copy = (from: Store, to: Store) => copyTables(TABLES, from.database, to.database, QUIET);

const AVAILABLE: NewPet = { ...REX, status: 'available' };

type TableRow = readonly Value[];

const tableOf = (name: string) => {
  const table = TABLES.find((each) => each.name === name);
  assert.ok(table);
  return table;
};

/** Rows of every shape. */
const CHOSEN: Readonly<Record<string, readonly TableRow[]>> = {
  accounts: [
    [2n, 'shop', 'pro', null, null, 1_700_000_000_000n, null, null, null],
    [3n, 'O\'Brien "& söhne" \\', 'enterprise', 1n, INT64_MAX, 0n, "o'brien", 7n, 'Ask for\tAda.'],
  ],
  keys: [
    [1n, 2n, 'aa', 'production', null, 'pets:read pets:write', 1n, null, null, null, null, null],
    [4n, 3n, 'bb', 'staging', 'NULL', 'pets:read', 1n, 2n, 3n, 4n, '0aZ9', 5n],
  ],
  pets: [
    [1n, 'null', INT64_MIN, null, 1n, 0n, null, null, null, null, null, null, null],
    [
      2n,
      '{"a", \\N}\t\r\n',
      INT64_MAX,
      'available',
      2n,
      3n,
      1_700_000_000_000n,
      'key:4',
      2n,
      '{"color":"\\n"}',
      'A\\N',
      'x',
      2n,
    ],
    [
      3n,
      '  🐕‍🦺 ﷺ e\u0301 \u{10ffff} ',
      0n,
      'pending',
      3n,
      2n,
      5n,
      "system:O'Brien:1",
      2n,
      null,
      null,
      null,
      null,
    ],
    [
      INT64_MAX - 1n,
      'x'.repeat(200),
      -1n,
      'sold',
      4n,
      9_007_199_254_740_991n,
      null,
      null,
      null,
      null,
      null,
      'x',
      4n,
    ],
  ],
  idempotency: [
    [2n, 'sha256 !~"\\', 'cc', 201n, '/pets/1', '{"name":"\\u0001\\"🐕"}', 5n],
    [2n, 'sha256 ~', 'dd', 200n, null, '', 6n],
  ],
  categories: [
    [1n, 'Élans "und" \\ \t🐕', null, 'élans', 1n],
    [INT64_MAX - 1n, 'NULL', '', 'null', 2n],
  ],
  orders: [
    [1n, 2n, 1n, 1n, null, 'pending', 1n, 2n, null, 1n],
    [2n, 3n, 1n, 1n, INT64_MIN, 'complete', 1n, INT64_MAX, INT64_MAX, 2n],
    [3n, 3n, INT64_MAX, 1n, 0n, 'cancelled', 0n, 0n, null, 3n],
    [INT64_MAX - 1n, 2n, 3n, 1n, 5n, 'expired', -1n, 1n, null, 4n],
  ],
  usage: ENVIRONMENTS.toSorted().map((of: Environment): TableRow => [of, 'account 2', 1n, 2n, 3n, 4n]),
  standings: [
    [1n, 'production', '[1,2]', null, null, 0n],
    [4n, 'staging', '[]', 9_999_999_999_999n, 3n, 1n],
  ],
  operators: [
    [1n, 'Ada', 'ada', 'admin', 5n, 7n],
    [3n, 'Bob 🐕', 'bob 🐕', 'viewer', 6n, null],
  ],
  operator_secrets: [
    [1n, 1n, 'token', 'aa', 1n, null, null],
    [4n, 3n, 'session', 'bb', 2n, INT64_MAX, 2n],
  ],
  passkeys: [
    [2n, 1n, 'laptop 🐕', 'aa', 'bb', 0n, 1n, null],
    [3n, 3n, 'key', 'cc', 'dd', 4_294_967_295n, 1n, INT64_MAX],
  ],
  audit: [
    [1n, 7n, 'system', 'root', null, 'keys create', 'key', '1', null, null, null],
    [3n, 8n, 'operator', 'Ada', '::1', 'accounts set', 'account', 'shop', 2n, '{"plan":"pro"}', '{}'],
  ],
};

/** Two rows that follow from the columns, for a table whose columns need no special values. */
const rowsOf = ({ columns }: AnyTable): readonly TableRow[] =>
  [1n, 2n].map((number) =>
    columns.map(([, type]) => {
      if (type.endsWith('?') && number === 1n) return null;
      return type.startsWith('integer') ? number : `${number} 🐕‍🦺 {"a", \\N}\t`;
    }),
  );

/** Rows of every table. */
const ROWS = Object.fromEntries(TABLES.map((table) => [table.name, CHOSEN[table.name] ?? rowsOf(table)]));

async function fill(store: Store): Promise<void> {
  await store.database.fill(async (target) => {
    for (const [name, rows] of Object.entries(ROWS)) await target.insert(tableOf(name), rows);
    for (const table of TABLES) if (table.assignsIds) await target.continueAfter(table, INT64_MAX - 1n);
  });
}

async function contents(store: Store): Promise<unknown> {
  return readSnapshot(store, async (source) => {
    const tables: Record<string, unknown> = {};
    for (const table of TABLES) tables[table.name] = await allRows(source, table);
    return tables;
  });
}

for (const [direction, newSource, newTarget] of [
  ['SQLite to PostgreSQL', sqliteFixture, postgresFixture],
  ['PostgreSQL to SQLite', postgresFixture, sqliteFixture],
  ['PostgreSQL to PostgreSQL', postgresFixture, postgresFixture],
] as const) {
  test(`${direction}: every value of every table arrives exactly`, async (t) => {
    const { store: source } = await newSource(t);
    const { store: target } = await newTarget(t);
    await fill(source);
    const summaries = await copy(source, target);
    assert.deepEqual(await contents(target), ROWS);
    assert.deepEqual(
      summaries.map(({ name, rows }) => [name, rows]),
      Object.entries(ROWS).map(([name, rows]) => [name, rows.length]),
    );
    const lines = '["production","account 2",1,2,3,4]\n["staging","account 2",1,2,3,4]\n';
    const sha256 = createHash('sha256').update(lines).digest('hex');
    assert.equal(summaries.find(({ name }) => name === 'usage')?.sha256, sha256);
  });

  test(`${direction}: no id that the source assigned is assigned again`, async (t) => {
    const { store: source, deleteOrder } = await newSource(t);
    const { store: target } = await newTarget(t);
    const { id } = await createAccount(source.accounts, 'shop', 'pro', PLANS.pro);
    await addKey(source.keys, newKey(id));
    const [first, second, newest] = await addPets(source.pets, [AVAILABLE, AVAILABLE, REX]);
    await source.pets.delete(CLIENT, newest?.id ?? 0n, undefined);
    const category = async (of: Store, name: string) =>
      requireValue(await of.categories.create(CLIENT, { name })).id;
    const order = async (of: Store, pet: Pet | undefined) =>
      requireValue(await of.orders.create(CLIENT, id, { petId: pet?.id ?? 0n })).id;
    await category(source, 'Dogs');
    const newestCategory = await category(source, 'Cats');
    await source.categories.delete(CLIENT, newestCategory);
    const newestOrder = await order(source, first);
    await deleteOrder(newestOrder);
    await copy(source, target);
    assert.equal(await category(target, 'Cats'), newestCategory + 1n);
    assert.equal(await order(target, second), newestOrder + 1n);
    assert.equal(requireValue(await target.pets.create(CLIENT, REX)).id, (newest?.id ?? 0n) + 1n);
    const account = await createAccount(target.accounts, 'other', 'pro', PLANS.pro);
    assert.equal(account.id, id + 1);
    assert.equal((await addKey(target.keys, newKey(account.id))).id, 2);
  });
}

test('a target with a row in any table is refused and unchanged', async (t) => {
  const { store: source } = await sqliteFixture(t);
  await fill(source);
  for (const name of Object.keys(ROWS)) {
    const { store: target } = await sqliteFixture(t);
    // Keys belong to an account and secrets to an operator, which then is the table that is named.
    const owner = { keys: 'accounts', operator_secrets: 'operators', passkeys: 'operators' }[name];
    const filled = owner === undefined ? [name] : [owner, name];
    await target.database.fill(async (into) => {
      for (const each of filled) await into.insert(tableOf(each), ROWS[each]?.slice(0, 1) ?? []);
    });
    const before = await contents(target);
    const message = `The target is not empty: its table ${filled[0]} has rows. Copy into an empty database.`;
    await assert.rejects(copy(source, target), { code: 'conflict', message });
    assert.deepEqual(await contents(target), before);
  }
});

test('a target that changes values is detected and left empty', async (t) => {
  const { store: source } = await sqliteFixture(t);
  const { store: target, raw } = await postgresFixture(t);
  await fill(source);
  await raw(`
    CREATE FUNCTION spoil() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      NEW.category_id = NEW.category_id + 1; RETURN NEW; END $$;
    CREATE TRIGGER spoil BEFORE INSERT ON pets FOR EACH ROW WHEN (NEW.id = 3) EXECUTE FUNCTION spoil()`);
  await assert.rejects(copy(source, target), {
    message: 'Nothing was copied: the table pets differs from its copy (4 rows were read and 4 are there).',
  });
  const empty = Object.fromEntries(TABLES.map(({ name }) => [name, []]));
  assert.deepEqual(await contents(target), empty);
  await raw('DROP TRIGGER spoil ON pets');
  await copy(source, target);
  assert.deepEqual(await contents(target), ROWS);
});

test('a failure before the commit leaves the target empty', async (t) => {
  const { store: source } = await sqliteFixture(t);
  const { store: target } = await postgresFixture(t);
  await fill(source);
  const beforeCommit = () => Promise.reject(new Error('no counters'));
  await assert.rejects(
    copyTables(TABLES, source.database, target.database, { ...QUIET, beforeCommit }),
    /no counters/,
  );
  assert.deepEqual(await target.pets.get(1n), { error: 'not_found' });
});

test('nobody else can write to the target while a copy fills it', async (t) => {
  const { store: source } = await sqliteFixture(t);
  const { store: target, another } = await postgresFixture(t);
  await fill(source);
  const other = await another();
  const beforeCommit = async () => {
    await assert.rejects(createAccount(other.accounts, 'early', 'pro', PLANS.pro), { code: 'unavailable' });
  };
  await copyTables(TABLES, source.database, target.database, { ...QUIET, beforeCommit });
  assert.deepEqual(await contents(target), ROWS);
});
