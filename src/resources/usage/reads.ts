// Contract: sections 3.13 and 6.9.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Environment } from '../../domain/api-key.ts';
import { Batcher } from '../../domain/batcher.ts';
import { DAY, HOUR } from '../../domain/clock.ts';
import { type UsageCount, type UsageRowsBy } from '../../domain/usage.ts';
import { chunksOf, gatherChunks } from '../../domain/chunks.ts';
import type { Abortable } from '../../domain/page.ts';
import type { Engine } from '../../storage/engine.ts';
import { empty, raw, type Row, type Sql, sql } from '../../storage/sql.ts';
import {
  addUp,
  collectFirst,
  comparePlaces,
  compareSums,
  cutRange,
  HOURS_A_DAY,
  LENGTH,
  nameCounts,
  type Span,
  type SummedCount,
  type SumPlace,
  unpackHours,
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

/** The key that stands for all keys of an environment together. */
export const ALL_KEYS = { production: 0, staging: -1 } as const satisfies Record<Environment, number>;

/** Keys that one read looks up at most. */
export const KEYS_AT_ONCE = 500;

interface KeyOfAccount {
  readonly id: number;
  readonly accountId: number;
}

/** A key, with 1 if it has usage. */
type UsedRow = readonly [accountId: bigint, id: bigint, isUsed: bigint | number | null];

/** The packed hours of a day, or four counts. Ends with the number of rows of the table that it sums up. */
type CountsRow = readonly [keyId: bigint, day: bigint, operation: string, string | bigint, ...bigint[]];

const COUNTS = ['ok', 'client_error', 'refused', 'server_error'];

/** The columns of CountsRow. A row of weeks has all operations together. */
const TABLES = {
  hours: { rows: raw('key_id, day, operation, hours, 1 FROM usage_hours'), time: raw('day') },
  days: {
    rows: raw(`key_id, day, operation, ${COUNTS.join(', ')}, 1 AS n FROM usage_days`),
    time: raw('day'),
  },
  weeks: { rows: raw(`key_id, ${COUNTS.join(', ')}, 1 AS n FROM usage_weeks`), time: raw('week') },
} as const;

/** The sum of bigint is numeric in PostgreSQL. */
const SUMS = [...COUNTS, 'n'].map((column) => `CAST(sum(${column}) AS bigint)`).join(', ');

/** The columns of CountsRow in sums, and by what they are. */
const GROUPS = {
  interval: { sums: raw(`0, day, '', ${SUMS}`), column: raw('day') },
  operation: { sums: raw(`0, 0, operation, ${SUMS}`), column: raw('operation') },
  key: { sums: raw(`key_id, 0, '', ${SUMS}`), column: raw('key_id') },
} as const;

/** Rows that one read gives or, for sums, adds up at most. A row of hours has up to 24 counts. */
const MOST_ROWS = { hours: 125, days: 1_000, weeks: 1_000, sums: 5_000 } as const;

/** Operations that a key uses on a day, at most: a guess that only decides how much the first read covers. */
const OPERATIONS = 25;

/** Days of a slice at most, so that its sums by operation are few. */
const LONGEST_SLICE = { hour: 4, day: 64 } as const;

type KeyRow = readonly [id: bigint, label: string | null, accountId: bigint, account: string];

function readKey([id, label, accountId, account]: KeyRow): UsageKey {
  return { keyId: Number(id), label: label ?? undefined, accountId: Number(accountId), account };
}

/** Pages and sums of the history of an environment. */
export function openReads(engine: Engine, environment: Environment) {
  // Each in a turn of the event loop of its own: others run after it and the work on its rows.
  const reads = new Batcher<undefined, Sql, readonly Row[]>({
    size: 1,
    async run(_, statements) {
      await nextTurn();
      return Promise.all(statements.map((statement) => engine.read(statement)));
    },
  });

  async function read<R extends Row>(statement: Sql): Promise<readonly R[]> {
    return (await reads.add(undefined, statement)) as readonly R[];
  }

  /** The keys of one account, or of all, with usage in a range: at most KEYS_AT_ONCE, in the order of accounts and ids. */
  async function* readKeys(
    { from, to, signal }: UsageQuery,
    account: number | undefined,
  ): AsyncGenerator<readonly KeyOfAccount[]> {
    const readRows = (where: Sql) =>
      read<UsedRow>(sql`SELECT k.account_id, k.id, CASE WHEN k.environment = ${environment} THEN
        (SELECT 1 FROM usage_days u WHERE u.key_id = k.id AND u.day >= ${Math.floor(from / DAY)}
          AND u.day < ${Math.ceil(to / DAY)} LIMIT 1) END FROM keys k WHERE ${where} LIMIT ${KEYS_AT_ONCE}`);
    const select = (rows: readonly UsedRow[]) =>
      rows
        .filter(([, , isUsed]) => isUsed !== null)
        .map(([accountId, id]) => ({ id: Number(id), accountId: Number(accountId) }));
    let [accountId, id] = [account ?? 0, 0];
    for (;;) {
      if (id > 0) signal?.throwIfAborted();
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

  /**
   * The counts of keys in a span of hours, days or weeks. Those of days and weeks can be sums, which lack what they are not
   * summed by. A day counts as its first hour. A part has all counts of its keys on its days, unless they are sums.
   */
  async function* readCounts(
    table: keyof typeof TABLES,
    keys: readonly KeyOfAccount[],
    [from, to]: Span,
    {
      by,
      operation,
      signal,
    }: Abortable & { readonly by?: keyof typeof GROUPS; readonly operation?: string | undefined },
  ): AsyncGenerator<readonly UsageCount[]> {
    const { rows: columns, time } = TABLES[table];
    const isSummed = table !== 'hours' && by !== undefined;
    const most = MOST_ROWS[isSummed ? 'sums' : table];
    const longest = table === 'weeks' || operation !== undefined ? most : most / OPERATIONS;
    const [first, end] =
      table === 'hours' ? [Math.floor(from / HOURS_A_DAY), Math.ceil(to / HOURS_A_DAY)] : [from, to];
    let atOnce = Math.max(1, Math.floor(longest / (end - first)));
    for (let start = first; start < end; start += longest)
      for (let index = 0; index < keys.length; ) {
        if (start > first || index > 0) signal?.throwIfAborted();
        const ids = keys.slice(index, index + atOnce).map(({ id }) => id);
        // The rows of one key are always read. They are few.
        const limit = ids.length === 1 ? Number.MAX_SAFE_INTEGER : most + 1;
        const rows = sql`SELECT ${columns} WHERE ${time} >= ${start} AND ${time} < ${Math.min(end, start + longest)}
          AND ${engine.dialect.isAnyOf('key_id', ids)}
          ${operation === undefined ? empty : sql`AND operation = ${operation}`} LIMIT ${limit}`;
        const part = await read<CountsRow>(isSummed ? sumUp(rows, by) : rows);
        const size = part.reduce((sum, row) => sum + Number(row.at(-1)), 0);
        if (ids.length > 1 && size > most) {
          atOnce = Math.ceil(ids.length / 2);
          continue;
        }
        index += ids.length;
        const counts = part.flatMap(toCounts);
        yield table === 'hours' ? counts.filter(({ hour }) => hour >= from && hour < to) : counts;
        if (size <= most / 4) atOnce = Math.min(4 * atOnce, KEYS_AT_ONCE);
      }
  }

  /** Sums of a range in parts, in no order. No group comes twice. */
  async function* sumInParts({
    accountId,
    by,
    operation,
    ...range
  }: Omit<UsageSumsQuery, 'limit' | 'after'>): AsyncGenerator<readonly PlacedSum[]> {
    const isByKeys = by === 'key' || by === 'account';
    const sums = new Map<SumPlace['group'], SummedCount>();
    const close = (open?: number) => {
      const closed: PlacedSum[] = [];
      for (const [group, { counts }] of sums) {
        if (group === open) continue;
        sums.delete(group);
        const requests = counts.reduce((sum, count) => sum + count, 0);
        closed.push(
          by === 'interval'
            ? { number: Number(group) * HOUR, group: 0, counts }
            : { number: -requests, group, counts },
        );
      }
      return closed;
    };
    const batches =
      accountId !== undefined || isByKeys
        ? readKeys(range, accountId)
        : [[{ id: ALL_KEYS[environment], accountId: 0 }]];
    for await (const keys of batches) {
      if (keys.length === 0) continue;
      const accounts = new Map(keys.map((key) => [key.id, key.accountId]));
      const toGroup = {
        interval: ({ hour }: UsageCount): SumPlace['group'] => hour,
        operation: (count: UsageCount) => count.operation,
        key: ({ keyId }: UsageCount) => keyId,
        account: ({ keyId }: UsageCount) => accounts.get(keyId) ?? 0,
      }[by];
      const { signal } = range;
      const columns = { by: by === 'account' ? ('key' as const) : by, operation, signal };
      for (const [table, span] of cutRange(range, { by, operation }))
        for await (const counts of readCounts(table, keys, span, columns)) addUp(counts, toGroup, sums);
      // The next keys may belong to the same account.
      if (isByKeys) yield close(by === 'account' ? keys.at(-1)?.accountId : undefined);
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
                WHERE ${engine.dialect.isAnyOf('k.id', ids)}`
            : sql`SELECT id, NULL, id, name FROM accounts WHERE ${engine.dialect.isAnyOf('id', ids)}`,
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
    async ofAccount(
      accountId: number,
      { limit, after, by, ...query }: UsagePageQuery,
    ): Promise<readonly Usage[]> {
      const { interval, signal } = query;
      const keys = (await Array.fromAsync(readKeys(query, accountId))).flat();
      const page = collectFirst<UsagePlace, Usage>(limit, comparePlaces, after);
      const sums = new Map<string, SummedCount>();
      const toGroup = ({ hour, operation, keyId }: UsageCount) =>
        [hour, by !== 'key' && operation, by !== 'operation' && keyId].join();
      const close = () => {
        for (const sum of sums.values()) page.add(toUsage(sum, by));
        sums.clear();
      };
      const aDay = DAY / LENGTH[interval];
      const from = Math.ceil(Math.max(query.from, after?.start ?? 0) / LENGTH[interval]);
      const to = Math.ceil(query.to / LENGTH[interval]);
      let days = Math.max(1, Math.floor(LONGEST_SLICE[interval] / keys.length));
      for (
        let start = from;
        start < to && !page.isFull();
        days = Math.min(2 * days, LONGEST_SLICE[interval])
      ) {
        if (start > from) signal?.throwIfAborted();
        const end = Math.min(to, (Math.floor(start / aDay) + days) * aDay);
        for await (const counts of readCounts(`${interval}s`, keys, [start, end], { signal })) {
          addUp(counts, toGroup, sums);
          // A part has all counts of its keys, but not all keys.
          if (by !== 'operation') close();
        }
        close();
        start = end;
      }
      return page.items();
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
      for (const some of chunksOf(keyIds, KEYS_AT_ONCE))
        for (const [id, lastDay, packed] of await read<readonly [bigint, bigint, string | null]>(sql`
          SELECT s.key_id, s.day,
            (SELECT hours FROM usage_hours h WHERE h.key_id = s.key_id AND h.day = s.day AND h.operation = ${operation})
          FROM (SELECT key_id, max(day) AS day FROM usage_days WHERE ${engine.dialect.isAnyOf('key_id', some)}
            AND operation = ${operation} AND day >= ${Math.floor(from / DAY)} GROUP BY key_id) AS s`)) {
          const [keyId, day] = [Number(id), Number(lastDay)];
          const last = unpackHours({ keyId, day, operation, hours: packed ?? '[]' }).at(-1);
          hours.set(keyId, (last?.hour ?? day * HOURS_A_DAY) * HOUR);
        }
      return hours;
    },
  };
}

/** A sum without the names of its group. */
export interface PlacedSum extends SumPlace, Pick<UsageCount, 'counts'> {}

function sumUp(rows: Sql, by: keyof typeof GROUPS): Sql {
  const { sums, column } = GROUPS[by];
  return sql`SELECT ${sums} FROM (${rows}) AS u GROUP BY ${column}`;
}

function toCounts([id, ofDay, operation, first, ...others]: CountsRow): readonly UsageCount[] {
  const [keyId, day] = [Number(id), Number(ofDay)];
  if (typeof first === 'string') return unpackHours({ keyId, day, operation, hours: first });
  const [clientError = 0, refused = 0, serverError = 0] = others.map(Number);
  return [
    { hour: day * HOURS_A_DAY, keyId, operation, counts: [Number(first), clientError, refused, serverError] },
  ];
}

function toUsage({ hour, operation, keyId, counts }: UsageCount, by: UsageRowsBy | undefined): Usage {
  return {
    start: hour * HOUR,
    operation: by === 'key' ? undefined : operation,
    keyId: by === 'operation' ? undefined : keyId,
    ...nameCounts(counts),
  };
}
