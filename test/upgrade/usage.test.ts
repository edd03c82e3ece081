// Contract: section 6.9.
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import type { TestContext } from 'node:test';
import { Client } from 'pg';
import { ENGINE_PARTS, openStore } from '../../src/app/store.ts';
import { type Environment, ENVIRONMENTS } from '../../src/domain/api-key.ts';
import { readConfig } from '../../src/app/config.ts';
import { DAY, HOUR } from '../../src/domain/clock.ts';
import { OUTCOMES, type UsageCount } from '../../src/domain/usage.ts';
import type { Store } from '../../src/resources/repositories.ts';
import { KEPT, LENGTH, type UsageBy } from '../../src/resources/usage/rules.ts';
import { fakeClock } from '../support/clock.ts';
import { PATIENT_POOL } from '../support/postgres.ts';
import { until } from '../support/until.ts';
import { test } from '../support/test.ts';
import beforePostgres from './6920dd7/postgres.json' with { type: 'json' };
import beforeSqlite from './6920dd7/sqlite.json' with { type: 'json' };
import { RESTORE } from './restore.ts';

// Databases of a version with the hours of a day as JSON, sums of weeks, and keys that stood for all keys.

const HOURS_A_DAY = DAY / HOUR;
const dayOf = (hour: number) => Math.floor(hour / HOURS_A_DAY);

/** A connection past the service's code. */
interface Connection {
  query<Row>(sql: string): Promise<readonly Row[]>;
  close(): Promise<void>;
}

const CONNECT = {
  async SQLite(url: string): Promise<Connection> {
    const db = new DatabaseSync(url.slice('sqlite:'.length));
    return {
      query: async <Row>(sql: string) => db.prepare(sql).all() as Row[],
      close: async () => db.close(),
    };
  },
  async PostgreSQL(url: string): Promise<Connection> {
    const client = new Client({ connectionString: url });
    // The database is dropped under it.
    client.on('error', () => undefined);
    await client.connect();
    return {
      query: async <Row>(sql: string) => (await client.query(sql)).rows as Row[],
      close: () => client.end(),
    };
  },
};

type Sums = ReadonlyMap<string | number, readonly number[]>;

function sumUp(counts: readonly UsageCount[], toGroup: (count: UsageCount) => string | number): Sums {
  const groups = Map.groupBy(counts, toGroup);
  const add = (one: readonly number[], other: readonly number[]) =>
    one.map((number, index) => number + Number(other[index]));
  return new Map(
    [...groups].map(([group, its]) => [group, its.map((count) => count.counts).reduce(add, [0, 0, 0, 0])]),
  );
}

/** Keys that stood for all keys of an environment. */
const ALL_KEYS = { production: 0, staging: -1 } as const satisfies Record<Environment, number>;

const toDayRow = ({ keyId, hour, operation }: UsageCount) => `${keyId}, ${dayOf(hour)}, '${operation}'`;
const toWeekRow = ({ keyId, hour }: UsageCount) => `${keyId}, ${Math.floor(dayOf(hour) / 7)}`;

const upsert = (
  table: string,
  key: string,
  rows: Sums,
) => `INSERT INTO ${table} (${key}, ok, client_error, refused, server_error)
  VALUES ${[...rows].map(([values, sum]) => `(${values}, ${sum.join(', ')})`).join(', ')}
  ON CONFLICT (${key}) DO UPDATE SET ${['ok', 'client_error', 'refused', 'server_error']
    .map((column) => `${column} = ${table}.${column} + excluded.${column}`)
    .join(', ')}`;

/** A row of `usage_hours`. PostgreSQL gives its integers as text. */
interface FormerHours {
  readonly key_id: number | string;
  readonly day: number | string;
  readonly operation: string;
  readonly hours: string;
}

/** Adds counts in one transaction, as the version before. `meanwhile` runs between its read and its write of the hours. */
async function addAsBefore(
  connection: Connection,
  environment: Environment,
  counts: readonly UsageCount[],
  meanwhile: () => unknown = () => undefined,
): Promise<void> {
  const all = [...counts, ...counts.map((count) => ({ ...count, keyId: ALL_KEYS[environment] }))];
  await connection.query('BEGIN');
  await connection.query(upsert('usage_days', 'key_id, day, operation', sumUp(all, toDayRow)));
  await connection.query(upsert('usage_weeks', 'key_id, week', sumUp(counts, toWeekRow)));
  const stored = await connection.query<FormerHours>('SELECT * FROM usage_hours');
  await meanwhile();
  const before = stored.flatMap((row) =>
    (JSON.parse(row.hours) as [number, ...UsageCount['counts']][]).map(([hour, ...its]): UsageCount => {
      const { operation } = row;
      return {
        keyId: Number(row.key_id),
        hour: Number(row.day) * HOURS_A_DAY + hour,
        operation,
        counts: its,
      };
    }),
  );
  const days = Map.groupBy([...before, ...all], toDayRow);
  const rows = [...new Set(all.map(toDayRow))].map((day) => {
    const hours = sumUp(days.get(day) ?? [], ({ hour }) => hour % HOURS_A_DAY);
    const packed = Array.from(hours, ([hour, sum]) => [hour, sum].flat());
    return `(${day}, '${JSON.stringify(packed)}')`;
  });
  await connection.query(`INSERT INTO usage_hours VALUES ${rows.join(', ')}
    ON CONFLICT (key_id, day, operation) DO UPDATE SET hours = excluded.hours`);
  await connection.query('COMMIT');
}

/** Keys of the databases. */
const KEYS = [
  { keyId: 1, accountId: 1, environment: 'production' },
  { keyId: 2, accountId: 2, environment: 'production' },
  { keyId: 3, accountId: 2, environment: 'production' },
  { keyId: 9, accountId: 1, environment: 'staging' },
] as const;

/** The databases have no requests of this operation. */
const OPERATION = 'getPet';

/** Counts of keys of an environment in these hours, no two alike. */
function invent(environment: Environment, hours: readonly number[], factor = 1): UsageCount[] {
  return hours.flatMap((hour) =>
    KEYS.filter((key) => key.environment === environment).map(({ keyId }) => {
      const ok = factor * (1 + keyId + (hour % 1_000));
      return { keyId, hour, operation: OPERATION, counts: [ok, factor, keyId, hour % 3] as const };
    }),
  );
}

/** Compares what an environment's history has from `from` on with counts. */
async function assertHistory(
  { usageHistory }: Pick<Store, 'usageHistory'>,
  interval: 'hour' | 'day',
  from: number,
  counts: readonly UsageCount[],
): Promise<void> {
  const length = LENGTH[interval];
  const accountOf = (keyId: number) => KEYS.find((key) => key.keyId === keyId)?.accountId ?? 0;
  const groups: Readonly<Record<UsageBy, (count: UsageCount) => string | number>> = {
    interval: ({ hour }) => Math.floor((hour * HOUR) / length) * length,
    operation: ({ operation }) => operation,
    key: ({ keyId }) => keyId,
    account: ({ keyId }) => accountOf(keyId),
  };
  const sorted = (sums: Sums) =>
    [...sums].toSorted(([one], [other]) => (String(one) < String(other) ? -1 : 1));
  for (const accountId of [undefined, 1, 2])
    for (const [by, toGroup] of Object.entries(groups) as [UsageBy, (typeof groups)[UsageBy]][]) {
      const to = from + KEPT[interval] + DAY;
      const sums = await usageHistory.sums({ interval, from, to, operation: OPERATION, by, accountId });
      const found = sums.map((sum) => {
        const group = sum.start ?? sum.operation ?? sum.keyId ?? sum.accountId ?? 0;
        return [group, OUTCOMES.map((outcome) => sum[outcome])] as const;
      });
      const own = counts.filter(({ keyId }) => accountId === undefined || accountOf(keyId) === accountId);
      assert.deepEqual(sorted(new Map(found)), sorted(sumUp(own, toGroup)), `${interval} ${by} ${accountId}`);
    }
}

for (const [name, before] of [
  ['SQLite', beforeSqlite],
  ['PostgreSQL', beforePostgres],
] as const) {
  const now = Date.parse(before.stoppedAt);
  const today = Math.floor(now / DAY);
  /** Two hours of each of the last days, today included. */
  const hoursOf = (days: number) =>
    Array.from({ length: days }, (_, ago) =>
      [3, 17].map((hour) => (today - ago) * HOURS_A_DAY + hour),
    ).flat();
  const firstRecent = today - KEPT.hour / DAY;
  const isRecent = ({ hour }: UsageCount) => dayOf(hour) >= firstRecent;

  const prepare = async (t: TestContext) => {
    const databaseUrl = await RESTORE[name](t, '6920dd7', before.stoppedAt);
    const connection = await CONNECT[name](databaseUrl);
    t.after(() => connection.close());
    const open = async (environment: Environment) => {
      const store = await openStore({
        ...ENGINE_PARTS,
        ...readConfig({}),
        databaseUrl,
        environment,
        clock: fakeClock(now),
        pool: { connections: 3, ...PATIENT_POOL },
        onLost: () => undefined,
      });
      t.after(() => store.close());
      return store;
    };
    return { connection, open };
  };

  test(`${name} of 6920dd7: an upgrade keeps every count of 25 months`, async (t) => {
    const { connection, open } = await prepare(t);
    const firstDay = today - KEPT.day / DAY;
    const hours = hoursOf(today - firstDay + 1);
    for (const environment of ENVIRONMENTS)
      await addAsBefore(connection, environment, invent(environment, hours));
    await connection.query(`DELETE FROM usage_hours WHERE day < ${firstRecent}`);
    for (const environment of ENVIRONMENTS) {
      const store = await open(environment);
      const counts = invent(environment, hours);
      await assertHistory(store, 'day', firstDay * DAY, counts);
      await assertHistory(store, 'hour', firstRecent * DAY, counts.filter(isRecent));
      const all = { interval: 'hour', from: today * DAY, to: now, by: 'operation' } as const;
      const earlier = (await store.usageHistory.sums(all)).filter(({ operation }) => operation !== OPERATION);
      const requests = earlier.map((sum) => sum.ok).reduce((one, other) => one + other, 0);
      assert.equal(requests, environment === 'production' ? 11 : 0);
    }
  });

  test(`${name}: what the version before writes beside this one is moved, and counts once`, async (t) => {
    const { connection, open } = await prepare(t);
    const hours = hoursOf(150);
    const counts: UsageCount[] = [];
    const write = async (
      environment: Environment,
      factor: number,
      add: (added: UsageCount[]) => Promise<void>,
    ) => {
      const added = invent(environment, hours, factor);
      await add(added);
      if (environment === 'production') counts.push(...added);
    };
    const store = await open('production');
    for (const sequence of [1, 2]) {
      for (const environment of ENVIRONMENTS)
        await write(environment, 10 * sequence, (added) => addAsBefore(connection, environment, added));
      await write('production', sequence, (added) =>
        store.usageHistory.add({ writer: 'new', sequence, counts: added }),
      );
      await write('production', 100, (added) => addAsBefore(connection, 'production', added));
      await store.usageHistory.moveFormerHours();
      await assertHistory(store, 'day', firstRecent * DAY, counts.filter(isRecent));
      await assertHistory(store, 'hour', firstRecent * DAY, counts.filter(isRecent));
    }
    for (const left of ['usage_hours', 'usage_weeks', 'usage_days WHERE key_id <= 0'])
      assert.deepEqual(await connection.query(`SELECT 1 FROM ${left}`), [], left);
  });

  if (name === 'SQLite') continue;

  test(`${name}: hours that the version before is about to write back are moved after that`, async (t) => {
    const { connection, open } = await prepare(t);
    const [store, another] = [await open('production'), await open('production')];
    const counts = invent('production', [today * HOURS_A_DAY]);
    await addAsBefore(connection, 'production', counts);
    const moves: Promise<void>[] = [];
    let moved = 0;
    await addAsBefore(connection, 'production', counts, async () => {
      moves.push(...[store, another].map((each) => each.usageHistory.moveFormerHours()));
      for (const move of moves) void move.finally(() => moved++);
      const readWaiting = () =>
        connection.query<{
          n: number;
        }>(`SELECT count(*)::int AS n FROM pg_locks JOIN pg_database d ON d.oid = database
          WHERE NOT granted AND d.datname = current_database()`);
      await until(async () => moved + ((await readWaiting())[0]?.n ?? 0) === moves.length);
    });
    await Promise.all(moves);
    await assertHistory(store, 'hour', firstRecent * DAY, [...counts, ...counts]);
  });
}
