// Contract: sections 3.13 and 6.9.
import { setImmediate as letOthersRun } from 'node:timers/promises';
import type { Environment } from '../../domain/api-key.ts';
import { Batcher } from '../../domain/batcher.ts';
import { DAY, HOUR } from '../../domain/clock.ts';
import type { UsageCount, UsageRowsBy } from '../../domain/usage.ts';
import { chunksOf, gatherChunks } from '../../domain/chunks.ts';
import type { Signal } from '../../domain/page.ts';
import type { Engine } from '../../storage/engine.ts';
import { empty, join, raw, type Row, type Sql, sql } from '../../storage/sql.ts';
import { COUNT_COLUMNS } from './table.ts';
import {
  addCounts,
  collectFirst,
  compareSums,
  firstRows,
  HOURS_A_DAY,
  LENGTH,
  nameCounts,
  type SumPlace,
  type Usage,
  type UsageBy,
  type UsageKey,
  type UsagePageQuery,
  type UsagePlace,
  type UsageQuery,
  type UsageSum,
  type UsageSumsQuery,
} from './rules.ts';

/*
 * The history is read in small parts, each in a turn of its own, so that other requests run in between
 * (docs/design/usage.md). So the rows of a running interval need not be of the same instant.
 */

/** Keys that one read looks up at most. */
export const KEYS_AT_ONCE = 500;

/**
 * Intervals of keys that one read adds up at most. Each has a row for each operation that the key called. The event loop
 * reads SQLite, and waits for PostgreSQL.
 */
const CELLS = { sqlite: 250, postgres: 20_000 } as const;

/** Intervals of a slice of a page, at least: of many keys, it reads some keys after the other. */
const SHORTEST_SLICE = 24;

/** Keys whose last call one read looks for: in the days of a range, then in the hours of one of them. */
const KEYS_LOOKED_UP = 20;

/** The rows of keys. `inTotals`: the same interval of the table of all keys. */
const TABLES = {
  hour: { rows: raw('usage_recent'), time: raw('hour'), inTotals: raw('hour') },
  day: { rows: raw('usage_days'), time: raw('day'), inTotals: raw(`hour / ${HOURS_A_DAY}`) },
} as const;

/** The sum of bigint is numeric in PostgreSQL. */
const SUMS = raw(COUNT_COLUMNS.map((column) => `CAST(sum(${column}) AS bigint)`).join(', '));

type SumsRow = readonly [
  ...group: unknown[],
  ok: bigint,
  clientError: bigint,
  refused: bigint,
  serverError: bigint,
];

interface KeyOfAccount {
  readonly id: number;
  readonly accountId: number;
}

/** A key, with 1 if it has usage. */
type UsedRow = readonly [accountId: bigint, id: bigint, isUsed: bigint | number | null];

type KeyRow = readonly [id: bigint, label: string | null, accountId: bigint, account: string];

function readKey([id, label, accountId, account]: KeyRow): UsageKey {
  return { keyId: Number(id), label: label ?? undefined, accountId: Number(accountId), account };
}

/** Pages and sums of the history of an environment. */
export function openReads(engine: Engine, environment: Environment) {
  const { dialect } = engine;
  const cells = CELLS[dialect.kind];
  // Each in a turn of the event loop of its own: others run after it and the work on its rows.
  const reads = new Batcher<undefined, Sql, readonly Row[]>({
    size: 1,
    async run(_, statements) {
      await letOthersRun();
      return Promise.all(statements.map((statement) => engine.query(statement)));
    },
  });

  async function read<R extends Row>(statement: Sql, signal?: Signal): Promise<readonly R[]> {
    signal?.throwIfAborted();
    return (await reads.add(undefined, statement)) as readonly R[];
  }

  /** The keys of one account, or of all, with usage in a range: at most KEYS_AT_ONCE, in the order of accounts and ids. */
  async function* readKeys(
    { from, to, signal }: UsageQuery,
    account: number | undefined,
  ): AsyncGenerator<readonly KeyOfAccount[]> {
    const readRows = (where: Sql) =>
      read<UsedRow>(
        sql`SELECT k.account_id, k.id, CASE WHEN k.environment = ${environment} THEN
          (SELECT 1 FROM usage_days u WHERE u.key_id = k.id AND u.day >= ${Math.floor(from / DAY)}
            AND u.day < ${Math.ceil(to / DAY)} LIMIT 1) END FROM keys k WHERE ${where} LIMIT ${KEYS_AT_ONCE}`,
        signal,
      );
    const select = (rows: readonly UsedRow[]) =>
      rows
        .filter(([, , isUsed]) => isUsed !== null)
        .map(([accountId, id]) => ({ id: Number(id), accountId: Number(accountId) }));
    let [accountId, id] = [account ?? 0, 0];
    for (;;) {
      // The rest of an account is read apart, because no index has accounts and ids.
      let rows = await readRows(sql`k.account_id = ${accountId} AND k.id > ${id} ORDER BY k.id`);
      if (rows.length < KEYS_AT_ONCE) {
        yield select(rows);
        if (account !== undefined) return;
        rows = await readRows(sql`k.account_id > ${accountId} ORDER BY k.account_id, k.id`);
      }
      yield select(rows);
      const last = rows.at(-1);
      if (last === undefined) return;
      [accountId, id] = [Number(last[0]), Number(last[1])];
    }
  }

  /** Sums of a range in parts, in no order. No group comes twice. */
  async function* sumInParts(
    query: Omit<UsageSumsQuery, 'limit' | 'after'>,
  ): AsyncGenerator<readonly PlacedSum[]> {
    const { accountId, by, operation, interval, from, to, signal } = query;
    const { rows, time, inTotals } = TABLES[interval];
    const length = LENGTH[interval];
    const [first, end] = [Math.ceil(from / length), Math.ceil(to / length)];
    const sums = new Map<SumPlace['group'], UsageCount['counts']>();
    const addUp = async (
      group: Sql,
      where: Sql,
      toGroup = (value: bigint | string): SumPlace['group'] =>
        typeof value === 'string' ? value : Number(value),
    ) => {
      const ofOperation = operation === undefined ? empty : sql`AND operation = ${operation}`;
      const found = await read<SumsRow>(
        sql`SELECT ${group}, ${SUMS} FROM ${where} ${ofOperation} GROUP BY 1`,
        signal,
      );
      for (const row of found) {
        const name = toGroup(row[0] as bigint | string);
        const counts = readCounts(row);
        const sum = sums.get(name);
        sums.set(name, sum === undefined ? counts : addCounts(sum, counts));
      }
    };
    const close = (open?: SumPlace['group']) => {
      const closed = [...sums].filter(([group]) => group !== open);
      for (const [group] of closed) sums.delete(group);
      return closed.map(([group, counts]): PlacedSum => {
        if (by === 'interval') return { number: Number(group) * length, group: 0, counts };
        return { number: -counts.reduce((sum, count) => sum + count, 0), group, counts };
      });
    };

    if (accountId === undefined && (by === 'interval' || by === 'operation')) {
      const hours = length / HOUR;
      for (let start = first * hours; start < end * hours; start += cells)
        await addUp(
          by === 'interval' ? inTotals : raw('operation'),
          sql`usage_totals WHERE environment = ${environment}
            AND hour >= ${start} AND hour < ${Math.min(start + cells, end * hours)}`,
        );
      return yield close();
    }

    const columns = {
      interval: time,
      operation: raw('operation'),
      key: raw('key_id'),
      account: raw('key_id'),
    };
    // At least one: no range is much longer than a read.
    const keysAtOnce = Math.max(1, Math.floor(cells / (end - first)));
    for await (const keys of readKeys(query, accountId)) {
      if (keys.length === 0) continue;
      const accounts = new Map(keys.map((key) => [key.id, key.accountId]));
      for (const some of chunksOf(keys, keysAtOnce))
        await addUp(
          columns[by],
          sql`${rows} WHERE ${dialect.isAnyOf('key_id', idsOf(some))} AND ${time} >= ${first} AND ${time} < ${end}`,
          by === 'account' ? (keyId) => accounts.get(Number(keyId)) ?? 0 : undefined,
        );
      // The next keys may belong to the same account.
      if (by === 'key' || by === 'account')
        yield close(by === 'account' ? keys.at(-1)?.accountId : undefined);
    }
    yield close();
  }

  /** The sums with the names of their groups. */
  async function describeSums(by: UsageBy, sums: readonly PlacedSum[]): Promise<readonly UsageSum[]> {
    const names = new Map<SumPlace['group'], Partial<UsageKey>>();
    if (by === 'key' || by === 'account')
      for await (const some of gatherChunks(sums, KEYS_AT_ONCE)) {
        const ids = some.map(({ group }) => Number(group));
        const rows = await read<KeyRow>(
          by === 'key'
            ? sql`SELECT k.id, k.label, a.id, a.name FROM keys k JOIN accounts a ON a.id = k.account_id
                WHERE ${dialect.isAnyOf('k.id', ids)}`
            : sql`SELECT id, NULL, id, name FROM accounts WHERE ${dialect.isAnyOf('id', ids)}`,
        );
        for (const key of rows.map(readKey))
          names.set(key.keyId, by === 'key' ? key : { accountId: key.accountId, account: key.account });
      }
    return sums.flatMap(({ number, group, counts }) => {
      if (by === 'interval') return { start: number, ...nameCounts(counts) };
      const name = by === 'operation' ? { operation: String(group) } : names.get(group);
      return name === undefined ? [] : { ...name, ...nameCounts(counts) };
    });
  }

  return {
    /** Up to `limit` rows of the usage of the keys of an account, oldest first. */
    async ofAccount(accountId: number, query: UsagePageQuery): Promise<readonly Usage[]> {
      const { interval, from, to, by, operations, limit, after, signal } = query;
      const { rows, time } = TABLES[interval];
      const length = LENGTH[interval];
      const columns = { all: raw('operation, key_id'), operation: raw('operation'), key: raw('key_id') }[
        by ?? 'all'
      ];
      const keys = (await Array.fromAsync(readKeys(query, accountId))).flat();
      const slice = Math.max(SHORTEST_SLICE, Math.floor(cells / keys.length));
      const end = Math.ceil(to / length);
      const chosen =
        operations === undefined
          ? empty
          : sql`AND operation ${raw(operations.areLeftOut ? 'NOT IN' : 'IN')} (${join(operations.names)})`;
      let page: readonly Usage[] = [];
      for (
        let start = Math.ceil(Math.max(from, after?.start ?? 0) / length);
        start < end && page.length < limit;
        start += slice
      )
        for (const some of chunksOf(keys, Math.floor(cells / slice))) {
          const found = await read<SumsRow>(
            sql`SELECT ${time}, ${columns}, ${SUMS} FROM ${rows} WHERE ${dialect.isAnyOf('key_id', idsOf(some))}
              AND ${time} >= ${start} AND ${time} < ${Math.min(start + slice, end)} ${chosen}
              ${after === undefined ? empty : sql`AND (${time}, ${columns}) > (${join(placeValues(after, length, by))})`}
              GROUP BY ${time}, ${columns} ORDER BY ${time}, ${columns} LIMIT ${limit}`,
            signal,
          );
          page = firstRows(limit, [...page, ...found.map((row) => toUsage(row, length, by))]);
        }
      return page;
    },
    sumInParts,
    /** Sums of a range. Intervals come oldest first; other groups come with the most requests first. */
    async sums({ limit = Infinity, after, ...query }: UsageSumsQuery): Promise<readonly UsageSum[]> {
      const first = collectFirst<SumPlace, PlacedSum>(limit, compareSums, after);
      for await (const sums of sumInParts(query)) for (const sum of sums) first.add(sum);
      return describeSums(query.by, first.items());
    },
    /** When keys last called an operation since the day of `from`: the beginning of that hour in Unix milliseconds. */
    async lastCalls(
      operation: string,
      from: number,
      keyIds: readonly number[],
    ): Promise<ReadonlyMap<number, number>> {
      const hours = new Map<number, number>();
      for (const some of chunksOf(keyIds, KEYS_LOOKED_UP))
        for (const [id, hour] of await read<readonly [bigint, bigint]>(sql`
          SELECT d.key_id, coalesce((SELECT max(hour) FROM usage_recent h WHERE h.key_id = d.key_id
            AND h.hour >= d.day * 24 AND h.hour < d.day * 24 + 24 AND h.operation = ${operation}), d.day * 24)
          FROM (SELECT key_id, max(day) AS day FROM usage_days WHERE ${dialect.isAnyOf('key_id', some)}
            AND operation = ${operation} AND day >= ${Math.floor(from / DAY)} GROUP BY key_id) AS d`))
          hours.set(Number(id), Number(hour) * HOUR);
      return hours;
    },
  };
}

/** A sum without the names of its group. */
interface PlacedSum extends SumPlace, Pick<UsageCount, 'counts'> {}

const idsOf = (keys: readonly KeyOfAccount[]) => keys.map(({ id }) => id);

function readCounts(row: SumsRow): UsageCount['counts'] {
  const [ok = 0, clientError = 0, refused = 0, serverError = 0] = row
    .slice(-COUNT_COLUMNS.length)
    .map(Number);
  return [ok, clientError, refused, serverError];
}

/** The values of the columns of a place. */
function placeValues(
  { start, operation = '', keyId = 0 }: UsagePlace,
  length: number,
  by: UsageRowsBy | undefined,
): readonly (string | number)[] {
  const time = Math.floor(start / length);
  if (by === 'operation') return [time, operation];
  return by === 'key' ? [time, keyId] : [time, operation, keyId];
}

/** A row that begins with its place. */
function toUsage(row: SumsRow, length: number, by: UsageRowsBy | undefined): Usage {
  const [time, first, second] = row;
  return {
    start: Number(time) * length,
    operation: by === 'key' ? undefined : String(first),
    keyId: by === 'operation' ? undefined : Number(by === 'key' ? first : second),
    ...nameCounts(readCounts(row)),
  };
}
