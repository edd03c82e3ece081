// Contract: section 6.9.
import type { Environment } from '../domain/api-key.ts';
import { DAY } from '../domain/clock.ts';
import {
  HOUR,
  LENGTH,
  type Usage,
  type UsageBy,
  type UsageHistory,
  type UsageQuery,
  type UsageSum,
  type UsageSumsQuery,
} from '../domain/usage.ts';
import type { Engine, Value } from './engine.ts';

/** The key that stands for all keys of an environment together. */
export const ALL_KEYS = { production: 0, staging: -1 } as const satisfies Record<Environment, number>;

const TABLE_OF = {
  hour: { table: 'usage_hours', column: 'hour' },
  day: { table: 'usage_days', column: 'day' },
} as const;

/** The sum of bigint is numeric in PostgreSQL. */
const SUMS = ['ok', 'client_error', 'refused', 'server_error']
  .map((name) => `CAST(sum(${name}) AS bigint) AS ${name}`)
  .join(', ');

type Numbers = readonly [ok: bigint, clientError: bigint, refused: bigint, serverError: bigint];

const NUMBERS = 'ok, client_error, refused, server_error';
const MOST_FIRST = 'ORDER BY ok + client_error + refused + server_error DESC, 1';

const KEY_COLUMNS = 'k.id, k.label, a.id, a.name';
type KeyColumns = readonly [bigint, string | null, bigint, string];

type Reads = Pick<UsageHistory, 'ofAccount' | 'sums' | 'callersOf'>;

/** What can be read of the usage of an environment. */
export function usageReads(engine: Engine, environment: Environment): Reads {
  const sums: { readonly [By in UsageBy]: (query: UsageSumsQuery<By>) => Promise<readonly UsageSum<By>[]> } =
    {
      async interval(query) {
        const { from, column, values } = rowsOf(query, environment);
        const rows = await engine.read<readonly [bigint, ...Numbers]>(
          `SELECT ${column}, ${SUMS} ${from} GROUP BY ${column} ORDER BY ${column}`,
          values,
        );
        return rows.map(([start, ...its]) => sum({ start: Number(start) * LENGTH[query.interval] }, its));
      },
      async operation(query) {
        const { from, values } = rowsOf(query, environment);
        const rows = await engine.read<readonly [string, ...Numbers]>(
          `SELECT operation, ${NUMBERS} FROM (SELECT operation, ${SUMS} ${from} GROUP BY operation) AS s ${MOST_FIRST}`,
          values,
        );
        return rows.map(([operation, ...its]) => sum({ operation }, its));
      },
      async key(query) {
        const { from, values } = keyRowsOf(query, environment);
        const rows = await engine.read<readonly [...KeyColumns, ...Numbers]>(
          `SELECT ${KEY_COLUMNS}, ${NUMBERS} FROM (SELECT k.id AS key_id, ${SUMS} ${from} GROUP BY k.id) AS s
           JOIN keys k ON k.id = s.key_id JOIN accounts a ON a.id = k.account_id ${MOST_FIRST}`,
          values,
        );
        return rows.map(([id, label, accountId, account, ...its]) =>
          sum(keyOf([id, label, accountId, account]), its),
        );
      },
      async account(query) {
        const { from, values } = keyRowsOf(query, environment);
        const rows = await engine.read<readonly [bigint, string, ...Numbers]>(
          `SELECT a.id, a.name, ${NUMBERS} FROM
             (SELECT k.account_id AS account_id, ${SUMS} ${from} GROUP BY k.account_id) AS s
           JOIN accounts a ON a.id = s.account_id ${MOST_FIRST}`,
          values,
        );
        return rows.map(([id, account, ...its]) => sum({ accountId: Number(id), account }, its));
      },
    };
  return {
    async ofAccount(accountId, query) {
      const { from, column, values } = keyRowsOf({ ...query, accountId }, environment);
      const rows = await engine.read<readonly [bigint, string, bigint, ...Numbers]>(
        `SELECT ${column}, operation, key_id, ${NUMBERS} ${from} ORDER BY ${column}, operation, key_id`,
        values,
      );
      return rows.map(
        ([start, operation, keyId, ...its]): Usage =>
          sum({ start: Number(start) * LENGTH[query.interval], operation, keyId: Number(keyId) }, its),
      );
    },
    sums: (query) => sums[query.by](query),
    async callersOf(operation, from) {
      const rows = await engine.read<readonly [...KeyColumns, requests: bigint, lastHour: bigint]>(
        `SELECT ${KEY_COLUMNS}, s.requests,
           (SELECT max(hour) FROM usage_hours u
            WHERE u.key_id = k.id AND u.hour >= s.day * 24 AND u.hour < (s.day + 1) * 24 AND u.operation = $1)
         FROM (SELECT key_id, CAST(sum(ok + client_error + refused + server_error) AS bigint) AS requests,
           max(day) AS day FROM usage_days WHERE operation = $1 AND day >= $2 GROUP BY key_id) AS s
         JOIN keys k ON k.id = s.key_id JOIN accounts a ON a.id = k.account_id
         WHERE k.environment = $3 ORDER BY s.requests DESC, k.id`,
        [operation, Math.floor(from / DAY), environment],
      );
      return rows.map(([id, label, accountId, account, requests, lastHour]) =>
        Object.assign(keyOf([id, label, accountId, account]), {
          requests: Number(requests),
          lastHour: Number(lastHour) * HOUR,
        }),
      );
    },
  };
}

/** SQL for the rows of a range, from FROM to the end of WHERE. */
interface Rows {
  readonly from: string;
  readonly column: string;
  readonly values: readonly Value[];
}

/** The rows of the keys of an account, or of all keys together. */
function rowsOf(query: UsageQuery & { accountId?: number | undefined }, environment: Environment): Rows {
  if (query.accountId !== undefined) return keyRowsOf(query, environment);
  const { table, column } = TABLE_OF[query.interval];
  return {
    from: `FROM ${table} u WHERE u.key_id = ${ALL_KEYS[environment]} AND u.${column} >= $1 AND u.${column} < $2`,
    column: `u.${column}`,
    values: boundsOf(query),
  };
}

/** The rows of each key, of one account or of all. */
function keyRowsOf(query: UsageQuery & { accountId?: number | undefined }, environment: Environment): Rows {
  const { table, column } = TABLE_OF[query.interval];
  const ofAccount = query.accountId === undefined ? '' : 'AND k.account_id = $4';
  return {
    from: `FROM keys k JOIN ${table} u ON u.key_id = k.id
      WHERE u.${column} >= $1 AND u.${column} < $2 AND k.environment = $3 ${ofAccount}`,
    column: `u.${column}`,
    values: [...boundsOf(query), environment, ...(query.accountId === undefined ? [] : [query.accountId])],
  };
}

/** The numbers of the first interval, and of the first one that is too late. */
function boundsOf({ interval, from, to }: UsageQuery): readonly [number, number] {
  return [Math.ceil(from / LENGTH[interval]), Math.ceil(to / LENGTH[interval])];
}

function sum<G>(group: G, [ok, clientError, refused, serverError]: Numbers) {
  return Object.assign({}, group, {
    ok: Number(ok),
    clientError: Number(clientError),
    refused: Number(refused),
    serverError: Number(serverError),
  });
}

function keyOf([id, label, accountId, account]: KeyColumns) {
  return { keyId: Number(id), label: label ?? undefined, accountId: Number(accountId), account };
}
