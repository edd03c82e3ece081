// Contract: sections 2 and 3. Whatever a row holds, who reads it gets an answer.
import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import { FIRST_INSTANT, LAST_INSTANT } from '../../src/domain/instant.ts';
import { INT64_MAX, INT64_MIN } from '../../src/domain/int64.ts';
import { TABLES } from '../../src/resources/repositories.ts';
import type { Value } from '../../src/storage/sql.ts';
import type { Table } from '../../src/storage/table.ts';
import { type BothApis, startBothApis } from '../support/both-apis.ts';
import { openTestDatabase, type TestDatabase } from '../support/database-copies.ts';
import { exampleRequest } from '../support/ends.ts';
import { lifetimeOfFile } from '../support/lifetime.ts';
import { isTorture } from '../support/rounds.ts';
import { startForFile, test } from '../support/test.ts';

/** The ends of what a column can hold, and what some codec takes no more. */
const ENDS = {
  integer: [
    INT64_MIN,
    INT64_MAX,
    -BigInt(Number.MAX_SAFE_INTEGER),
    BigInt(Number.MAX_SAFE_INTEGER),
    BigInt(FIRST_INSTANT),
    BigInt(LAST_INSTANT),
    -1n,
    0n,
    1n,
  ],
  text: [
    '',
    ' ',
    'x'.repeat(10_000),
    '\u{1f415}'.repeat(1_000),
    '\u202e\u0300\ufeff\u200d\u{10ffff}',
    '"\\\n\t<',
    "'; DROP TABLE pets; --",
    '{}',
    '[]',
    'null',
  ],
} as const;

const MOST_ENDS = Math.max(ENDS.integer.length, ENDS.text.length);

type Codec = Table['codecs'][string];

type Values = Readonly<Record<string, Value>>;

function isLegal(codec: Codec, value: Value): boolean {
  try {
    codec.decode(value as never);
    return true;
  } catch {
    return false;
  }
}

const file = lifetimeOfFile();
const databases = await startForFile(async () => ({
  SQLite: await start(await startBothApis(file, 'SQLite')),
  ...(isTorture && { PostgreSQL: await start(await startBothApis(file, 'PostgreSQL')) }),
}));

/** The last row of each table is none that the requests need. */
async function start(apis: BothApis) {
  await apis.service.issueKey({ account: 'last' });
  await apis.service.makeToken('last');
  const database = openTestDatabase(apis.databaseUrl);
  await database.execute(`
    INSERT INTO passkeys (operator_id, name, credential, public_key, counter, created_at)
    VALUES ((SELECT max(id) FROM operators), 'last', 'aa', 'bb', 0, 1)`);
  return { apis, database };
}

/** Sends every GET with its example, and says which ones are answered with a fault. */
async function readEverything({ public: forClients, admin }: BothApis): Promise<string[]> {
  const faults: string[] = [];
  for (const api of [forClients, admin])
    for (const operation of api.operations) {
      if (operation.method !== 'GET') continue;
      const { status, text } = await api.send(exampleRequest(operation));
      if (status >= 500) faults.push(`${operation.id} answers ${status} ${text}`);
    }
  return faults;
}

const literal = (value: Value) =>
  typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value);

/** The last row of a table, whose columns can be set. */
class LastRow {
  readonly #database: TestDatabase;
  readonly #table: string;
  readonly #where: string;

  constructor(database: TestDatabase, { name, key }: Table) {
    const order = key.map((column) => `${column} DESC`).join(', ');
    this.#database = database;
    this.#table = name;
    this.#where = `(${key.join(', ')}) = (SELECT ${key.join(', ')} FROM ${name} ORDER BY ${order} LIMIT 1)`;
  }

  async read(): Promise<Values | undefined> {
    return (await this.#database.rows<Values>(`SELECT * FROM ${this.#table} WHERE ${this.#where}`))[0];
  }

  async set(values: Values): Promise<void> {
    const set = Object.entries(values).map(([column, value]) => `${column} = ${literal(value)}`);
    await this.#database.execute(`UPDATE ${this.#table} SET ${set.join(', ')} WHERE ${this.#where}`);
  }

  /** False when the schema refuses the values, by a CHECK, a trigger or a unique index. */
  async takes(values: Values): Promise<boolean> {
    try {
      await this.set(values);
      return true;
    } catch {
      return false;
    }
  }
}

for (const [name, { apis, database }] of Object.entries(databases))
  for (const table of TABLES as readonly Table[]) {
    const columns = Object.values(table.codecs)
      .map((codec) => ({ codec, column: codec.column?.split('.').at(-1) ?? '' }))
      .filter(({ column }) => !table.key.includes(column) && !column.endsWith('_id'));

    test(`${name}: whatever its type allows in ${table.name}, all can be read`, async (t) => {
      const row = new LastRow(database, table);
      const before = await row.read();
      if (before === undefined) return;
      const original = Object.fromEntries(columns.map(({ column }) => [column, before[column] ?? null]));
      let taken = 0;
      for (let index = 0; index < MOST_ENDS; index += isTorture ? 1 : 3) {
        const values: Record<string, Value> = {};
        for (const { codec, column } of columns) {
          const legal = ENDS[codec.type].filter((value) => isLegal(codec, value));
          const value: Value | undefined = legal[index % legal.length];
          if (value !== undefined && (await row.takes({ [column]: value }))) values[column] = value;
        }
        taken += Object.keys(values).length;
        const faults = await readEverything(apis);
        assert.deepEqual(faults, [], `${table.name} with ${inspect(values)}`);
        if (Object.keys(values).length > 0) await row.set(original);
      }
      t.diagnostic(`${taken} values of ${columns.length} columns`);
    });

    if (isTorture)
      test(`${name}: a value of another kind in ${table.name} is a fault of who reads it alone`, async (t) => {
        const row = new LastRow(database, table);
        const before = await row.read();
        if (before === undefined) return;
        let faults = 0;
        for (const { codec, column } of columns)
          for (const value of [...ENDS.integer, ...ENDS.text]) {
            if (isLegal(codec, value) || !(await row.takes({ [column]: value }))) continue;
            const found = await readEverything(apis);
            faults += found.length;
            for (const fault of found) assert.match(fault, /internal_error/, `${column} = ${inspect(value)}`);
            await row.set({ [column]: before[column] ?? null });
            assert.deepEqual(await readEverything(apis), [], `after ${column} = ${inspect(value)}`);
          }
        t.diagnostic(`${faults} faults`);
      });
  }
